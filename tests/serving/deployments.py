"""Deployments to send prompts to, patient limits, and what every failure must report."""

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from fake_server import FakeServer, parse_script
from remote_evals import Eval, EvalContext, EvalReport, EvalResult, EvalRunner, Limits, RemoteTarget
from remote_evals.core.urls import show_url
from remote_evals.errors import RemoteError
from tests.contract.replay import LAST_CHUNK, RUN_DONE, STREAM_HEAD, WHOLE_RUN, Connection, chunks, listen

__all__ = [
    "LAST_CHUNK",
    "PATIENT",
    "REFUND",
    "RUN_DONE",
    "STREAM_HEAD",
    "WHOLE_RUN",
    "Connection",
    "Failure",
    "chunks",
    "closing",
    "fail_among_others",
    "greet",
    "listen",
    "named",
    "sending",
    "serve",
]

# Long enough for a busy machine; a test that waits for a limit shortens that one.
PATIENT = Limits(connect_s=20, headers_s=20, first_event_s=20, silence_s=20)

# A reply that pauses for an approval, and continues after the decision.
REFUND: dict[str, Any] = {
    "when": {"input": "refund"},
    "steps": [
        {
            "text": "Let me ask.",
            "tools": [{"name": "issue_refund", "args": {"id": "41"}, "approval": True, "result": "refunded"}],
            "usage": {"input": 10, "output": 5, "cost_usd": 0.001},
        },
        {"text": "Done.", "usage": {"input": 20, "output": 2, "cost_usd": 0.002}},
    ],
}


def serve(*replies: dict[str, Any], **script: Any) -> FakeServer:
    """Return a fake deployment that gives these replies."""
    return FakeServer(parse_script(json.dumps({"replies": replies or [{"text": "Hello."}], **script})))


def sending(*parts: bytes) -> Callable[[Connection], Awaitable[None]]:
    """Return an answer that sends the parts and then waits for the client to leave."""

    async def answer(connection: Connection) -> None:
        await connection.send(parts)
        await connection.gone()

    return answer


async def greet(t: EvalContext) -> None:
    """Send one prompt, and check that the run completed."""
    await t.send("hi")
    t.completed()


def closing(*parts: bytes) -> Callable[[Connection], Awaitable[None]]:
    """Return an answer that sends the parts and closes the connection."""

    async def answer(connection: Connection) -> None:
        await connection.send(parts)

    return answer


def named(*names: str) -> list[Eval]:
    """Return a case for each name, which is also its prompt."""

    def case(name: str) -> Eval:
        async def run(t: EvalContext) -> None:
            await t.send(name)
            t.completed()

        return Eval(name, run)

    return [case(name) for name in names]


@dataclass(frozen=True)
class Failure:
    """How a case failed: the error that its eval caught, its row, and the report of the whole run."""

    error: RemoteError
    row: EvalResult
    report: EvalReport


async def fail_among_others(url: str, *, limits: Limits = PATIENT, timeout_s: float = 0, **target: Any) -> Failure:
    """Run a case against `url`, between two against a healthy deployment, and return how it failed.

    Nothing is retried unless `target` says so. Asserts what holds for every failure: see `assert_well_reported`.
    """
    caught: list[RemoteError] = []

    async def keep_error(t: EvalContext) -> None:
        try:
            await t.send("hi")
        except RemoteError as error:
            caught.append(error)
            raise

    with serve() as server:
        healthy = RemoteTarget(server.url, limits=PATIENT)
        bad = RemoteTarget(url, limits=limits, **{"retries": 0, **target})
        evals = [
            Eval("before", greet, target=healthy),
            Eval("bad", keep_error, target=bad),
            Eval("after", greet, target=healthy),
        ]
        report = await EvalRunner(concurrency=2, timeout_s=timeout_s).arun(evals)
    assert [(row.name, row.status) for row in report.results] == [
        ("before", "passed"),
        ("bad", "error"),
        ("after", "passed"),
    ], report.results[1].error
    assert caught, report.results[1].error
    failure = Failure(caught[0], report.results[1], report)
    assert_well_reported(failure, f"{show_url(url)}/chat")
    return failure


def assert_well_reported(failure: Failure, url: str) -> None:
    """Assert that a failure names the URL, what happened, what to try and the trace id."""
    error, row = failure.error, failure.row
    assert str(error) == f"{url}: {error.happened.rstrip('.')}. {error.advice}."
    assert str(error).isprintable()
    assert error.happened
    assert error.advice
    assert row.error is not None
    assert (row.error.code, row.error.message) == (error.code, str(error))
    assert error.partial is not None
    assert row.turns == (error.partial,)
    assert error.partial.finish_reason is None
    assert error.partial.trace_id is not None
    assert len(error.partial.trace_id) == 32
    assert error.partial.timing.total_ms > 0
