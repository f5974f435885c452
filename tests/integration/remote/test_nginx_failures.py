"""What nginx answers in an agent's place, where it breaks its stream off, and what is told of it."""

import re
from pathlib import Path

import httpx
import pytest

from remote_evals import (
    Eval,
    EvalContext,
    EvalRunner,
    RemoteStatusError,
    RemoteStreamError,
    RemoteTarget,
    RemoteUnauthorizedError,
    RemoteUnreachableError,
)
from remote_evals.transport import client as _retry
from tests.serving.command import remote_evals
from tests.serving.deployments import PATIENT, fail_among_others, named
from tests.serving.leaks import TOKEN, assert_error_keeps_secrets
from tests.serving.nginx import LOGIN_PAGE, Nginx

STATUSES = {
    "down": ("{url}/to/down", 502, "<html> <head><title>502 Bad Gateway</title>", "check that it runs"),
    "down, with a large page": ("{url}/long-words/down", 502, "sorry !!!", "check that it runs"),
    "too large": ("{url}/small", 413, "<html> <head><title>413 Request Entity Too Large</title>", "prompt is larger"),
    "http to a TLS port": (
        "{plain_tls_url}",
        400,
        "<html> <head><title>400 The plain HTTP request was sent",
        "https://",
    ),
}


@pytest.mark.parametrize("name", STATUSES)
async def test_a_page_of_nginx_is_told_by_its_status(name: str, nginx: Nginx) -> None:
    """Status and start of nginx's own page are told on one line, whatever the size of the page."""
    way, status, page, advice = STATUSES[name]
    url = way.format(url=nginx.url, plain_tls_url=nginx.tls_url.replace("https:", "http:"))
    error = (await fail_among_others(url)).error
    assert isinstance(error, RemoteStatusError)
    assert error.status == status
    assert error.happened.startswith(f"the answer was {status}: {page}")
    assert len(error.happened) <= len(f"the answer was {status}: ") + 300
    assert advice in error.advice


async def test_a_large_prompt_that_nginx_refuses(nginx: Nginx) -> None:
    """A prompt of a megabyte, refused while it is still being sent, is told by the 413 and not as a broken stream."""
    met: list[int] = []

    async def send(t: EvalContext) -> None:
        with pytest.raises(RemoteStatusError) as caught:
            await t.send("x" * 1_000_000)
        met.append(caught.value.status)

    await EvalRunner(RemoteTarget(f"{nginx.url}/small", limits=PATIENT)).arun(Eval("large", send))
    assert met == [413]


REDIRECTS = {
    "to another path": ("moved", 301, "another path of {url}", "check the URL"),
    "to TLS": ("only-tls", 301, "{tls_url}", "https://"),
    "to a login elsewhere": ("login", 302, "{other_url}", "a login"),
}


@pytest.mark.parametrize("name", REDIRECTS)
async def test_a_redirect_is_told_and_not_followed(name: str, nginx: Nginx) -> None:
    """A redirect is told by its origin alone, and neither request nor token goes there."""
    way, status, origin, advice = REDIRECTS[name]
    before = len(nginx.agents["agent"].requests)
    error = (await fail_among_others(f"{nginx.url}/{way}", token=TOKEN)).error
    origin = origin.format(url=nginx.url, tls_url=nginx.tls_url, other_url=nginx.other_url)
    assert isinstance(error, RemoteStatusError)
    assert error.happened == f"the answer was {status}, a redirect to {origin}"
    assert error.advice.startswith("Redirects are not followed: ")
    assert advice in error.advice
    assert_error_keeps_secrets(error)
    async with httpx.AsyncClient(trust_env=False) as client:
        await client.get(f"{nginx.other_url}/")
    assert {request.path for request in nginx.agents["elsewhere"].requests} == {"/"}
    assert len(nginx.agents["agent"].requests) == before


async def test_a_login_page_is_no_stream(nginx: Nginx) -> None:
    """A page that asks to sign in, sent with 200, is told as a page, with its start."""
    error = (await fail_among_others(f"{nginx.url}/login-page", token=TOKEN)).error
    assert type(error) is RemoteStreamError
    assert error.happened == f"the answer is text/html, not an event stream: {LOGIN_PAGE}"
    assert "a page" in error.advice


@pytest.mark.parametrize(
    ("token", "happened"),
    [(TOKEN, "a user name and password were refused (401: "), (None, "a user name and password are needed (401: ")],
)
async def test_a_password_that_nginx_asks_for(token: str | None, happened: str, nginx: Nginx) -> None:
    """A 401 of auth_basic is told as the password that nginx wants, and how to give it: no token helps there."""
    error = (await fail_among_others(f"{nginx.url}/password", token=token)).error
    assert type(error) is RemoteUnauthorizedError
    assert error.happened.startswith(happened)
    assert "--header 'Authorization=Basic" in error.advice
    assert_error_keeps_secrets(error)


BROKEN = {
    "by its clock": ("impatient/stalling", r"the connection (was closed|broke) after text\.delta.*", "one two "),
    "by its clock, held back": (
        "impatient-buffering/stalling",
        "the connection (was closed|broke) before the first event.*",
        "",
    ),
    "by the agent": ("to/breaking", r"the connection (was closed|broke) after text\.delta.*", "one two "),
    "by the agent, over HTTP/1.0": (
        "http10/breaking",
        r"the stream ended after text\.delta, before run\.done",
        "one two ",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
async def test_a_stream_that_breaks_behind_nginx(name: str, nginx: Nginx) -> None:
    """A stream that nginx gives up or passes on broken is no run, keeps what came through, and is not sent twice."""
    way, happened, reply = BROKEN[name]
    agent = nginx.agents[way.rpartition("/")[2]]
    before = len(agent.requests)
    failure = await fail_among_others(f"{nginx.url}/{way}", retries=2)
    assert type(failure.error) is RemoteStreamError
    assert re.fullmatch(happened, failure.error.happened), failure.error.happened
    assert "a proxy before it" in failure.error.advice
    assert failure.row.run.reply == reply
    assert len(agent.requests) == before + 1


async def test_a_504_is_not_sent_again(nginx: Nginx) -> None:
    """When nginx gives up waiting, the agent may be at work: the 504 is told, and the agent is asked only once."""
    before = len(nginx.agents["silent"].requests)
    error = (await fail_among_others(f"{nginx.url}/impatient/silent", retries=2)).error
    assert isinstance(error, RemoteStatusError)
    assert error.happened.startswith("the answer was 504: <html> <head><title>504 Gateway Time-out</title>")
    assert len(nginx.agents["silent"].requests) == before + 1


@pytest.mark.parametrize("status", [429, 503])
async def test_what_limit_req_turns_away_is_sent_again(
    status: int, nginx: Nginx, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A request beyond nginx's rate is sent again as often as may be, then told by its status and the attempts."""
    monkeypatch.setattr(_retry, "pause", lambda _: 0.0)
    way = f"{nginx.url}/one-then-{status}"
    assert (await EvalRunner(RemoteTarget(way, limits=PATIENT)).arun(named("a"))).pass_rate == 1.0
    error = (await fail_among_others(way, retries=2)).error
    assert isinstance(error, RemoteStatusError)
    assert error.status == status
    assert error.happened.endswith(" (3 attempts)")


async def test_a_rate_that_nginx_limits_makes_no_case_red(nginx: Nginx, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two cases at once, one is turned away by a rate of one a second, and passes when it is sent again."""
    monkeypatch.setattr(_retry, "pause", lambda _: 1.2)
    report = await EvalRunner(RemoteTarget(f"{nginx.url}/one-a-second", limits=PATIENT)).arun(named("a", "b"))
    assert [row.status for row in report.results] == ["passed", "passed"]
    assert [row.run.retries for row in report.results if row.run.retries] == [1]


@pytest.mark.parametrize(
    ("way", "happened"),
    [
        ("{tls_url}/api/agent", "the TLS certificate was not accepted (unable to get local issuer certificate)"),
        ("{tls_of_plain_url}", "the TLS handshake failed (WRONG_VERSION_NUMBER)"),
    ],
)
async def test_tls_that_cannot_be_trusted_or_is_none(way: str, happened: str, nginx: Nginx) -> None:
    """A certificate of nginx that nobody vouches for, and a port of nginx without TLS, are no way to the agent."""
    url = way.format(tls_url=nginx.tls_url, tls_of_plain_url=nginx.url.replace("http:", "https:"))
    error = (await fail_among_others(url, token=TOKEN)).error
    assert type(error) is RemoteUnreachableError
    assert error.happened == happened


def test_the_command_tells_nginx_from_the_agent(nginx: Nginx, tmp_path: Path) -> None:
    """Where nginx asks for a password, the command ends as for a refused token, and not as for a wrong agent."""
    (tmp_path / "s.eval.yaml").write_text("cases: [{name: a, prompt: hi, must_contain: Turn 1}]")
    args = ["run", tmp_path, "--url", f"{nginx.url}/password", "--token-env", "MINE"]
    done = remote_evals(*args, env={"MINE": TOKEN})
    assert done.code == 3, done.all
    assert "a user name and password were refused (401: " in done.out
    assert TOKEN not in done.all
