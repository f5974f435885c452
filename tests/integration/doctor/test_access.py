"""Who is let in, and that nobody is told the token."""

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
    """Where no token was given and none is asked for, that is told, and nobody else is sent."""
    agent = Agent(ANYONE)
    async with agent.serve() as url:
        found = await find(url)
    assert statuses(found, "no_token", "wrong_token") == ["warn", "not_checked"]
    assert "the deployment is open" in found["no_token"].happened
    assert len(agent.turns) == 2


async def test_an_open_deployment_is_a_failure_for_who_has_a_token() -> None:
    """Somebody who gives a token thinks that the deployment is protected; a wrong token then shows nothing more."""
    agent = Agent(ANYONE)
    async with agent.serve() as url:
        diagnosis, reported = await examine_at(url, TOKEN)
    found = {finding.check: finding for finding in reported}
    assert statuses(found, "no_token", "wrong_token") == ["fail", "not_checked"]
    assert not diagnosis.is_fit
    assert [prompt for prompt, _ in agent.turns] == [PROBE.first, PROBE.second, PROBE.first]


async def test_a_deployment_that_takes_any_token_fails() -> None:
    """A token that is not compared protects nothing; the prompt sent with it is the harmless one."""
    agent = Agent(ANY_TOKEN)
    async with agent.serve() as url:
        found = await find(url, TOKEN)
    assert statuses(found, "no_token", "wrong_token") == ["pass", "fail"]
    (prompt, authorization) = agent.turns[-1]
    assert prompt == PROBE.first
    assert authorization not in (None, BEARER)


async def test_credentials_in_a_header_are_left_out_too() -> None:
    """Where a header holds the credential, the caller without one leaves it out, and there is no token to make up."""
    agent, headers = Agent("Basic .*"), {"Authorization": "Basic b3duZXI6czNjcjN0"}
    async with agent.serve() as url:
        found = await find(url, headers=headers)
    assert statuses(found, "turn", "no_token", "wrong_token") == ["pass", "pass", "not_checked"]
    assert found["wrong_token"].happened == "no token was given"


async def test_a_limit_of_rate_says_nothing_about_tokens() -> None:
    """Who is asked too often is not asked once more."""
    agent = Agent(BEARER, refusal=429)
    async with agent.serve() as url:
        found = await find(url, TOKEN)
    assert statuses(found, "no_token", "wrong_token") == ["not_checked", "not_checked"]
    assert "429" in found["wrong_token"].happened


async def test_a_refused_token_ends_the_check_up() -> None:
    """Nothing is asked of a deployment that refuses the token, and it is not asked twice."""
    with serve(token="another-token") as server:
        diagnosis, reported = await examine_at(server.url, TOKEN)
        posts = [request for request in server.requests if request.method == "POST"]
    assert_broken_off({finding.check: finding for finding in reported}, "turn", "first turn")
    assert (diagnosis.error_code, len(posts)) == ("REMOTE_UNAUTHORIZED", 1)
    assert diagnosis.session_id is not None
    assert diagnosis.trace_id is not None


async def test_a_token_that_comes_back_is_in_no_finding() -> None:
    """A deployment that echoes the token in replies, errors, tool names and headers leaves no finding with it."""
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
