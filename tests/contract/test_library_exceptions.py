"""What the HTTP libraries may raise: a class that a newer version adds breaks these tests and not a user."""

import inspect
import socket
import ssl
from collections.abc import Callable
from unittest.mock import Mock

import aiohttp
import httpx
import httpx_aiohttp
import httpx_sse
import pytest
from aiohttp.client_reqrep import ConnectionKey
from httpx_aiohttp.transport import map_aiohttp_exceptions
from yarl import URL

from remote_evals.errors import MalformedStreamError, RemoteError, RemoteStreamError, RemoteUnreachableError
from remote_evals.transport.failures import LIBRARY_ERRORS, drop_tracebacks, translate

LIBRARIES = (httpx, aiohttp, httpx_aiohttp, httpx_sse)

# Classes that no request of this package can raise, each with the reason.
NEVER_RAISED: dict[type[Exception], str] = {
    httpx.StreamError: "a response is read once, while it is open",
    httpx.CookieConflict: "no cookie is read",
    aiohttp.WSMessageTypeError: "no web socket is opened",
    aiohttp.WebSocketError: "no web socket is opened",
    aiohttp.EofStream: "only inside aiohttp's readers",
    aiohttp.BadContentDispositionHeader: "no content disposition is read",
    aiohttp.BadContentDispositionParam: "no content disposition is read",
}


def public_errors() -> list[type[Exception]]:
    """Return every public exception class of the libraries, sorted by name."""
    found = {
        value
        for library in LIBRARIES
        for name, value in vars(library).items()
        if inspect.isclass(value) and issubclass(value, Exception) and not name.startswith("_")
    }
    return sorted(found, key=lambda error: (error.__module__, error.__name__))


RAISED = [error for error in public_errors() if not issubclass(error, tuple(NEVER_RAISED))]

KEY = ConnectionKey("agent.test", 443, is_ssl=True, ssl=True, proxy=None, proxy_auth=None, proxy_headers_hash=None)
REFUSED = ConnectionRefusedError(111, "Connection refused")
REQUEST = httpx.Request("POST", "https://agent.test/chat")

# How to make an exception of a class or of its subclasses; the nearest base class decides.
MAKERS: dict[type[Exception], Callable[[type[Exception]], Exception]] = {
    Exception: lambda kind: kind("secret words"),
    httpx.HTTPStatusError: lambda _: httpx.HTTPStatusError("x", request=REQUEST, response=httpx.Response(500)),
    aiohttp.ClientConnectorError: lambda kind: kind(KEY, REFUSED),
    aiohttp.ClientResponseError: lambda kind: kind(Mock(real_url=URL("https://agent.test/chat")), ()),
    aiohttp.ServerFingerprintMismatch: lambda kind: kind(b"a", b"b", "agent.test", 443),
    aiohttp.ClientOSError: lambda kind: kind(104, "Connection reset by peer"),
}


def make(kind: type[Exception]) -> Exception:
    """Return an exception of this class."""
    return next(MAKERS[base] for base in kind.__mro__ if base in MAKERS)(kind)


def raised_through_httpx(error: Exception) -> Exception:
    """Return the exception that httpx-aiohttp raises where aiohttp raised `error`."""
    try:
        with map_aiohttp_exceptions():
            raise error
    except Exception as mapped:
        return mapped


def get_name(kind: type[Exception]) -> str:
    """Return the qualified name of a class."""
    return f"{kind.__module__}.{kind.__name__}"


def test_every_class_of_the_libraries_is_known() -> None:
    """Each exception class is either caught where a turn is run, or known never to be raised there."""
    assert [get_name(kind) for kind in RAISED if not issubclass(kind, LIBRARY_ERRORS)] == []


def test_no_class_is_excused_that_is_caught() -> None:
    """No class in the list of those never raised is caught or gone."""
    assert [get_name(kind) for kind in NEVER_RAISED if issubclass(kind, LIBRARY_ERRORS)] == []
    assert set(NEVER_RAISED) <= set(public_errors())


@pytest.mark.parametrize("kind", RAISED, ids=get_name)
def test_every_class_is_translated(kind: type[Exception]) -> None:
    """Each class becomes an error of this package that says where, what happened and what to try, on one line."""
    raised = raised_through_httpx(make(kind))
    assert isinstance(raised, LIBRARY_ERRORS)
    for error in (
        translate(make(kind), "https://agent.test/chat", "before the first event"),
        translate(raised, "https://agent.test/chat", "after text.delta"),
    ):
        assert isinstance(error, RemoteStreamError | RemoteUnreachableError)
        assert (error.url, error.happened != "", error.advice != "") == ("https://agent.test/chat", True, True)
        assert str(error) == f"https://agent.test/chat: {error.happened}. {error.advice}."
        assert "secret words" not in str(error)


@pytest.mark.parametrize("kind", [ConnectionResetError, BrokenPipeError, TimeoutError, ssl.SSLError, socket.gaierror])
def test_what_the_system_raises_is_translated(kind: type[OSError]) -> None:
    """An error of the operating system that no library wrapped becomes an error of this package too."""
    error = kind(104, "as the system says")
    assert isinstance(error, LIBRARY_ERRORS)
    assert isinstance(translate(error, "https://agent.test/chat", "after text.delta"), RemoteError)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (aiohttp.ClientConnectorDNSError, RemoteUnreachableError),
        (aiohttp.ClientConnectorCertificateError, RemoteUnreachableError),
        (aiohttp.ClientConnectorSSLError, RemoteUnreachableError),
        (aiohttp.ClientProxyConnectionError, RemoteUnreachableError),
        (aiohttp.ClientHttpProxyError, RemoteUnreachableError),
        (aiohttp.ConnectionTimeoutError, RemoteUnreachableError),
        (aiohttp.NonHttpUrlClientError, RemoteUnreachableError),
        (aiohttp.ServerDisconnectedError, RemoteStreamError),
        (aiohttp.ClientPayloadError, RemoteStreamError),
        (aiohttp.ClientConnectionResetError, RemoteStreamError),
        (aiohttp.ClientResponseError, RemoteStreamError),
        (httpx.DecodingError, RemoteStreamError),
        (MalformedStreamError, RemoteStreamError),
    ],
    ids=lambda kind: kind.__name__,
)
def test_never_connected_is_told_from_broken_off(kind: type[Exception], expected: type[RemoteError]) -> None:
    """The cause from aiohttp, not the coarse class of httpx, decides whether the agent may have seen the request."""
    assert (
        type(translate(raised_through_httpx(make(kind)), "https://agent.test/chat", "before the first event"))
        is expected
    )


def test_a_translated_error_keeps_no_frame() -> None:
    """No error in the chain of causes keeps its traceback, whose frames hold the request headers."""
    raised = raised_through_httpx(make(aiohttp.ServerDisconnectedError))
    chain = [raised, raised.__cause__]
    assert all(error and error.__traceback__ for error in chain)
    drop_tracebacks(raised)
    assert not any(error and (error.__traceback__ or error.__context__) for error in chain)
