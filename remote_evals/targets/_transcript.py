"""The transcript of a session, read back from the deployment's own store."""

import json
from collections.abc import Callable
from contextlib import aclosing
from typing import Any

import httpx

from ..core.urls import show_url
from ..errors import RemoteError, RemoteStreamError
from ..redaction import Secret
from ._broken_turns import too_large
from ._clocks import Clocks, Deadline, Limits
from ._guard import run_guarded
from ._link import Link
from ._status import read_failure

MAX_TRANSCRIPT_BYTES = 16 * 1024 * 1024

_HEADERS = {"Accept": "application/json", "Accept-Encoding": "identity"}


async def read_messages(
    link: Link,
    url: str,
    token: Secret | None,
    limits: Limits,
    deadline: Deadline | None,
    scrub: Callable[[str], str],
) -> list[dict[str, Any]]:
    """Return the `messages` of `GET /chat/<session>`. Raises `RemoteError`."""

    async def read(clocks: Clocks) -> list[dict[str, Any]] | RemoteError:
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

    return await run_guarded(read, url, deadline)


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
