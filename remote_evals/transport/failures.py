"""Errors of the libraries, and timers that expire, as the errors of this package: translated once, here.

httpx-aiohttp's own translation is coarse: a server that hangs up becomes a connect timeout. So the original cause, as
aiohttp or the operating system raised it, decides. No error keeps a frame that holds a secret.
"""

import asyncio
import os
import re
import socket
import ssl
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import TypeVar

import aiohttp
import httpx

from ..core.durations import render_duration
from ..core.urls import show_url
from ..errors import MalformedStreamError, RemoteError, RemoteStreamError, RemoteTimeoutError, RemoteUnreachableError
from .connecting import advise_on_certificate
from .limits import Deadline, Timer, TimerExpiredError, Timers

_T = TypeVar("_T")
_Action = Callable[[Timers], Awaitable[_T | RemoteError]]

_QUERY = re.compile(r"https?://[^\s'\"]*\?")


class AppBrokeError(httpx.ReadError):
    """An app in this process broke off its answer."""


class ConnectExpiredError(httpx.ConnectTimeout):
    """There was no connection within `limit_s` seconds."""

    def __init__(self, limit_s: float) -> None:
        super().__init__("no connection in time")
        self.limit_s = limit_s


# Everything that the transport or the reading of a stream can raise.
LIBRARY_ERRORS = (httpx.HTTPError, httpx.InvalidURL, aiohttp.ClientError, MalformedStreamError, OSError)

_NEVER_CONNECTED = (
    aiohttp.ClientConnectorError,
    aiohttp.ConnectionTimeoutError,
    ConnectExpiredError,
    httpx.ConnectError,
    aiohttp.ClientHttpProxyError,
    aiohttp.InvalidURL,
    httpx.UnsupportedProtocol,
    httpx.InvalidURL,
)
# aiohttp has one class for everything that it cannot read, and says what it was only in words.
_TOO_LARGE = ("Got more than", "Too many headers")
_IS_IT_UP = "Check that the deployment is up and that the URL is right"
_OTHER_PROTOCOL = "The URL may be that of something that speaks otherwise, or a proxy changes the stream"
WHY_BROKEN = "The deployment, or a proxy before it, broke off: look into its logs, the run itself may have gone on"


async def translate_errors(
    action: _Action[_T],
    url: str,
    deadline: Deadline | None,
    read_last_event: Callable[[], str | None] = lambda: None,
    *,
    at_first: str = "before the answer was whole",
) -> _T:
    """Return what `action` returns; it starts the timers that it is given.

    Raises `RemoteError`: the one that the action returns, or that of an expired timer or a library's error. `at_first`
    says when it happened if there was no event before. The errors, and a cancellation, drop the frames of the action,
    whose locals hold headers and what was received.
    """
    shown = show_url(url)
    # One function rather than several: with thousands of open streams, the memory of each frame counts.
    outcome: _T | RemoteError
    try:
        async with Timers(deadline) as timers:
            outcome = await action(timers)
    except asyncio.CancelledError as cancelled:
        drop_tracebacks(cancelled)
        raise
    except TimerExpiredError as expired:
        outcome = explain_timeout(expired.timer, shown, read_last_event())
    except LIBRARY_ERRORS as error:
        last_event = read_last_event()
        outcome = translate(error, shown, f"after {last_event}" if last_event else at_first)
        outcome.__cause__ = drop_tracebacks(error)
    except Exception as error:
        # For example from a transport that a caller made.
        drop_tracebacks(error)
        raise
    if isinstance(outcome, RemoteError):
        raise outcome.with_traceback(None)
    return outcome


def translate(error: Exception, url: str, when: str) -> RemoteError:
    """Return the error of this package for one of `LIBRARY_ERRORS`; `when` it happened is "after tool.start", say."""
    causes = tuple(iterate_causes(error))
    if any(isinstance(cause, _NEVER_CONNECTED) for cause in causes):
        return RemoteUnreachableError(url, *_describe_unreachable(causes))
    return RemoteStreamError(url, *_describe_broken(causes, when))


def _describe_unreachable(causes: Sequence[BaseException]) -> tuple[str, str]:
    for cause in causes:
        match cause:
            case socket.gaierror():
                return f"the host name was not found ({cause.strerror})", "Check the URL's spelling and the DNS"
            case ssl.SSLCertVerificationError() if not isinstance(cause, aiohttp.ClientError):
                reason = (cause.verify_message or cause.reason).rstrip(".")
                return f"the TLS certificate was not accepted ({reason})", advise_on_certificate(cause)
            case ssl.SSLError() if not isinstance(cause, aiohttp.ClientError):
                return f"the TLS handshake failed ({cause.reason})", "Check that this port speaks https"
            case aiohttp.ClientHttpProxyError():
                return f"the proxy answered {cause.status}", "Check HTTP_PROXY, HTTPS_PROXY and NO_PROXY"
            case aiohttp.ClientProxyConnectionError():
                return "the proxy could not be reached", "Check HTTP_PROXY, HTTPS_PROXY and NO_PROXY"
            case ConnectExpiredError():
                advice = f"{_IS_IT_UP}; if the way may take longer, raise --connect-timeout"
                return f"no connection within {render_duration(cause.limit_s)}", advice
            case aiohttp.ConnectionTimeoutError():
                return "no connection in time", _IS_IT_UP
            case OSError(errno=int(number)) if not isinstance(cause, aiohttp.ClientError):
                return f"could not connect ({os.strerror(number)})", _IS_IT_UP
    return "could not connect", _IS_IT_UP


def _describe_broken(causes: Sequence[BaseException], when: str) -> tuple[str, str]:
    for cause in causes:
        match cause:
            case AppBrokeError():
                return f"{cause} ({when})", "The app runs in this process: look at what it raised"
            case MalformedStreamError():
                return str(cause), cause.advice or _OTHER_PROTOCOL
            case aiohttp.ClientResponseError() if cause.message.startswith(_TOO_LARGE):
                happened = "the response headers are larger than any that a server should send"
                return happened, "Look at what the deployment, or a proxy before it, puts into its headers"
            case aiohttp.ClientResponseError():
                return "the answer is not HTTP that can be read", "Check that the URL and port are the deployment's"
            case httpx.DecodingError():
                return "the answer's compression is broken", "A proxy may compress the stream: let it leave it alone"
            case OSError(errno=int(number)):
                return f"the connection broke {when} ({os.strerror(number)})", WHY_BROKEN
    return f"the connection was closed {when}", WHY_BROKEN


def explain_timeout(timer: Timer, url: str, last_event: str | None) -> RemoteTimeoutError:
    """Return the error of an expired timer."""
    limit = render_duration(timer.limit_s)
    seen = f"the last event was {last_event}" if last_event else "no event had come"
    happened, advice = {
        "headers": (
            f"no response headers within {limit}",
            "The agent hangs, or a proxy holds the answer back; if it may take longer, raise --headers-timeout",
        ),
        "first event": (
            f"no event within {limit} after the headers",
            "The agent hangs, or a proxy holds it back; if it may take longer, raise --first-event-timeout",
        ),
        "silence": (
            f"no event for {limit}; {seen}",
            "The agent hangs, or a proxy holds the stream back; if it may take longer, raise --silence-timeout",
        ),
        "transcript": (
            f"no whole transcript within {limit} after the headers",
            "The deployment hangs, or a proxy holds the answer back; if it may take longer, raise --headers-timeout",
        ),
        "turn": (
            f"the turn was not done within {limit}; {seen}",
            "If it may take longer, raise --turn-timeout",
        ),
        "case": (
            f"the case was not done within {limit}; {seen}",
            "If it may take longer, raise its own timeout, or --timeout",
        ),
    }[timer.name]
    return RemoteTimeoutError(url, f"timed out: {happened}", advice, timer.name, last_event)


def drop_tracebacks(error: BaseException) -> BaseException:
    """Return the error without the frames it passed: aiohttp's hold the Authorization header as a local."""
    for cause in iterate_causes(error):
        cause.__traceback__ = cause.__context__ = None
    return error


def keep_cause(error: BaseException | None, scrub: Callable[[str], str]) -> BaseException | None:
    """Return the error if it may be shown as a cause; None if it, or what caused it, holds a secret or a query."""
    shown = "".join(f"{cause!r} {cause} {vars(cause)!r}" for cause in iterate_causes(error))
    return error if scrub(shown) == shown and not _QUERY.search(shown) else None


def iterate_causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error, its cause, and so on to the first cause."""
    while error is not None:
        yield error
        error = error.__cause__
