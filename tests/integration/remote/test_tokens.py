"""Where the token of a turn comes from, and what becomes of one that cannot be had or sent."""

import asyncio
from collections.abc import Callable
from itertools import count
from typing import Any

import pytest

from remote_evals import Eval, EvalReport, EvalRunner, Redactor, RemoteTarget, TokenSourceError, UsageError
from remote_evals.transport.auth import ask_token
from tests.serving.deployments import PATIENT, greet, serve
from tests.serving.leaks import TOKEN, assert_error_keeps_secrets, assert_no_leak

NOT_SENDABLE = {
    "line feed": f"{TOKEN}\n",
    "space": f"{TOKEN} x",
    "control character": f"{TOKEN}\x00",
    "not ASCII": f"{TOKEN}é",
    "lone surrogate": f"{TOKEN}\ud83d",
    "empty": "",
    "short": "e",
}


async def tokens_sent(token: Any, turns: int = 1) -> list[str | None]:
    """Return the Authorization header of each turn of one session."""
    with serve() as server:
        async with RemoteTarget(server.url, token, limits=PATIENT) as target, target.open_session() as session:
            for turn in range(1, turns + 1):
                await session.send("hi", turn)
        return [request.headers.get("authorization") for request in server.requests]


async def failing(source: Callable[[], Any]) -> tuple[BaseException, int]:
    """Return what a turn raised whose token came from `source`, and how many requests were sent."""
    with serve() as server:
        async with RemoteTarget(server.url, source, limits=PATIENT) as target, target.open_session() as session:
            with pytest.raises(TokenSourceError) as caught:
                await session.send("hi", 1)
        return caught.value, len(server.requests)


async def test_no_token_sends_no_header() -> None:
    """A deployment without a token gets no Authorization header at all."""
    assert await tokens_sent(None) == [None]


async def test_a_token_as_text() -> None:
    """A token that was given as text is sent with every turn."""
    assert await tokens_sent(TOKEN, turns=2) == [f"Bearer {TOKEN}"] * 2


async def test_a_callable_is_asked_before_every_turn() -> None:
    """A token from a callable may expire: it is asked anew for each turn."""
    numbers = count(1)
    assert await tokens_sent(lambda: f"token-no-{next(numbers)}", turns=3) == [
        "Bearer token-no-1",
        "Bearer token-no-2",
        "Bearer token-no-3",
    ]


async def test_an_async_callable_is_asked_before_every_turn() -> None:
    """The same holds for a callable that waits for its token."""
    numbers = count(1)

    async def token() -> str:
        await asyncio.sleep(0)
        return f"token-no-{next(numbers)}"

    assert await tokens_sent(token, turns=3) == ["Bearer token-no-1", "Bearer token-no-2", "Bearer token-no-3"]


async def test_a_callable_that_raises() -> None:
    """A callable that raises is an error that tells only the type, since a secret store's message may hold a secret."""

    def refuse() -> str:
        raise LookupError(f"no such key: {TOKEN}")

    error, sent = await failing(refuse)
    assert (str(error), sent) == ("the token could not be had: its callable raised LookupError", 0)
    assert_error_keeps_secrets(error)


async def test_an_async_callable_that_raises() -> None:
    """The same holds for a callable that fails after a while."""

    async def refuse() -> str:
        await asyncio.sleep(0)
        raise LookupError(TOKEN)

    error, sent = await failing(refuse)
    assert ("LookupError" in str(error), sent) == (True, 0)
    assert_error_keeps_secrets(error)


@pytest.mark.parametrize("token", [*NOT_SENDABLE.values(), None, b"bytes"], ids=[*NOT_SENDABLE, "none", "bytes"])
async def test_a_callable_that_gives_no_usable_token(token: Any) -> None:
    """A callable whose token no header can carry is an error before anything is sent."""
    error, sent = await failing(lambda: token)
    assert ("cannot be sent" in str(error), sent) == (True, 0)
    assert_error_keeps_secrets(error)


@pytest.mark.parametrize("name", NOT_SENDABLE)
async def test_what_is_never_sent_is_no_secret(name: str) -> None:
    """A token that is refused is not redacted from anything, in which it may be a part of any word."""
    redactor = Redactor()
    with pytest.raises(TokenSourceError):
        await ask_token(lambda: NOT_SENDABLE[name], redactor)
    said = f"the eval needed {NOT_SENDABLE[name]}"
    assert redactor.scrub(said) == said


@pytest.mark.parametrize("name", NOT_SENDABLE)
def test_a_token_that_cannot_be_sent(name: str) -> None:
    """A token as text that no header can carry is a usage error at once, which does not show it."""
    with pytest.raises(UsageError, match="the token cannot be sent") as caught:
        RemoteTarget("http://127.0.0.1:1", NOT_SENDABLE[name])
    assert_error_keeps_secrets(caught.value)


def test_a_bad_url_does_not_show_the_token() -> None:
    """A mistake in another argument leaves no traceback that shows the token."""
    with pytest.raises(ValueError, match="not a URL") as caught:
        RemoteTarget("ftp://agent.test", TOKEN)
    assert_error_keeps_secrets(caught.value)


async def report_of(*sources: Any) -> EvalReport:
    """Return the report of one case for each source of a token, run together."""
    with serve(token=TOKEN) as server:
        evals = [
            Eval(str(number), greet, target=RemoteTarget(server.url, source, limits=PATIENT))
            for number, source in enumerate(sources)
        ]
        return await EvalRunner(timeout_s=0.5).arun(evals)


async def test_a_missing_token_stops_no_other_case() -> None:
    """A case whose token cannot be had is an error of its own, told by its code, and the others go on."""

    def refuse() -> str:
        raise LookupError(TOKEN)

    report = await report_of(lambda: TOKEN, refuse, TOKEN, "another-token")
    assert [result.status for result in report.results] == ["passed", "error", "passed", "error"]
    codes = [result.error.code for result in report.results if result.error]
    assert codes == ["TOKEN_SOURCE", "REMOTE_UNAUTHORIZED"]
    assert_no_leak([("report", repr(report))])


async def test_a_callable_that_hangs_ends_with_its_case() -> None:
    """Waiting for a token is part of the case: one that never comes ends by the case's limit."""

    async def never() -> str:
        await asyncio.Event().wait()
        return TOKEN

    async with asyncio.timeout(2):
        report = await report_of(TOKEN, never)
    assert [result.status for result in report.results] == ["passed", "error"]
