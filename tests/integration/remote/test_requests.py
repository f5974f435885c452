"""What a deployment is sent, seen from its side of the socket."""

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from remote_evals import Eval, EvalContext, EvalRunner, RemoteTarget, RunResult, __version__, equals
from remote_evals.suites.eval_case import EvalCase
from tests.serving.deployments import PATIENT, WHOLE_RUN, Connection, listen, serve


@asynccontextmanager
async def recorder() -> AsyncIterator[tuple[str, list[Connection]]]:
    """Yield the URL of a deployment that answers every turn, and the list of what it was sent."""
    sent: list[Connection] = []

    async def answer(connection: Connection) -> None:
        sent.append(connection)
        await connection.send(WHOLE_RUN)

    async with listen(answer) as host:
        yield f"http://{host}", sent


async def send(path: str = "", prompt: str = "hi", **target: Any) -> tuple[Connection, RunResult]:
    """Return what one turn sent, and its result."""
    async with (
        recorder() as (url, sent),
        RemoteTarget(url + path, limits=PATIENT, **target) as opened,
        opened.open_session() as session,
    ):
        result = await session.send(prompt, 1)
    [request] = sent
    return request, result


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("", "/chat"),
        ("/", "/chat"),
        ("/api/agent", "/api/agent/chat"),
        ("/api/agent/", "/api/agent/chat"),
        ("/api?tenant=a%20b&x=1", "/api/chat?tenant=a%20b&x=1"),
        ("?tenant=a", "/chat?tenant=a"),
        ("/a%2Fb", "/a%2Fb/chat"),
        ("/api#part", "/api/chat"),
    ],
)
async def test_a_turn_is_a_post_below_the_base_url(path: str, expected: str) -> None:
    """A turn is POSTed to /chat below the path of the base URL, whose query is kept as it was written."""
    request, _ = await send(path)
    assert request.request_line == f"POST {expected} HTTP/1.1"


async def test_the_headers_of_a_turn() -> None:
    """A turn asks for an uncompressed event stream, says what it sends and who is asking, each header once."""
    request, _ = await send()
    names = [name.lower() for name, _ in request.headers]
    assert len(names) == len(set(names))
    sent = {name.lower(): value for name, value in request.headers}
    assert sent["host"].startswith("127.0.0.1:")
    expected = {
        "accept": "text/event-stream",
        "accept-encoding": "identity",
        "content-type": "application/json",
        "user-agent": f"remote-evals/{__version__}",
    }
    assert {name: sent[name] for name in expected} == expected
    assert "authorization" not in sent
    assert "cookie" not in sent
    assert "transfer-encoding" not in sent


async def test_the_body_of_a_turn() -> None:
    """The body is the session's id and the prompt, nothing else."""
    request, _ = await send(prompt='Where is order 42, "Zoë"? 日本 \n')
    assert request.body == {"sessionId": request.body["sessionId"], "input": 'Where is order 42, "Zoë"? 日本 \n'}
    assert re.fullmatch(r"eval-[0-9a-f]{16,}", request.body["sessionId"])
    assert len(request.body["sessionId"]) <= 128


@pytest.mark.parametrize("prompt", ["a\ud83d", "\udc00\ud83d", "\x00\x1f\u2028", ""], ids=ascii)
async def test_any_prompt_can_be_sent(prompt: str) -> None:
    """A prompt with lone surrogates, control characters or nothing in it arrives as it is."""
    request, _ = await send(prompt=prompt)
    assert request.body["input"] == prompt


async def test_a_turn_carries_a_trace_of_its_own() -> None:
    """Every turn has a W3C traceparent of its own, whose trace id is in its result."""
    async with (
        recorder() as (url, sent),
        RemoteTarget(url, limits=PATIENT) as target,
        target.open_session() as session,
    ):
        results = [await session.send("hi", turn) for turn in (1, 2, 3)]
    traces = [re.fullmatch(r"00-([0-9a-f]{32})-([0-9a-f]{16})-01", str(one.header("traceparent"))) for one in sent]
    assert [trace and trace[1] for trace in traces] == [result.trace_id for result in results]
    assert len({trace and trace[1] for trace in traces}) == 3
    assert not any(trace and {trace[1], trace[2]} & {"0" * 32, "0" * 16} for trace in traces)


async def test_a_token_is_a_bearer_token() -> None:
    """A token is sent as RFC 6750 has it."""
    request, _ = await send(token="t0ken-t0ken-~+/._=")
    assert request.header("authorization") == "Bearer t0ken-t0ken-~+/._="


async def test_custom_headers_are_sent_with_every_turn() -> None:
    """Headers of one's own are sent beside the fixed ones, and one of the same name as a default replaces it."""
    request, _ = await send(headers={"X-Tenant": "acme", "user-agent": "mine/1"})
    assert (request.header("x-tenant"), request.header("user-agent")) == ("acme", "mine/1")
    assert request.header("accept") == "text/event-stream"
    assert [name.lower() for name, _ in request.headers].count("user-agent") == 1


async def test_a_credential_of_ones_own_is_sent_where_no_token_is_given() -> None:
    """A deployment behind another scheme gets the Authorization header that the caller made."""
    request, _ = await send(headers={"Authorization": "Basic bWU6cHc="})
    assert request.header("authorization") == "Basic bWU6cHc="


async def test_a_session_is_a_case() -> None:
    """The turns of a case share a session, no two cases do, and the deployment sees them as one conversation each."""

    async def talk(t: EvalContext) -> None:
        first, second = await t.send("one"), await t.send("two")
        t.check("turns", [first.reply, second.reply, first.turn, second.turn], equals(["1", "2", 1, 2]))

    with serve({"text": "{{turn}}"}) as server:
        target = RemoteTarget(server.url, limits=PATIENT)
        report = await EvalRunner(target).arun([Eval(name, talk) for name in "abcde"])
        requests = server.requests
    assert [result.status for result in report.results] == ["passed"] * 5
    sessions = [request.body["sessionId"] for request in requests]
    assert sorted(sessions) == sorted(2 * [str(result.session_id) for result in report.results])
    assert len(set(sessions)) == 5


async def test_two_runs_never_share_a_session() -> None:
    """The same target, run again, opens sessions anew."""
    case = EvalCase.model_validate({"name": "a", "prompt": "hi"})
    with serve() as server:
        target = RemoteTarget(server.url, limits=PATIENT)
        reports = [await EvalRunner(target).arun([Eval(case.name, case.run)]) for _ in range(2)]
    first, second = (report.results[0] for report in reports)
    assert (first.status, second.status) == ("passed", "passed")
    assert first.session_id != second.session_id


async def test_nothing_is_sent_before_the_first_turn() -> None:
    """Opening a target and a session sends nothing."""
    async with recorder() as (url, sent), RemoteTarget(url) as target, target.open_session():
        pass
    assert sent == []


async def test_a_prompt_makes_the_round_trip() -> None:
    """A prompt comes back from a deployment that echoes it just as it was sent, lone surrogate and all."""
    with serve({"text": "{{input}}"}) as server:
        async with RemoteTarget(server.url, limits=PATIENT) as target, target.open_session() as session:
            result = await session.send("日本 🎉 \ud83d", 1)
    assert json.dumps(result.reply) == json.dumps("日本 🎉 \ud83d")
