"""The transcript of a session, read back from the deployment's own store."""

import asyncio
import json
import secrets
from collections.abc import Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Self, TypeVar
from urllib.parse import quote

import httpx

from ..core.durations import render_duration
from ..core.text import make_printable
from ..core.urls import join_url, show_url
from ..errors import RemoteError, RemoteStreamError, RemoteUnauthorizedError, TokenSourceError, UsageError
from ..redaction import Redactor, Secret
from ..results import RunResult
from ..transport.auth import TokenSource, ask_token
from ..transport.client import HttpClient, send_patiently
from ..transport.failures import keep_cause, translate_errors
from ..transport.limits import Deadline, Limits, Timers, earliest, start_deadline
from ..transport.responses import read_failure
from .exchange import Exchange
from .stream_reader import StreamObserver, too_large

MAX_TRANSCRIPT_BYTES = 16 * 1024 * 1024

_HEADERS = {"Accept": "application/json", "Accept-Encoding": "identity"}


async def read_messages(
    link: HttpClient,
    url: str,
    token: Secret | None,
    limits: Limits,
    deadline: Deadline | None,
    scrub: Callable[[str], str],
) -> list[dict[str, Any]]:
    """Return the `messages` of `GET /chat/<session>`. Raises `RemoteError`."""

    async def read(clocks: Timers) -> list[dict[str, Any]] | RemoteError:
        clocks.start("headers", limits.headers_s)
        async with aclosing(await link.send("GET", url, _HEADERS, token)) as response:
            clocks.start("transcript", limits.headers_s)
            failure = await read_failure(response, show_url(url), scrub, clocks.left_s, expected="application/json")
            if failure:
                return failure
            body = await _read_body(response)
            if len(body) > MAX_TRANSCRIPT_BYTES:
                return too_large(show_url(url), f"{MAX_TRANSCRIPT_BYTES // 2**20} MiB", what="the transcript")
            return _parse(body, show_url(url))

    return await translate_errors(read, url, deadline)


async def _read_body(response: httpx.Response) -> bytes:
    body = bytearray()
    async for part in response.aiter_bytes():
        body += part
        if len(body) > MAX_TRANSCRIPT_BYTES:
            break
    return bytes(body)


def _parse(body: bytes, url: str) -> list[dict[str, Any]] | RemoteError:
    try:
        messages = json.loads(body)["messages"]
    except (ValueError, LookupError, TypeError, RecursionError):
        messages = None
    if not isinstance(messages, list) or not all(isinstance(message, dict) for message in messages):
        happened = "the transcript is not a JSON object with a list of messages"
        return RemoteStreamError(url, happened, "Check that the deployment speaks the /chat protocol")
    return messages


_T = TypeVar("_T")

MAX_ID_CHARS = 1024

# Connecting is what takes most memory at a time: of thousands of sessions so many start, and the others wait.
_STARTING = 8


@dataclass(slots=True)
class Deployment:
    """What all sessions of a deployment share, while the target is open; `refused` is set by the first 401."""

    url: str
    link: HttpClient
    token: TokenSource
    redactor: Redactor
    limits: Limits
    retries: int
    refused: RemoteUnauthorizedError | None = None
    starting: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_STARTING))


class RemoteSession:
    """One session of a deployment; see `RemoteTarget.open_session`."""

    def __init__(self, deployment: Deployment, limit_s: float | None, observer: StreamObserver | None) -> None:
        # The protocol allows 1 to 128 characters of A-Z a-z 0-9 _ and -.
        self.id = f"eval-{secrets.token_hex(12)}"
        self._deployment = deployment
        self._observer = observer
        self._deadline = start_deadline("case", limit_s) if limit_s else None
        self._latest: Exchange | None = None

    async def __aenter__(self) -> Self:
        """Return the session."""
        return self

    async def __aexit__(self, *raised: object) -> None:
        """Do nothing: every turn closes its own connection."""

    @property
    def partial(self) -> RunResult | None:
        """What there is of the latest turn, scrubbed; None before the first."""
        return _scrub_run(self._latest.result, self._deployment.redactor) if self._latest else None

    async def send(self, prompt: str, turn: int) -> RunResult:
        """Run one turn through `run.done` and return it, with the token scrubbed wherever the server echoed it.

        Raises `RemoteError`, whose `partial` is what had been rebuilt, and `TokenSourceError` before anything is sent.
        """
        at = self._deployment
        self._latest = Exchange(at.link, turn, at.limits, at.redactor.scrub, self._observer)
        return await self._run(self._latest, join_url(at.url, "/chat"), {"sessionId": self.id, "input": prompt})

    async def decide(self, approval_id: str, decision: Mapping[str, Any]) -> RunResult:
        """Decide what the latest turn waits for and return that turn, gone on to its next end. Raises as `send`."""
        if self._latest is None:
            raise UsageError("nothing was sent yet, so there is nothing to decide")
        at = self._deployment
        url = join_url(at.url, f"/chat/{self.id}/approvals/{_segment_of(approval_id, at.url)}")
        return await self._run(self._latest, url, decision)

    async def transcript(self) -> list[dict[str, Any]]:
        """Return the messages that the deployment keeps of this session. Raises as `send`."""
        at, redactor = self._deployment, self._deployment.redactor
        url = join_url(at.url, f"/chat/{self.id}")

        async def read(token: Secret | None, deadline: Deadline) -> list[dict[str, Any]]:
            return await read_messages(at.link, url, token, at.limits, deadline, redactor.scrub)

        return list(redactor.scrub_value(await self._patiently(read)))

    async def _run(self, exchange: Exchange, url: str, body: Mapping[str, Any]) -> RunResult:
        redactor = self._deployment.redactor

        async def send(token: Secret | None, deadline: Deadline) -> None:
            await exchange.run(url, body, token, deadline)

        try:
            await self._patiently(send, exchange.count_retry)
        except RemoteError as failure:
            failure.partial = _scrub_run(exchange.result, redactor)
            self._note_refusal(failure)
            raise
        return _scrub_run(exchange.result, redactor)

    async def _patiently(
        self,
        ask: Callable[[Secret | None, Deadline], Awaitable[_T]],
        count_retry: Callable[[], None] = lambda: None,
    ) -> _T:
        """Return what `ask` returns, given the token and until when it must be done, all attempts together."""
        at = self._deployment
        deadline = earliest(self._deadline, start_deadline("turn", at.limits.turn_s))

        async def ask_once() -> _T:
            async with at.starting:
                await asyncio.sleep(0)
            if at.refused:
                # Whoever knocks on with a bad token is locked out.
                happened = f"the token was refused before, so nothing was sent ({at.refused.status})"
                raise RemoteUnauthorizedError(at.refused.url, happened, at.refused.advice, at.refused.status)
            return await ask(await self._ask_token(deadline), deadline)

        try:
            return await send_patiently(ask_once, at.retries, deadline.left_s, count_retry)
        except RemoteError as failure:
            _scrub(failure, at.redactor)
            raise

    def _note_refusal(self, failure: RemoteError) -> None:
        at = self._deployment
        # A token that is made anew each time may be a better one.
        if isinstance(failure, RemoteUnauthorizedError) and failure.status == 401 and not callable(at.token):
            at.refused = at.refused or failure

    async def _ask_token(self, deadline: Deadline) -> Secret | None:
        at = self._deployment
        limit_s = min(at.limits.headers_s, deadline.left_s())
        try:
            async with asyncio.timeout(None if limit_s == float("inf") else limit_s):
                return await ask_token(at.token, at.redactor)
        except TimeoutError:
            limit = render_duration(limit_s)
            raise TokenSourceError(f"the token could not be had: its callable gave none within {limit}") from None


def _segment_of(approval_id: str, url: str) -> str:
    """Return an id as it stands in a path. Raises `RemoteStreamError` for one that would lead elsewhere, or nowhere."""
    try:
        if approval_id in ("", ".", "..") or len(approval_id) > MAX_ID_CHARS:
            raise ValueError
        return quote(approval_id, safe="")
    except ValueError:
        happened = f"the approval's id {approval_id[:40]!r} cannot be sent back"
        raise RemoteStreamError(show_url(url), happened, "Check what the deployment gives as approvalId") from None


def _scrub_run(run: RunResult, redactor: Redactor) -> RunResult:
    """Return a run without the secrets that the far side echoed, nor the start of one where its reply was cut off."""
    scrubbed: RunResult = redactor.scrub_value(run)
    return scrubbed if run.ended_normally else scrubbed.model_copy(update={"reply": redactor.scrub_end(run.reply)})


def _scrub(failure: RemoteError, redactor: Redactor) -> None:
    """Take out of an error what the far side put into it: secrets that it echoed, and what acts on a terminal."""
    failure.rewrite(lambda happened: make_printable(redactor.scrub(happened)))
    failure.__cause__ = keep_cause(failure.__cause__, redactor.scrub)
