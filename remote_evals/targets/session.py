"""One session of a deployment: its turns, its decisions and its transcript."""

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Self, TypeVar

import httpx

from ..core.durations import render_duration
from ..core.prompts import Prompt
from ..core.text import make_printable
from ..core.urls import join_url, show_url
from ..errors import (
    MalformedStreamError,
    RemoteError,
    RemoteStreamError,
    RemoteUnauthorizedError,
    TokenSourceError,
    UsageError,
)
from ..protocols.base import Protocol, Request, SessionRequests
from ..redaction import Redactor, Secret
from ..results import RunResult
from ..transport.auth import TokenSource, ask_token
from ..transport.client import HttpClient, send_patiently
from ..transport.failures import keep_cause, translate_errors
from ..transport.limits import Deadline, Limits, SizeLimits, Timers, earliest, start_deadline
from ..transport.responses import FailureReader
from .exchange import Exchange
from .stream_reader import StreamObserver, explain_excess

_T = TypeVar("_T")

# Connecting takes the most memory at a time: with thousands of sessions, this many connect and the others wait.
_STARTING = 8


@dataclass(slots=True)
class Deployment:
    """What all sessions of a deployment share while the target is open; `refused` is set by the first 401."""

    url: str
    client: HttpClient
    protocol: Protocol
    token: TokenSource
    redactor: Redactor
    limits: Limits
    sizes: SizeLimits
    retries: int
    refused: RemoteUnauthorizedError | None = None
    starting: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_STARTING))


class RemoteSession:
    """One session of a deployment; see `RemoteTarget.open_session`."""

    def __init__(self, deployment: Deployment, limit_s: float | None, observer: StreamObserver | None) -> None:
        self.id = f"eval-{secrets.token_hex(12)}"
        self._deployment = deployment
        self._requests = deployment.protocol.open_session(self.id)
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
        """The latest turn as far as it came, scrubbed; None before the first."""
        return _scrub_run(self._latest.result, self._deployment.redactor) if self._latest else None

    async def send(self, prompt: Prompt, turn: int) -> RunResult:
        """Run one turn to its end and return it, with the token scrubbed wherever the server echoed it.

        Raises `RemoteError`, whose `partial` is the run so far, and `TokenSourceError` before anything is sent.
        """
        at = self._deployment
        self._latest = Exchange(at.client, at.protocol, turn, at.limits, at.sizes, at.redactor.scrub, self._observer)
        return await self._run(self._latest, self._requests.send(prompt))

    async def decide(self, approval_id: str, decision: Mapping[str, Any]) -> RunResult:
        """Decide what the latest turn waits for, and return that turn, continued to its next end. Raises as `send`."""
        if self._latest is None:
            raise UsageError("nothing was sent yet, so there is nothing to decide")
        try:
            request = self._requests.decide(approval_id, decision)
        except MalformedStreamError as error:
            raise _restate(error, show_url(self._deployment.url)) from None
        return await self._run(self._latest, request, approval_id)

    async def transcript(self) -> list[dict[str, Any]]:
        """Return the messages that the deployment keeps of this session. Raises as `send`."""
        request = self._requests.transcript()
        if request is None:
            raise UsageError(f"{self._deployment.protocol.title} gives out no transcripts")

        async def read(token: Secret | None, deadline: Deadline) -> list[dict[str, Any]]:
            return await _read_transcript(self._deployment, self._requests, request, token, deadline)

        return list(self._deployment.redactor.scrub_value(await self._patiently(read)))

    async def _run(self, exchange: Exchange, request: Request, deciding: str | None = None) -> RunResult:
        url, redactor = self._deployment.url, self._deployment.redactor

        async def send(token: Secret | None, deadline: Deadline) -> None:
            await exchange.run(url, request, token, deadline, deciding)

        try:
            await self._patiently(send, exchange.count_retry)
        except RemoteError as failure:
            failure.partial = _scrub_run(exchange.result, redactor)
            self._record_refusal(failure)
            raise
        return _scrub_run(exchange.result, redactor)

    async def _patiently(
        self,
        ask: Callable[[Secret | None, Deadline], Awaitable[_T]],
        count_retry: Callable[[], None] = lambda: None,
    ) -> _T:
        """Return what `ask` returns, given the token and the deadline of all attempts together."""
        at = self._deployment
        deadline = earliest(self._deadline, start_deadline("turn", at.limits.turn_s))

        async def ask_once() -> _T:
            async with at.starting:
                await asyncio.sleep(0)
            if at.refused:
                # Further requests with a bad token could lock the account.
                happened = f"the token was refused before, so nothing was sent ({at.refused.status})"
                raise RemoteUnauthorizedError(at.refused.url, happened, at.refused.advice, at.refused.status)
            return await ask(await self._ask_token(deadline), deadline)

        try:
            return await send_patiently(ask_once, at.retries, deadline.left_s, count_retry)
        except RemoteError as failure:
            _scrub(failure, at.redactor)
            raise

    def _record_refusal(self, failure: RemoteError) -> None:
        at = self._deployment
        # A callable may return a better token next time.
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


async def _read_transcript(
    at: Deployment, requests: SessionRequests, request: Request, token: Secret | None, deadline: Deadline
) -> list[dict[str, Any]]:
    url = join_url(at.url, request.path)
    shown = show_url(url)

    async def read(timers: Timers) -> list[dict[str, Any]] | RemoteError:
        timers.start("headers", at.limits.headers_s)
        headers = {"Accept": request.accept, "Accept-Encoding": "identity"}
        async with aclosing(await at.client.send(request.method, url, headers, token)) as response:
            timers.start("transcript", at.limits.headers_s)
            scrub, protocol = at.redactor.scrub, at.protocol
            failures = FailureReader(shown, scrub, protocol.advise, protocol.read_refusal, at.sizes.quote_bytes)
            if failure := await failures.read(response, timers.left_s, expected=request.accept):
                return failure
            body = await _read_body(response, at.sizes.transcript_bytes)
        if len(body) > at.sizes.transcript_bytes:
            return explain_excess(shown, f"{at.sizes.transcript_bytes // 2**20} MiB", what="the transcript")
        try:
            return requests.read_transcript(body)
        except MalformedStreamError as error:
            return _restate(error, shown)

    return await translate_errors(read, url, deadline)


async def _read_body(response: httpx.Response, limit_bytes: int) -> bytes:
    body = bytearray()
    async for part in response.aiter_bytes():
        body += part
        if len(body) > limit_bytes:
            break
    return bytes(body)


def _restate(error: MalformedStreamError, url: str) -> RemoteStreamError:
    return RemoteStreamError(url, str(error), error.advice or "")


def _scrub_run(run: RunResult, redactor: Redactor) -> RunResult:
    """Return a run without echoed secrets, nor the start of one at the end of a reply that was cut off."""
    scrubbed: RunResult = redactor.scrub_value(run)
    return scrubbed if run.ended_normally else scrubbed.model_copy(update={"reply": redactor.scrub_end(run.reply)})


def _scrub(failure: RemoteError, redactor: Redactor) -> None:
    """Remove from an error the secrets that the deployment echoed, and characters that act on a terminal."""
    failure.rewrite(lambda happened: make_printable(redactor.scrub(happened)))
    failure.deployment_code = redactor.scrub_value(failure.deployment_code)
    failure.__cause__ = keep_cause(failure.__cause__, redactor.scrub)
