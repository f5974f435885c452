"""The start of a wrong answer's body, as a message may quote it."""

import asyncio
import json
from collections.abc import Callable
from contextlib import suppress

import httpx

from ._failures import LIBRARY_ERRORS

MAX_BODY_BYTES = 64 * 1024
MAX_BODY_S = 5.0
MAX_TEXT_CHARS = 300
MAX_SECRET_CHARS = 4096

# Their decoders let a small answer grow no further than about a thousandfold.
BOUNDED_ENCODINGS = ("", "identity", "gzip", "deflate")


def encoding_of(response: httpx.Response) -> str:
    """Return the content-encoding in small letters, empty for none."""
    return str(response.headers.get("content-encoding", "")).strip().lower()


async def read_quote(response: httpx.Response, scrub: Callable[[str], str], left_s: float) -> str:
    """Return `: ` and one line of at most 300 characters of what `scrub` leaves of a body; nothing for no body.

    At most 64 KiB are read, for half of the `left_s` seconds and at most 5.
    """
    if encoding_of(response) not in BOUNDED_ENCODINGS:
        return ""
    return _quote(scrub(await _read_body(response, min(left_s / 2, MAX_BODY_S))))


async def _read_body(response: httpx.Response, limit_s: float) -> str:
    """Return the start of a body, as far as it comes: the status is known, and a body that hangs does not change it."""
    body, is_whole = bytearray(), False
    with suppress(*LIBRARY_ERRORS):
        async with asyncio.timeout(limit_s):
            async for part in response.aiter_bytes():
                body += part
                if len(body) >= MAX_BODY_BYTES:
                    break
            else:
                is_whole = True
    text = body[:MAX_BODY_BYTES].decode("utf-8", "replace")
    # The last word of a body that was not read to its end may be half a secret, which no redactor knows.
    return text if is_whole else _without_last_word(text)


def _without_last_word(text: str) -> str:
    end = text[-MAX_SECRET_CHARS:]
    return text if not end.split() or end[-1].isspace() else text[: -len(end.split()[-1])]


def _quote(body: str) -> str:
    """Return `: ` and the server's `{"error"}` text, or the start of its body, on one line; nothing for no body."""
    try:
        value = json.loads(body)
        error = value.get("error") if isinstance(value, dict) else None
    except (ValueError, RecursionError):
        error = None
    text = " ".join((error if isinstance(error, str) else body).split())
    if not text:
        return ""
    return f": {text if len(text) <= MAX_TEXT_CHARS else text[: MAX_TEXT_CHARS - 1] + '…'}"
