"""Bodies that are not streams: pages, errors and transcripts, some of them invalid."""

import json
from random import Random
from typing import Any

from .pieces import TOKEN
from .streams import damage_bytes

_CONTROLS = "\x1b[31m\x00\x7f\x85\u202e"
_PAGES = [b"<html>\n<title>Sign in</title>", _CONTROLS.encode(), b"\xff\xfe", b"x" * 70_000, b"", TOKEN.encode() * 3]
_ERRORS: list[Any] = [
    None,
    1,
    [],
    {},
    "",
    "Unauthorized",
    "two\nlines",
    _CONTROLS,
    "x" * 5_000,
    f"no {TOKEN}",
    "\ud800",
]
_MESSAGES: list[Any] = [
    [],
    [{}],
    [{"role": "user", "content": TOKEN}],
    [{TOKEN: [TOKEN]}],
    [{"\x00": "\ud800" * 50}],
    [1],
    [[]],
    None,
    {},
    "x",
]
_TRANSCRIPTS: list[Any] = [{}, [], None, 1, "x", {"error": "x" * 9_000}, {TOKEN: TOKEN}]


def make_page(rng: Random) -> bytes:
    """Return a page, or other bytes in its place."""
    return rng.choice(_PAGES)


def make_error(rng: Random) -> bytes:
    """Return the body of an error response."""
    return _damage_some(json.dumps({"error": rng.choice(_ERRORS)}).encode(), rng)


def make_transcript(rng: Random) -> bytes:
    """Return a body that may be a transcript."""
    deep = b"[" * 3_000
    kept = json.dumps({"messages": rng.choice(_MESSAGES)}).encode()
    return _damage_some(rng.choice([deep, kept, kept, json.dumps(rng.choice(_TRANSCRIPTS)).encode()]), rng)


def _damage_some(body: bytes, rng: Random) -> bytes:
    return body if rng.randrange(3) else damage_bytes(body, rng)
