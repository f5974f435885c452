"""Which requests a deployment accepts, and that no finding shows the token."""

from typing import Any

from tests.serving.deployments import serve
from tests.serving.diagnosis import (
    BEARER,
    PROBE,
    TOKEN,
    Agent,
    assert_broken_off,
    examine_at,
    find,
    statuses,
)

ANY_TOKEN = "Bearer .*"
ANYONE = ".*"


async def test_an_open_deployment_is_a_warning() -> None:
    """A deployment that answers without a token is a warning if none was given, and no other request is sent."""
    agent = Agent(ANYONE)
    async with agent.serve() as url:
        found = await find(url)
    assert statuses(found, "no_token", "wrong_token") == ["warn", "not_checked"]
    assert "the deployment is open" in found["no_token"].happened
    assert len(agent.turns) == 2


async def test_an_open_deployment_is_a_failure_for_who_has_a_token() -> None:
    """If a token was given but is not needed, the check fails, and a wrong token is not tried."""
    agent = Agent(ANYONE)
    async with agent.serve() as url:
        diagnosis, reported = await examine_at(url, TOKEN)
    found = {finding.check: finding for finding in reported}
    assert statuses(found, "no_token", "wrong_token") == ["fail", "not_checked"]
    assert not diagnosis.is_fit
    assert [prompt for prompt, _ in agent.turns] == [PROBE.first, PROBE.second, PROBE.first]


async def test_a_deployment_that_takes_any_token_fails() -> None:
    """A deployment that accepts any token fails; the wrong token is sent with the harmless first prompt."""
    agent = Agent(ANY_TOKEN)
    async with agent.serve() as url:
        found = await find(url, TOKEN)
    assert statuses(found, "no_token", "wrong_token") == ["pass", "fail"]
    (prompt, authorization) = agent.turns[-1]
    assert prompt == PROBE.first
    assert authorization not in (None, BEARER)


async def test_credentials_in_a_header_are_left_out_too() -> None:
    """A credential in a header is left out of the request without credentials, and no wrong token is tried."""
    agent, headers = Agent("Basic .*"), {"Authorization": "Basic b3duZXI6czNjcjN0"}
    async with agent.serve() as url:
        found = await find(url, headers=headers)
    assert statuses(found, "turn", "no_token", "wrong_token") == ["pass", "pass", "not_checked"]
    assert found["wrong_token"].happened == "no token was given"


async def test_a_limit_of_rate_says_nothing_about_tokens() -> None:
    """A 429 leaves both checks undecided, and no more requests are sent."""
    agent = Agent(BEARER, refusal=429)
    async with agent.serve() as url:
        found = await find(url, TOKEN)
    assert statuses(found, "no_token", "wrong_token") == ["not_checked", "not_checked"]
    assert "429" in found["wrong_token"].happened


async def test_a_refused_token_ends_the_check_up() -> None:
    """If the deployment refuses the given token, that first turn is the last request."""
    with serve(token="another-token") as server:
        diagnosis, reported = await examine_at(server.url, TOKEN)
        posts = [request for request in server.requests if request.method == "POST"]
    assert_broken_off({finding.check: finding for finding in reported}, "turn", "first turn")
    assert (diagnosis.error_code, len(posts)) == ("REMOTE_UNAUTHORIZED", 1)
    assert diagnosis.session_id is not None
    assert diagnosis.trace_id is not None


async def test_a_token_that_comes_back_is_in_no_finding() -> None:
    """No finding holds the token, even if replies, errors, tool names and headers echo it."""
    echo = "You sent {{authorization}}."
    replies: list[dict[str, Any]] = [
        {"when": {"turn": 2}, "text": echo},
        {"steps": [{"tools": [{"name": TOKEN}]}, {"text": echo}]},
    ]
    with serve(*replies, token=TOKEN) as server:
        first, _ = await examine_at(server.url, TOKEN)
    with serve({"error": {"name": "E", "message": echo}}, token=TOKEN) as server:
        second, _ = await examine_at(server.url, TOKEN)
    refusal = {"name": "status", "status": 418, "body": f"no {TOKEN} here", "headers": {"x-echo": TOKEN}}
    with serve(fault=refusal, health=[{"fault": {"name": "status", "status": 500, "body": TOKEN}}]) as server:
        third, _ = await examine_at(f"{server.url}?api_key={TOKEN}", TOKEN)
    for diagnosis in (first, second, third):
        assert TOKEN not in diagnosis.model_dump_json()
        assert "[redacted]" in diagnosis.model_dump_json()
