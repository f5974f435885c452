"""The token never leaves the process but on the wire: not by an error, a log or a report, whatever a server echoes."""

import asyncio
import base64
import json
import logging
import re
from pathlib import Path
from typing import Any

import pytest

from remote_evals import (
    Eval,
    EvalContext,
    EvalRunner,
    Limits,
    LoadedSuite,
    RemoteTarget,
    Secret,
    TargetOptions,
    includes,
    load_suites,
    make_evals,
    target_builder,
)
from remote_evals.redaction import REDACTED
from tests.serving.deployments import (
    PATIENT,
    STREAM_HEAD,
    Connection,
    chunks,
    fail_among_others,
    listen,
    sending,
    serve,
)
from tests.serving.leaks import (
    API_KEY,
    ECHO,
    QUERY,
    REDACTED_ECHO,
    SECRETS,
    TOKEN,
    assert_error_keeps_secrets,
    assert_no_leak,
    ways_to_report,
)

# Every kind of failure, with the secrets echoed wherever the far side has a say.
FAULTS: dict[str, Any] = {
    "401": {"name": "status", "status": 401, "body": {"error": ECHO}},
    "403": {"name": "status", "status": 403, "body": ECHO},
    "404": {"name": "status", "status": 404, "body": ECHO, "headers": {"x-echo": ECHO}},
    "500": {"name": "status", "status": 500, "body": {"error": ECHO}},
    "429": {"name": "status", "status": 429, "body": ECHO, "headers": {"retry-after": TOKEN}},
    "503": {"name": "status", "status": 503, "body": ECHO, "headers": {"retry-after": ECHO}},
    "401 of a scheme": {"name": "status", "status": 401, "body": "", "headers": {"www-authenticate": f"Bearer {ECHO}"}},
    "compressed": {"name": "status", "status": 200, "body": ECHO, "headers": {"content-encoding": TOKEN}},
    "502 in base64": {"name": "status", "status": 502, "body": base64.b64encode(TOKEN.encode()).decode()},
    "200 text": {"name": "status", "status": 200, "body": ECHO},
    "redirect": {"name": "redirect", "location": f"https://{TOKEN}.test/{TOKEN}?t={API_KEY}"},
    "cut": {"name": "cut", "after": 5},
    "reset": {"name": "reset", "after": 5},
    "reset before the headers": {"name": "reset", "before_headers": True},
    "not JSON": {"name": "not-json", "after": 5},
    "no run.done": "no-run-done",
    "headers clock": "no-headers",
    "first-event clock": {"name": "silence", "after": 0},
    "silence clock": {"name": "silence", "after": 5},
    "content type": {"name": "wrong-content-type", "content_type": f"text/{TOKEN}"},
}
LIMITS = Limits(connect_s=0.3, headers_s=0.3, first_event_s=0.3, silence_s=0.3)


@pytest.fixture(autouse=True)
def _every_logger_tells_all(caplog: pytest.LogCaptureFixture) -> None:
    for name in (None, "httpx", "httpcore", "aiohttp", "aiohttp.client", "asyncio", "remote_evals"):
        caplog.set_level(logging.DEBUG, name)


@pytest.mark.parametrize("name", FAULTS)
async def test_no_failure_shows_the_token(name: str, caplog: pytest.LogCaptureFixture) -> None:
    """However a deployment fails and whatever it echoes, error, traceback with locals, report and logs are clean."""
    asyncio.get_running_loop().set_debug(True)
    step = {"reasoning": ECHO, "text": ECHO, "tools": [{"name": "echo", "args": {"a": ECHO}, "result": [ECHO]}]}
    with serve({"steps": [step], "fault": FAULTS[name]}) as server:
        failure = await fail_among_others(server.url + QUERY, limits=LIMITS, **SECRETS)
    assert_error_keeps_secrets(failure.error)
    assert_no_leak([*ways_to_report(failure.report), ("log", log_of(caplog))])


@pytest.mark.parametrize(
    "parts",
    [
        [f"HTTP/1.1 {ECHO}\r\n\r\n".encode()],
        [f"{ECHO}\r\n\r\n".encode()],
        [f"HTTP/1.1 200 {ECHO}\r\n{ECHO}\r\n\r\n".encode()],
        [STREAM_HEAD, *chunks([f"data: {ECHO}\n\n".encode()])],
        [STREAM_HEAD, *chunks([f'data: ["{ECHO}"]\n\n'.encode()])],
        [STREAM_HEAD, f"{ECHO}\r\n".encode()],
        [],
    ],
    ids=["status line", "no HTTP", "header", "not JSON", "not an object", "chunk size", "silence"],
)
async def test_no_garbage_shows_the_token(parts: list[bytes], caplog: pytest.LogCaptureFixture) -> None:
    """Nor does the token get out where the libraries quote the bytes that they could not read."""
    async with listen(sending(*parts)) as host:
        failure = await fail_among_others(f"http://{host}{QUERY}", limits=LIMITS, **SECRETS)
    assert_error_keeps_secrets(failure.error)
    assert_no_leak([*ways_to_report(failure.report), ("log", log_of(caplog))])


@pytest.mark.parametrize("url", ["https://{}", "https://agent.invalid"], ids=["TLS", "DNS"])
async def test_no_failed_connection_shows_the_token(url: str, caplog: pytest.LogCaptureFixture) -> None:
    """Nor where no connection came about."""
    async with listen(sending(b"plain\r\n\r\n"), speaks_http=False) as host:
        failure = await fail_among_others(url.format(host) + QUERY, limits=LIMITS, **SECRETS)
    assert_error_keeps_secrets(failure.error)
    assert_no_leak([*ways_to_report(failure.report), ("log", log_of(caplog))])


async def test_what_an_agent_echoes_is_redacted_in_a_good_run(caplog: pytest.LogCaptureFixture) -> None:
    """A token in the reply, in arguments, results and errors of tools, or in the object is redacted in the result."""
    tools = [
        {"name": "echo", "args": {ECHO: [ECHO]}, "result": {"deep": [{"er": ECHO}]}},
        {"name": "fail", "error": {"name": "E", "message": ECHO}},
    ]
    answer = {"steps": [{"tools": tools}], "text": "{{authorization}} " + API_KEY, "object": {"echo": ECHO}}
    with serve(answer, token=TOKEN) as server:
        async with (
            RemoteTarget(server.url + QUERY, limits=PATIENT, **SECRETS) as target,
            target.open_session() as session,
        ):
            run = await session.send("hi", 1)
    assert_no_leak([("run", repr(run)), ("log", log_of(caplog))])
    echoed = REDACTED_ECHO
    assert run.reply == f"Bearer {REDACTED} {REDACTED}"
    assert run.object == {"echo": echoed}
    assert run.tool_calls[0].args == {echoed: [echoed]}
    assert run.tool_calls[0].result == {"deep": [{"er": echoed}]}
    assert run.tool_calls[1].error is not None
    assert run.tool_calls[1].error.message == echoed


async def test_nothing_public_shows_a_secret(tmp_path: Path) -> None:
    """Whatever is made of a token, headers and a URL with a key can be printed, and so can what a run leaves."""
    suite = tmp_path / "a.eval.yaml"
    suite.write_text(
        f"target: {{url: '${{URL}}', headers: {json.dumps(SECRETS['headers'])}}}\ncases: [{{name: a, prompt: b}}]"
    )
    with serve({"text": ECHO}) as server:
        url = server.url + QUERY
        [loaded] = load_suites([str(suite)], {"URL": url})
        assert isinstance(loaded, LoadedSuite)
        headers, named = SECRETS["headers"], tuple(SECRETS["secret_headers"])
        options = TargetOptions(loaded.suite.target.url, Secret(TOKEN), headers, secret_headers=named)
        build = target_builder(options)
        evals = make_evals([loaded], build)
        target = build(loaded.suite.target)
        assert target
        runner = EvalRunner(target)
        report = await runner.arun(evals)
        async with target, target.open_session() as session:
            await session.send("hi", 1)
            made = [loaded, options, build, evals, target, target.limits, runner, report, session, target.redactor]
            assert_no_leak([*((type(one).__name__, f"{one!r} {one}") for one in made), *ways_to_report(report)])
    assert REDACTED_ECHO in repr(report)


async def test_a_failing_run_that_echoes_is_redacted() -> None:
    """A token in the run's own error, in its finish reason or in a pending question is redacted too."""
    failed = {"error": {"name": ECHO, "message": ECHO, "code": ECHO}, "finish_reason": ECHO}
    asked = {"steps": [{"tools": [{"name": "ask", "args": {"a": ECHO}, "question": {"text": ECHO}}]}]}
    with serve({**failed, "when": {"turn": 1}}, asked) as server:
        async with (
            RemoteTarget(server.url + QUERY, limits=PATIENT, **SECRETS) as target,
            target.open_session() as session,
        ):
            runs = [await session.send("hi", turn) for turn in (1, 2)]
    assert runs[0].error is not None
    assert runs[1].pending_approval is not None
    assert_no_leak([("runs", repr(runs))])


async def test_an_eval_that_raises_or_checks_what_was_echoed() -> None:
    """An eval's own exception and the messages of its checks quote the redacted reply, never the token."""

    async def fail(t: EvalContext) -> None:
        raise RuntimeError(f"{(await t.send('hi')).reply} {TOKEN}")

    async def fail_early(t: EvalContext) -> None:
        raise RuntimeError(ECHO)

    async def check(t: EvalContext) -> None:
        t.check("reply", (await t.send("hi")).reply, includes("something else"))

    with serve({"text": ECHO}) as server:
        target = RemoteTarget(server.url + QUERY, limits=PATIENT, **SECRETS)
        report = await EvalRunner(target).arun(
            [Eval("raises", fail), Eval("raises first", fail_early), Eval("checks", check)]
        )
    assert [result.status for result in report.results] == ["error", "error", "failed"]
    assert REDACTED in report.results[2].assertions[0].message
    assert_no_leak(ways_to_report(report))


async def test_a_cancelled_turn_shows_no_token() -> None:
    """A run that somebody cancels, as Ctrl-C does, leaves no traceback whose locals hold the token."""
    asked = asyncio.Event()

    async def answer(connection: Connection) -> None:
        asked.set()
        await connection.gone()

    async with (
        listen(answer) as host,
        RemoteTarget(f"http://{host}{QUERY}", limits=PATIENT, **SECRETS) as target,
        target.open_session() as session,
    ):
        turn = asyncio.create_task(session.send("hi", 1))
        await asked.wait()
        turn.cancel()
        with pytest.raises(asyncio.CancelledError) as caught:
            await turn
    assert_error_keeps_secrets(caught.value)


def log_of(caplog: pytest.LogCaptureFixture) -> str:
    """Return all that was logged, arguments too."""
    return re.sub(r"\s+", " ", caplog.text + repr([record.args for record in caplog.records]))
