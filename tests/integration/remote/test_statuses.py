"""What an answer that is no stream tells, and what it advises, even when its body hangs."""

import asyncio
from pathlib import Path

import pytest

from remote_evals import RemoteStatusError, RemoteTimeoutError, RemoteUnauthorizedError
from tests.serving.command import remote_evals
from tests.serving.deployments import fail_among_others, listen, sending, serve

NEVER_ENDS = b"\r\ntransfer-encoding: chunked\r\n\r\n7\r\nbroken\n\r\n"


async def test_a_status_survives_a_body_that_hangs_under_a_short_limit() -> None:
    """A 500 whose body never ends is a 500, though the case has little time, and what came of the body is quoted."""
    async with listen(sending(b"HTTP/1.1 500 Oops" + NEVER_ENDS)) as host:
        failure = await fail_among_others(f"http://{host}", timeout_s=0.6)
    assert not isinstance(failure.error, RemoteTimeoutError)
    assert isinstance(failure.error, RemoteStatusError)
    assert (failure.error.status, failure.error.happened) == (500, "the answer was 500: broken")


async def test_a_refused_token_is_3_though_its_body_hangs(tmp_path: Path) -> None:
    """A 401 whose body never ends still ends the command with the code of a refused token."""
    suite = tmp_path / "s.eval.yaml"
    suite.write_text("cases: [{name: a, prompt: x}]")
    async with listen(sending(b"HTTP/1.1 401 No" + NEVER_ENDS)) as host:
        args = ["run", suite, "--url", f"http://{host}", "--token", "wrong-token-2", "--timeout", "2s"]
        done = await asyncio.to_thread(remote_evals, *args)
    assert done.code == 3, done.all
    assert "REMOTE_UNAUTHORIZED" in done.out
    assert "the token was refused (401: broken)" in done.out


async def test_chat_given_twice_is_told() -> None:
    """Whoever gave the whole path of the route is told to leave its end off."""
    async with listen(sending(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n")) as host:
        error = (await fail_among_others(f"http://{host}/agent/chat")).error
    assert error.advice == "Leave /chat off the URL: it is added"
    assert error.url == f"http://{host}/agent/chat/chat"


async def test_chat_given_twice_is_told_of_the_fake_server() -> None:
    """The same holds for what a server with these routes answers there."""
    with serve() as server:
        error = (await fail_among_others(f"{server.url}/chat")).error
    assert isinstance(error, RemoteStatusError)
    assert error.advice == "Leave /chat off the URL: it is added"


@pytest.mark.parametrize("token", [None, "wrong-token-2"], ids=["none sent", "refused"])
async def test_a_401_tells_whether_a_token_was_sent(token: str | None) -> None:
    """A missing token is told as such and how to give one; a wrong one is told as refused."""
    with serve(token="right-token-1") as server:
        error = (await fail_among_others(server.url, token=token)).error
    assert isinstance(error, RemoteUnauthorizedError)
    assert ("a token is needed and none was sent" in error.happened) == (token is None)
    assert ("the token was refused" in error.happened) == (token is not None)
    assert ("--token-env" in error.advice) == (token is None)


@pytest.mark.parametrize("status", [405, 501])
async def test_a_url_that_takes_no_post_is_told(status: int) -> None:
    """A server of static files says that it knows no POST; the advice says that the URL is that of something else."""
    async with listen(sending(b"HTTP/1.1 %d No\r\ncontent-length: 0\r\n\r\n" % status)) as host:
        error = (await fail_among_others(f"http://{host}")).error
    assert error.happened == f"the answer was {status}"
    assert error.advice.startswith("This URL takes no POST")
