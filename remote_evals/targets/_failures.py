"""What the libraries raise, as the errors of this package: translated once, here, by the original cause.

httpx-aiohttp's own translation is coarse: a server that hangs up becomes a connect timeout. So the cause that aiohttp
or the operating system gave decides.
"""

import os
import socket
import ssl
from collections.abc import Callable, Iterator, Sequence

import aiohttp
import httpx

from ..durations import render_duration
from ..errors import RemoteError, RemoteStreamError, RemoteTimeoutError, RemoteUnreachableError
from ._clocks import Clock
from ._sse import MalformedStreamError
from ._tls import advise_on_certificate


class AppBrokeError(httpx.ReadError):
    """An app in this process broke off its answer."""


class ConnectExpiredError(httpx.ConnectTimeout):
    """There was no connection within `limit_s` seconds."""

    def __init__(self, limit_s: float) -> None:
        super().__init__("no connection in time")
        self.limit_s = limit_s


# All that the transport or the reading of a stream can raise.
LIBRARY_ERRORS = (httpx.HTTPError, httpx.InvalidURL, aiohttp.ClientError, MalformedStreamError, OSError)

_NEVER_CONNECTED = (
    aiohttp.ClientConnectorError,
    aiohttp.ConnectionTimeoutError,
    ConnectExpiredError,
    aiohttp.ClientHttpProxyError,
    aiohttp.InvalidURL,
    httpx.UnsupportedProtocol,
    httpx.InvalidURL,
)
# aiohttp has one class for whatever it cannot read, and says which by its words alone.
_TOO_LARGE = ("Got more than", "Too many headers")
_IS_IT_UP = "Check that the deployment is up and that the URL is right"
_WHY_BROKEN = "The deployment, or a proxy before it, broke off: look into its logs, the run itself may have gone on"


def translate(error: Exception, url: str, last_event: str | None) -> RemoteError:
    """Return the error of this package for one of `LIBRARY_ERRORS`; the stream had come as far as `last_event`."""
    causes = tuple(_causes(error))
    if any(isinstance(cause, _NEVER_CONNECTED) for cause in causes):
        return RemoteUnreachableError(url, *_describe_unreachable(causes))
    return RemoteStreamError(url, *_describe_broken(causes, last_event))


def timed_out(clock: Clock, url: str, last_event: str | None) -> RemoteTimeoutError:
    """Return the error of a clock that ran out."""
    limit = render_duration(clock.limit_s)
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
        "turn": (
            f"the turn was not done within {limit}; {seen}",
            "If it may take longer, raise --turn-timeout",
        ),
        "case": (
            f"the case was not done within {limit}; {seen}",
            "If it may take longer, raise its own timeout, or --timeout",
        ),
    }[clock.name]
    return RemoteTimeoutError(url, f"timed out: {happened}", advice, clock.name, last_event)


def ended_early(url: str, last_event: str | None, *, mid_frame: bool) -> RemoteStreamError:
    """Return the error of a stream that ended well-formed, but before `run.done`; `mid_frame` says where."""
    after = f"after {last_event}" if last_event else "without any event"
    where = ", in the middle of a frame" if mid_frame else ""
    return RemoteStreamError(url, f"the stream ended {after}{where}, before run.done", _WHY_BROKEN)


def too_large(url: str, what: str) -> RemoteStreamError:
    """Return the error of a stream that goes on beyond all bounds; `what` it has too much of."""
    advice = "No run is that long: look at what the deployment, or a proxy before it, keeps sending"
    return RemoteStreamError(url, f"the stream has more than {what}", advice)


def ended_without_reason(url: str) -> RemoteStreamError:
    """Return the error of a `run.done` that does not say how the run ended, as that of another protocol would not."""
    advice = "Check that the deployment speaks the /chat protocol"
    return RemoteStreamError(url, "run.done came without a finishReason", advice)


def forget_frames(error: BaseException) -> BaseException:
    """Return an error without the frames it passed: aiohttp's hold the Authorization header as a local."""
    for cause in _causes(error):
        cause.__traceback__ = cause.__context__ = None
    return error


def keep_cause(error: BaseException | None, scrub: Callable[[str], str]) -> BaseException | None:
    """Return an error that may be shown as a cause; None where it, or what led to it, holds a secret."""
    shown = "".join(f"{cause!r} {cause} {vars(cause)!r}" for cause in _causes(error))
    return error if scrub(shown) == shown else None


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__


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


def _describe_broken(causes: Sequence[BaseException], last_event: str | None) -> tuple[str, str]:
    after = f"after {last_event}" if last_event else "before the first event"
    for cause in causes:
        match cause:
            case AppBrokeError():
                return f"{cause} ({after})", "The app runs in this process: look at what it raised"
            case MalformedStreamError():
                return str(
                    cause
                ), "The URL may be that of something that speaks otherwise, or a proxy changes the stream"
            case aiohttp.ClientResponseError() if cause.message.startswith(_TOO_LARGE):
                happened = "the response headers are larger than any that a server should send"
                return happened, "Look at what the deployment, or a proxy before it, puts into its headers"
            case aiohttp.ClientResponseError():
                return "the answer is not HTTP that can be read", "Check that the URL and port are the deployment's"
            case httpx.DecodingError():
                return "the answer's compression is broken", "A proxy may compress the stream: let it leave it alone"
            case OSError(errno=int(number)):
                return f"the connection broke {after} ({os.strerror(number)})", _WHY_BROKEN
    return f"the connection was closed {after}", _WHY_BROKEN
