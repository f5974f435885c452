"""What holds for every outcome, whatever was sent: it is small, printable, free of secrets, and never a false pass."""

import json
import pickle
from xml.parsers.expat import ParserCreate

from remote_evals import (
    EvalReport,
    EvalResult,
    Redactor,
    RemoteError,
    RunResult,
    Secret,
    render_json_report,
    render_junit,
    render_summary,
)
from remote_evals.reporters import render_markdown
from remote_evals.results import CaseError
from tests.serving.leaks import assert_no_leak, ways_to_show

from .answers import Answer
from .pieces import TOKEN
from .plain_reader import read_end

MAX_MESSAGE_CHARS = 2_000

REDACTOR = Redactor()
REDACTOR.add(Secret(TOKEN))

# How much larger a run may be than what was sent: an invalid byte becomes three, and a text is held twice.
_GROWTH = 12
_OVERHEAD_BYTES = 20_000


def assert_outcome_fit(outcome: RunResult | RemoteError, answer: Answer) -> None:
    """Assert everything that must hold for the outcome of an answer to a turn."""
    try:
        run = outcome if isinstance(outcome, RunResult) else outcome.partial
        assert run is not None
        assert len(pickle.dumps(run)) <= _GROWTH * (len(answer.body) + len(answer.sent)) + _OVERHEAD_BYTES
        assert_no_leak([("run", repr(run))], TOKEN)
        if isinstance(outcome, RemoteError):
            assert_message_fit(outcome)
        assert_reports_fit(make_report(run, outcome))
        assert_right_end(outcome, answer)
    except Exception as failure:
        failure.add_note(f"The outcome was {outcome!r}\nThe answer was {answer!r}")
        raise


def assert_message_fit(error: RemoteError) -> None:
    """Assert that an error's message is one short line, and that the error never shows the token."""
    message = str(error)
    assert len(message) < MAX_MESSAGE_CHARS
    assert message.isprintable()
    assert_no_leak(ways_to_show(error), TOKEN)


def make_report(run: RunResult, outcome: RunResult | RemoteError) -> EvalReport:
    """Return a report of one case with this outcome."""
    error = CaseError(code=outcome.code, message=str(outcome)) if isinstance(outcome, RemoteError) else None
    case = EvalResult(name="any", case="any", status="error" if error else "passed", run=run, turns=(run,), error=error)
    return EvalReport(tool_version="1", started_at="now", target="any", duration_ms=1.0, results=(case,))


def assert_reports_fit(report: EvalReport) -> None:
    """Assert that each report format can be written and read, and does not hold the token."""
    texts = [render_json_report(report), render_junit(report), render_markdown(report), render_summary(report)]
    for text in texts:
        text.encode("utf-8")
        assert TOKEN not in text
    json.loads(texts[0])
    ParserCreate().Parse(texts[1].encode(), True)


def read_scrubbed_end(stream: bytes) -> str | None:
    """Return the finish reason that the run of a stream must have, or None for no run."""
    return REDACTOR.scrub(read_end(stream) or "") or None


def assert_right_end(outcome: RunResult | RemoteError, answer: Answer) -> None:
    """Assert that a run ends as its own `run.done` says, and that a run that arrives whole reaches that end."""
    finish = outcome.finish_reason if isinstance(outcome, RunResult) else None
    if answer.arrives is not None:
        assert finish == read_scrubbed_end(answer.arrives) or (finish is None and not answer.is_sound)
    elif finish == "stop":
        assert b"run.done" in answer.body + answer.sent
        assert b"stop" in answer.body + answer.sent
