"""What a deployment sends back of a secret, however it spells it and wherever in a run, is in no result or report."""

import base64
import html
import json
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest

from remote_evals import Eval, EvalContext, EvalRunner, RemoteError, RemoteTarget, includes
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
    ECHO,
    QUERY,
    SECRETS,
    assert_error_keeps_secrets,
    assert_no_leak,
    base64_cores,
    ways_to_report,
)

# With every character that some encoding spells in another way.
TOKEN = 't0k3n/+"\\%&<>=~qW7xqW7x'
TENANT = 't3n4nt/+"\\%&<>=~Hb4cHb4c'
NASTY: dict[str, Any] = {"token": TOKEN, "headers": {"X-Tenant": TENANT}, "secret_headers": ["X-Tenant"]}

SPELLINGS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "URL": lambda text: quote(text, safe=""),
    "URL in small letters": lambda text: quote(text, safe="").lower(),
    "JSON": lambda text: json.dumps(text)[1:-1],
    "JSON in JSON": lambda text: json.dumps(json.dumps(text)),
    "JSON, each character": lambda text: "".join(f"\\u{ord(one):04X}" for one in text),
    "HTML": html.escape,
    "base64": lambda text: base64.b64encode(text.encode()).decode(),
    "base64 of more": lambda text: base64.urlsafe_b64encode(f"user:{text}, and more".encode()).decode(),
    "base64 of other": lambda text: base64.b64encode(f"me:{text}".encode()).decode(),
}


def echo_of(spell: Callable[[str], str]) -> str:
    return f"sent <{spell(TOKEN)}> and <{spell(TENANT)}>."


def cores() -> tuple[str, ...]:
    return TOKEN, TENANT, *base64_cores(TOKEN), *base64_cores(TENANT)


@pytest.mark.parametrize("name", SPELLINGS)
async def test_however_an_agent_spells_a_secret(name: str) -> None:
    """In reply, arguments, results, errors and object of a run, and in its transcript, every spelling is redacted."""
    echo = echo_of(SPELLINGS[name])
    tools = [
        {"name": "echo", "args": {echo: [echo]}, "result": {"deep": [{"er": echo}], "json": json.dumps({"a": echo})}},
        {"name": "fail", "error": {"name": echo, "message": echo}},
    ]
    transcripts: list[Any] = []

    async def run(t: EvalContext) -> None:
        await t.send("hi")
        transcripts.extend(await t.transcript())
        t.check("reply", t.reply, includes("something else"))
        t.called_tool("echo", args={"no": "such"})

    with serve({"steps": [{"tools": tools}], "text": echo, "object": {"echo": echo}}) as server:
        report = await EvalRunner(RemoteTarget(server.url, limits=PATIENT, **NASTY)).arun(Eval("a", run))
    [result] = report.results
    assert result.run.reply.startswith("sent <")
    assert result.run.reply.count(REDACTED) == 2
    assert REDACTED in repr(transcripts)
    assert_no_leak([*ways_to_report(report), ("transcript", repr(transcripts))], *cores())


@pytest.mark.parametrize("name", SPELLINGS)
async def test_however_a_failing_run_spells_a_secret(name: str) -> None:
    """The same holds for the error event of a run that failed."""
    echo = echo_of(SPELLINGS[name])
    with serve({"error": {"name": echo, "message": echo, "code": echo}, "finish_reason": echo}) as server:
        report = await EvalRunner(RemoteTarget(server.url, limits=PATIENT, **NASTY)).arun(Eval("a", say_hi))
    assert report.results[0].run.error
    assert REDACTED in report.results[0].run.error.message
    assert_no_leak(ways_to_report(report), *cores())


@pytest.mark.parametrize("status", [200, 401, 500])
@pytest.mark.parametrize("name", SPELLINGS)
async def test_however_an_error_page_spells_a_secret(name: str, status: int) -> None:
    """The same holds for what is quoted of an answer that is no stream, be it JSON or not."""
    echo = echo_of(SPELLINGS[name])
    for body in (echo, {"error": echo}):
        with serve({"text": "x", "fault": {"name": "status", "status": status, "body": body}}) as server:
            failure = await fail_among_others(server.url, **NASTY)
        assert REDACTED in failure.error.happened
        assert_no_leak(ways_to_report(failure.report), *cores())


async def say_hi(t: EvalContext) -> None:
    await t.send("hi")
    t.completed()


@pytest.mark.parametrize("size", [1, 7, len(TOKEN) - 1])
async def test_a_secret_split_over_deltas(size: int) -> None:
    """A secret that comes in pieces, as text and as bytes, is redacted in the reply that the pieces make."""
    pieces = [TOKEN[at : at + size] for at in range(0, len(TOKEN), size)]
    events = [{"type": "text.delta", "text": text} for text in ("I know ", *pieces, ".")]
    frames = b"".join(b"data: %b\n\n" % json.dumps(event).encode() for event in events)
    done = b'data: {"type":"run.done","finishReason":"stop"}\n\n'
    parts = [frames[at : at + size] for at in range(0, len(frames), size)]
    async with listen(sending(STREAM_HEAD, *chunks([*parts, done]))) as host:
        report = await EvalRunner(RemoteTarget(f"http://{host}", limits=PATIENT, **NASTY)).arun(Eval("a", say_hi))
    assert report.results[0].run.reply == f"I know {REDACTED}."
    assert_no_leak(ways_to_report(report), *cores())


ANSWERS = {
    "type": b"HTTP/1.1 200 OK\r\ncontent-type: text/%b\r\ncontent-length: 2\r\n\r\n{}",
    "redirect": b"HTTP/1.1 302 Found\r\nlocation: https://%b.test/%b\r\ncontent-length: 0\r\n\r\n",
    "status": b"HTTP/1.1 500 %b\r\ncontent-length: 2\r\n\r\n%b",
    "message": b'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n{"messages": ["%b"]}',
    "no HTTP": b"%b\r\n\r\n",
    "header": b"HTTP/1.1 200 OK\r\n%b\r\n\r\n",
}


@pytest.mark.parametrize("name", ANSWERS)
async def test_a_transcript_that_cannot_be_had(name: str) -> None:
    """An answer that holds no transcript is told without the secrets that it echoes."""
    template = ANSWERS[name]

    async def answer(connection: Connection) -> None:
        await connection.send([template % ((ECHO.replace(" ", "_").encode(),) * template.count(b"%b"))])

    async with listen(answer) as host:
        target = RemoteTarget(f"http://{host}{QUERY}", limits=PATIENT, retries=0, **SECRETS)
        async with target, target.open_session() as session:
            with pytest.raises(RemoteError) as caught:
                await session.transcript()
    assert_error_keeps_secrets(caught.value)
