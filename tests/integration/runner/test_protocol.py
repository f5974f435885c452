"""Protocol warnings of a turn: always reported, and with `strict_protocol` failed gates of the case."""

import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from remote_evals import Eval, EvalContext, EvalResult, EvalRunner, RemoteTarget
from tests.serving.deployments import PATIENT, STREAM_HEAD, Connection, chunks, greet, listen, serve

GAP = {"fault": {"name": "seq-gap", "after": 2}, "text": "a b c d"}


async def run_one(eval_: Eval, *replies: dict[str, Any], **settings: Any) -> EvalResult:
    with serve(*replies) as server:
        report = await EvalRunner(RemoteTarget(server.url, limits=PATIENT), **settings).arun(eval_)
    [result] = report.results
    return result


@pytest.mark.parametrize(("strict", "status"), [(False, "passed"), (True, "failed")])
async def test_a_warning_fails_only_a_strict_run(strict: bool, status: str) -> None:
    """A gap in the event numbers does not change the status, except in a strict run, where it is a failed gate."""
    result = await run_one(Eval("gap", greet), GAP, strict_protocol=strict)
    [warning] = result.run.warnings
    assert result.status == status
    assert [(one.key, one.kind, one.turn, one.message) for one in result.failures] == [
        ("protocol", "gate", 1, f"turn 1: protocol failed: {warning}")
    ] * strict


async def test_a_run_without_warnings_passes_a_strict_run() -> None:
    """Without a warning, no gate is added."""
    result = await run_one(Eval("good", greet), strict_protocol=True)
    assert (result.status, [one.key for one in result.assertions]) == ("passed", ["completed"])


async def test_each_gate_names_its_turn() -> None:
    """Each warning is a gate of its own, which names its turn."""

    async def talk(t: EvalContext) -> None:
        await greet(t)
        await greet(t)

    odd = [frame(seq=3, v=2), frame(type="run.done", finishReason="stop", seq=4, v=2)]
    async with listen(answering([frame(type="run.done", finishReason="stop")], odd)) as host:
        runner = EvalRunner(RemoteTarget(f"http://{host}", limits=PATIENT), strict_protocol=True)
        [result] = (await runner.arun(Eval("talk", talk))).results
    assert len(result.turns[1].warnings) >= 2
    assert [(one.turn, one.message) for one in result.failures] == [
        (turn.turn, f"turn {turn.turn}: protocol failed: {warning}")
        for turn in result.turns
        for warning in turn.warnings
    ]


async def test_a_case_that_broke_is_failed_too() -> None:
    """A warning before the stream broke fails the case in a strict run, and the error is reported too."""
    async with listen(answering([frame(seq=3)])) as host:
        target = RemoteTarget(f"http://{host}", limits=PATIENT)
        results = [
            (await EvalRunner(target, strict_protocol=strict).arun(Eval("broken", greet))).results[0]
            for strict in (False, True)
        ]
    assert [(one.status, one.error and one.error.code) for one in results] == [
        ("error", "REMOTE_STREAM"),
        ("failed", "REMOTE_STREAM"),
    ]


@pytest.mark.parametrize(("strict", "status"), [(False, "error"), (True, "failed")])
async def test_an_eval_that_asserts_nothing_may_fail_by_the_protocol(strict: bool, status: str) -> None:
    """An eval without assertions is an error; in a strict run, a protocol warning fails it."""

    async def send(t: EvalContext) -> None:
        await t.send("hi")

    result = await run_one(Eval("silent", send), GAP, strict_protocol=strict)
    assert (result.status, result.error and result.error.code) == (status, "EVAL_EMPTY")


def answering(*streams: list[bytes]) -> Callable[[Connection], Awaitable[None]]:
    """Return an answer that sends one of these streams per request, and the last one to all further requests."""
    waiting = list(streams)

    async def answer(connection: Connection) -> None:
        await connection.send([STREAM_HEAD, *chunks(waiting.pop(0) if len(waiting) > 1 else waiting[0])])
        await connection.gone()

    return answer


def frame(**fields: Any) -> bytes:
    """Return a frame of a stream, by default of a text delta."""
    return b"data: %b\n\n" % json.dumps({"type": "text.delta", "text": "Hello.", **fields}).encode()
