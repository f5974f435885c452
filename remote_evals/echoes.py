"""Finds secrets in what somebody sends back: as they are, URL-encoded, escaped for JSON or HTML, and inside base64."""

import base64
import re
from array import array
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

# Shorter, and hiding it would blot out other words too.
MIN_SECRET_CHARS = 8

# A URL inside a URL, or JSON inside JSON, is escaped twice.
_MAX_LAYERS = 2
_ESCAPE = re.compile(
    rb'%([0-9a-f]{2})|\\u([0-9a-f]{4})|&#x([0-9a-f]{1,5});|&#([0-9]{1,5});|\\(["\\/bfnrt])|&(amp|lt|gt|quot|apos);',
    re.IGNORECASE,
)
_NAMED = {b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t"}
_NAMED |= {b"amp": b"&", b"lt": b"<", b"gt": b">", b"quot": b'"', b"apos": b"'"}
_BASE64_REST = re.compile(rb"[\w+/-]?={0,2}")


@dataclass(frozen=True, slots=True)
class Needle:
    """Bytes to look for, in small letters; the last bits of base64 may share a character with what comes behind."""

    text: bytes = field(repr=False)
    has_rest: bool = False


def explain_short_secret(secret: str) -> str | None:
    """Return why a secret is too short to be kept out of every report, None for one that is not."""
    if len(secret) >= MIN_SECRET_CHARS:
        return None
    return (
        f"it has only {len(secret)} character(s), and a secret is kept out of every report wherever it stands: one of "
        f"fewer than {MIN_SECRET_CHARS} would blot out other words too"
    )


def make_needles(secret: str) -> Iterator[Needle]:
    """Yield what to look for; base64 only of a secret that is long enough for it not to be found by chance."""
    raw = secret.encode("utf-8", "surrogatepass")
    yield Needle(raw.lower())
    if b" " in raw:
        yield Needle(raw.lower().replace(b" ", b"+"))
    if len(raw) >= MIN_SECRET_CHARS:
        yield from (needle for offset in range(3) for needle in _base64_needles(raw, offset))


def _base64_needles(raw: bytes, offset: int) -> Iterator[Needle]:
    """Yield the base64 of bytes in a longer text, as far as what is before and behind them does not change it."""
    bits = 8 * (offset + len(raw))
    core = base64.b64encode(bytes(offset) + raw)[-(-8 * offset // 6) : bits // 6].lower()
    yield Needle(core, bits % 6 > 0)
    yield Needle(core.replace(b"+", b"-").replace(b"/", b"_"), bits % 6 > 0)


def find_echoes(text: bytes, needles: Collection[Needle]) -> list[tuple[int, int]]:
    """Return where the needles are in UTF-8 text, in order, as starts and ends that do not overlap."""
    found: list[tuple[int, int]] = []
    for plain, origins in _layers(text):
        for start, end in _find(plain.lower(), needles):
            found.append((origins[start], origins[end]))
    return _merge(found)


def _layers(text: bytes) -> Iterator[tuple[bytes, Sequence[int]]]:
    """Yield the text, and what is left of it with escapes undone, each with the place in the text of each byte."""
    origins: Sequence[int] = range(len(text) + 1)
    yield text, origins
    for _ in range(_MAX_LAYERS):
        if not _ESCAPE.search(text):
            return
        text, places = _unescape(text)
        origins = array("Q", (origins[place] for place in places))
        yield text, origins


def _unescape(text: bytes) -> tuple[bytes, Sequence[int]]:
    plain, origins, at = bytearray(), array("Q"), 0
    for found in _ESCAPE.finditer(text):
        start, character = found.start(), _read(found)
        plain += text[at:start] + character
        origins.extend(range(at, start))
        origins.extend([start] * len(character))
        at = found.end()
    origins.extend(range(at, len(text) + 1))
    return bytes(plain + text[at:]), origins


def _read(found: re.Match[bytes]) -> bytes:
    group = found.lastindex or 0
    digits = found[group]
    match group:
        case 1:
            return bytes([int(digits, 16)])
        case 2 | 3 | 4:
            return chr(int(digits, 10 if group == 4 else 16)).encode("utf-8", "surrogatepass")
    return _NAMED.get(digits.lower(), digits)


def _find(text: bytes, needles: Collection[Needle]) -> Iterator[tuple[int, int]]:
    for needle in needles:
        start = text.find(needle.text)
        while start >= 0:
            end = start + len(needle.text)
            rest = _BASE64_REST.match(text, end) if needle.has_rest else None
            yield start, rest.end() if rest else end
            start = text.find(needle.text, end)


def _merge(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged
