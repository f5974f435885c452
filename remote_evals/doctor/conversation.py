"""Sends the agent two turns in one session that need no tools, and checks its memory and the session's transcript."""

import re
import secrets
from dataclasses import dataclass, field

from ..errors import RemoteError
from ..results import RunResult
from ..targets import RemoteTarget, Session
from .findings import Finding, FindingLog, not_checked, passed, warned
from .turn_checks import (
    Recorder,
    Recording,
    check_compression,
    check_cost,
    check_end,
    check_http,
    check_order,
    check_silence,
    check_streaming,
    check_times,
    check_usage,
)

NUMBER = "{number}"
DEFAULT_PROMPT = (
    "This is an automated check of the connection; use no tools. "
    f"Remember the number {NUMBER}, and reply with the one word: noted."
)
_RECALL = "This is an automated check of the connection; use no tools. Reply with the number that you were to remember."

_BETWEEN_DIGITS = re.compile(r"(?<=\d)[\s,.'_\u2019\u202f-](?=\d)")
_LONGEST_QUOTE = 60
_NO_NORMAL_END = "the first turn did not end normally"
_FOR_TRANSCRIPTS = "only evals that ask for t.transcript() need it"


def _choose_number() -> str:
    return str(100_000 + secrets.randbelow(900_000))


@dataclass(frozen=True, slots=True)
class MemoryProbe:
    """Two prompts: `prompt`, with {number} replaced by a number, and a question for that number."""

    prompt: str = DEFAULT_PROMPT
    number: str = field(default_factory=_choose_number)

    @property
    def first(self) -> str:
        """The first prompt."""
        return self.prompt.replace(NUMBER, self.number)

    @property
    def second(self) -> str | None:
        """The second prompt, or None if the first has no number to remember."""
        return _RECALL if NUMBER in self.prompt else None

    def check_memory(self, run: RunResult) -> Finding:
        """Check whether the second reply holds the number of the first prompt, however its digits are grouped."""
        if self.number in _BETWEEN_DIGITS.sub("", run.reply):
            return passed("memory", "the second turn remembers the number of the first")
        reply = run.reply if len(run.reply) <= _LONGEST_QUOTE else f"{run.reply[:_LONGEST_QUOTE]}…"
        happened = f"the second turn does not remember the number of the first: it says {reply!r}"
        advice = "Check that all replicas keep and share sessions; a case with several turns needs that"
        return warned("memory", happened, advice)


async def converse(target: RemoteTarget, probe: MemoryProbe, log: FindingLog) -> bool:
    """Run the turns and return whether the first ended, normally or not."""
    recorder = Recorder(target.redactor.scrub, target.protocol.read_timestamp)
    async with target, target.open_session(observer=recorder) as session:
        log.session_id = session.id
        try:
            run = await session.send(probe.first, 1)
        except RemoteError as failure:
            log.trace_id = failure.partial.trace_id if failure.partial else None
            log.add_failure("turn", failure)
            return False
        log.trace_id = run.trace_id
        _check_turn(run, recorder.recordings[0], log)
        if run.ended_normally:
            await _check_memory(session, probe, log)
            await _check_transcript(session, log)
        else:
            log.add(*(not_checked(check, _NO_NORMAL_END) for check in ("memory", "transcript")))
    return True


def _check_turn(run: RunResult, recording: Recording, log: FindingLog) -> None:
    happened = f"answered {recording.status} with {recording.content_type}, {len(recording.arrivals)} event(s)"
    log.add(passed("turn", happened, status=recording.status, events=len(recording.arrivals)))
    for check_stream in (check_http, check_compression, check_streaming, check_silence):
        log.add(check_stream(recording))
    log.add(check_times(run.timing))
    for check_run in (check_order, check_end, check_usage, check_cost):
        log.add(check_run(run))


async def _check_memory(session: Session, probe: MemoryProbe, log: FindingLog) -> None:
    if probe.second is None:
        log.add(not_checked("memory", "--prompt has no {number} in it to remember"))
        return
    try:
        log.add(probe.check_memory(await session.send(probe.second, 2)))
    except RemoteError as failure:
        log.add_failure("memory", failure)


async def _check_transcript(session: Session, log: FindingLog) -> None:
    try:
        messages = await session.transcript()
    except RemoteError as failure:
        log.add(warned("transcript", failure.happened, f"{failure.advice}; {_FOR_TRANSCRIPTS}", code=failure.code))
        return
    if messages:
        log.add(passed("transcript", f"the session has kept {len(messages)} message(s)", messages=len(messages)))
    else:
        advice = f"Check that sessions are kept where all replicas see them; {_FOR_TRANSCRIPTS}"
        log.add(warned("transcript", "the session has kept no message", advice, messages=0))
