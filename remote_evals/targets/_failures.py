"""What the libraries raise, as the errors of this package: translated once, here, by the original cause.

httpx-aiohttp's own translation is coarse: a server that hangs up becomes a connect timeout. So the cause that aiohttp
or the operating system gave decides.
"""

import os
import socket
import ssl
from collections.abc import Sequence

import aiohttp
import httpx

from ..core.durations import render_duration
from ..errors import RemoteError, RemoteStreamError, RemoteUnreachableError
from ._causes import causes_of
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
    httpx.ConnectError,
    aiohttp.ClientHttpProxyError,
    aiohttp.InvalidURL,
    httpx.UnsupportedProtocol,
    httpx.InvalidURL,
)
# aiohttp has one class for whatever it cannot read, and says which by its words alone.
_TOO_LARGE = ("Got more than", "Too many headers")
_IS_IT_UP = "Check that the deployment is up and that the URL is right"
WHY_BROKEN = "The deployment, or a proxy before it, broke off: look into its logs, the run itself may have gone on"


def translate(error: Exception, url: str, when: str) -> RemoteError:
    """Return the error of this package for one of `LIBRARY_ERRORS`, met `when`: "after tool.start", say."""
    causes = tuple(causes_of(error))
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
                return f"the connection broke {when} ({os.strerror(number)})", WHY_BROKEN
    return f"the connection was closed {when}", WHY_BROKEN
