"""What a deployment answers to `GET /health`, which never needs a token."""

import time
from collections.abc import Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass

import httpx

from ..core.text import make_printable
from ..core.urls import join_url, show_url
from ..errors import RemoteError, RemoteStatusError, RemoteStreamError, RemoteTimeoutError
from ._clocks import Clocks
from ._guard import run_guarded
from ._link import Link
from ._status import read_failure
from .remote import RemoteTarget

MAX_HEALTH_S = 5.0
MAX_QUOTE_CHARS = 200

_HEADERS = {
    "Accept": "*/*",
    "Accept-Encoding": "identity",
    # A cache may still know the build before.
    "Cache-Control": "no-cache",
}
_BROKE = "The deployment, or a proxy before it, broke off: look at its logs, and check the URL and port"
_SILENT = "The deployment, or the way to it, does not answer"
_ASKED_BARE = "/health is asked without the token: let it answer without, or give what a proxy wants by --header"
_ADVICE = {
    401: _ASKED_BARE,
    403: _ASKED_BARE,
    404: "Check the URL, and that the deployment answers GET /health",
    429: "The deployment, or a proxy before it, limits how often it may be asked",
}


@dataclass(frozen=True, slots=True)
class Health:
    """An answer of whatever status, whose headers came after `elapsed_ms`.

    `url` has no query. `headers` has its names in lower case and is as the deployment sent it: scrub what you quote.
    `failure` says what another status than 2xx means, already scrubbed; None for a 2xx.
    """

    url: str
    status: int
    headers: Mapping[str, str]
    elapsed_ms: float
    failure: RemoteStatusError | None


async def read_health(target: RemoteTarget, limit_s: float = MAX_HEALTH_S) -> Health:
    """Ask once, with the target's own headers and without its token, over a connection of its own.

    Enters the target. Raises `RemoteError`, without a cause, when no answer comes within `limit_s` seconds.
    """
    url, scrub = join_url(target.url, "/health"), target.redactor.scrub
    async with target:
        link = target.link
        try:
            return await run_guarded(
                lambda clocks: _ask(link, url, limit_s, scrub, clocks), url, None, at_first="before it answered"
            )
        except RemoteError as failure:
            restated = _restate_failure(failure)
    restated.rewrite(lambda happened: make_printable(scrub(happened), MAX_QUOTE_CHARS))
    raise restated


async def _ask(link: Link, url: str, limit_s: float, scrub: Callable[[str], str], clocks: Clocks) -> Health:
    clocks.start("headers", limit_s)
    started, shown = time.perf_counter(), show_url(url)
    async with aclosing(await link.send("GET", url, _HEADERS, token=None)) as response:
        elapsed_ms = (time.perf_counter() - started) * 1000
        found = None if response.is_success else await read_failure(response, shown, scrub, clocks.left_s)
        failure = _restate_status(found, response) if found else None
        return Health(shown, response.status_code, dict(response.headers), elapsed_ms, failure)


def _restate_status(failure: RemoteError, response: httpx.Response) -> RemoteStatusError:
    """Return what a status means here, where no token was sent but one that stands in the target's own headers."""
    status = response.status_code
    is_refused = status == 401 and "authorization" in response.request.headers
    advice = failure.advice if response.is_redirect or is_refused else _advise(status, failure.url)
    restated = RemoteStatusError(failure.url, make_printable(failure.happened, MAX_QUOTE_CHARS), advice, status)
    restated.retry_after_s = failure.retry_after_s
    return restated


def _advise(status: int, url: str) -> str:
    added = next((path for path in ("/chat", "/health") if url.endswith(f"{path}/health")), None)
    if status == 404 and added:
        return f"Leave {added} off the URL: it is added"
    default = "Check the deployment's logs" if status >= 500 else "Give the deployment's base URL: /health is added"
    return _ADVICE.get(status, default)


def _restate_failure(failure: RemoteError) -> RemoteError:
    """Return an error in words that are not of a turn and its stream."""
    match failure:
        case RemoteTimeoutError():
            return RemoteTimeoutError(failure.url, failure.happened, _SILENT, failure.clock, None)
        case RemoteStreamError():
            return RemoteStreamError(failure.url, failure.happened, _BROKE)
    failure.__cause__ = None
    return failure
