"""What to look for where a secret may come back: itself, and what stands in any base64 of a text that holds it."""

import base64
import re
from collections.abc import Iterable, Iterator

from .escapes import ANY_ESCAPE, UNCOMMON_ESCAPES, Rewritten, is_escaped, unescape, without_cut_escape

# Shorter, and hiding it would blot out other words too.
MIN_SECRET_CHARS = 8

# The most bytes that spell one character: JSON of HTML with leading zeros, say.
_LONGEST_SPELLING = 64
_IN_UNCOMMON_ESCAPES = re.compile(rb"[ !#-\[\]-~]*")
_NUMBER = re.compile(rb"[0-9.e+-]+")


class Needles:
    """Bytes in small letters, to be found in text in small letters: `plain` as they are, `base64` in base64 alone.

    Each of `base64` comes with whether its last bits share a character with what is behind them. `reach` is how many
    bytes may spell a needle, `escapes` match whatever escape can stand in one.
    """

    __slots__ = ("base64", "escapes", "in_numbers", "plain", "reach", "shortest")

    def __init__(
        self, plain: frozenset[bytes] = frozenset(), in_base64: frozenset[tuple[bytes, bool]] = frozenset()
    ) -> None:
        self.plain = plain
        self.base64 = in_base64
        lengths = [len(needle) for needle in (*plain, *(core for core, _ in in_base64))]
        self.shortest = min(lengths, default=0)
        self.reach = max(lengths, default=0) * _LONGEST_SPELLING
        self.escapes = UNCOMMON_ESCAPES if all(map(_IN_UNCOMMON_ESCAPES.fullmatch, plain)) else ANY_ESCAPE
        self.in_numbers = any(map(_NUMBER.fullmatch, plain))

    def __or__(self, other: "Needles") -> "Needles":
        return Needles(self.plain | other.plain, self.base64 | other.base64)


def explain_short_secret(secret: str) -> str | None:
    """Return why a secret is too short to be kept out of every report, None for one that is not."""
    if len(secret) >= MIN_SECRET_CHARS:
        return None
    return (
        f"it has only {len(secret)} character(s), and a secret is kept out of every report wherever it stands: one of "
        f"fewer than {MIN_SECRET_CHARS} would blot out other words too"
    )


def make_needles(secret: str) -> Needles:
    """Return what to look for to find a secret; nothing for one that is too short."""
    if explain_short_secret(secret):
        return Needles()
    raw = secret.encode("utf-8", "surrogatepass")
    # As a form is encoded, a space is a plus.
    plain = {raw, raw.replace(b" ", b"+"), *_as_escaped(raw)}
    return Needles(frozenset(map(bytes.lower, plain)), frozenset(_base64_core(raw, at) for at in range(3)))


def _as_escaped(raw: bytes) -> Iterator[bytes]:
    """Yield what is left of a secret that looks escaped itself, where the escapes around it are undone."""
    for _ in range(2):
        raw = unescape(raw).text
        if len(raw) >= MIN_SECRET_CHARS:
            yield raw


def _base64_core(raw: bytes, offset: int) -> tuple[bytes, bool]:
    """Return the base64 of bytes in a longer text, as far as what is before and behind them does not change it."""
    bits = 8 * (offset + len(raw))
    core = base64.b64encode(bytes(offset) + raw)[-(-8 * offset // 6) : bits // 6]
    return core.lower(), bits % 6 > 0


# A text is searched block by block, so that an escape makes no more slow to search than what is near it.
_BLOCK_BYTES = 16 * 1024

# Base64 is wrapped into lines, and escaped for JSON then.
_WRAP = re.compile(rb"(\\+[nr]|[\s\\]+)")
_STANDARD_BASE64 = bytes.maketrans(b"-_", b"+/")
_BASE64_REST = re.compile(rb"[a-z0-9+/]?={0,2}")

# JSON inside JSON is escaped twice, and may stand in a URL.
_MAX_LAYERS = 3

_Spans = list[tuple[int, int]]


def find_echoes(text: bytes, needles: Needles) -> _Spans:
    """Return where the needles are in UTF-8 text, in order, as starts and ends that do not overlap."""
    if len(text) < needles.shortest:
        return []
    found: _Spans = []
    size = max(_BLOCK_BYTES, 2 * needles.reach)
    for at in range(0, len(text), size):
        block = text[at : at + size + needles.reach]
        found += [(at + start, at + end) for start, end in _search(block, needles)]
    return merge_spans(text, found) if found else found


def find_cut_echo(text: bytes, needles: Needles) -> int | None:
    """Return where a needle starts that the end of the text cuts off, None where none of 8 bytes and more does."""
    at = max(len(text) - needles.reach, 0)
    return min((at + start for start, _ in _search_end(text[at:], needles)), default=None)


def merge_spans(text: bytes, spans: _Spans) -> _Spans:
    """Return the spans in order, those that overlap as one, and none that starts or ends inside a character."""
    merged: _Spans = []
    for start, end in sorted((_edge_of(text, start, -1), _edge_of(text, end, 1)) for start, end in spans):
        if merged and start < merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged


def _search(text: bytes, needles: Needles, layers: int = _MAX_LAYERS) -> _Spans:
    """Return where needles are in the text, and in what is left of it with up to so many layers of escapes undone."""
    spans = _find(text, needles)
    if layers and is_escaped(text, needles.escapes):
        undone = unescape(text)
        spans += undone.find_origins(_search(undone.text, needles, layers - 1))
    return spans


def _search_end(text: bytes, needles: Needles, layers: int = _MAX_LAYERS) -> _Spans:
    """Do the same for the start of a needle at the end, where an escape may be cut off too."""
    spans: _Spans = []
    for whole in {text, without_cut_escape(text)}:
        spans += _find_at_end(whole, needles)
        if layers and is_escaped(whole, needles.escapes):
            undone = unescape(whole)
            spans += undone.find_origins(_search_end(undone.text, needles, layers - 1))
    return spans


def _find(text: bytes, needles: Needles) -> _Spans:
    small = text.lower()
    spans: _Spans = []
    for needle in needles.plain:
        if needle in small:
            spans += _places_of(needle, small)
    # Most texts hold no base64 of a secret, which is faster to see than to say where it is.
    run = small.replace(rb"\n", b" ").replace(rb"\r", b" ") if b"\\" in small else small
    run = run.translate(_STANDARD_BASE64, b" \t\r\n\\")
    for core, _ in needles.base64:
        if core in run:
            return spans + _find_base64(small, needles)
    return spans


def _find_base64(small: bytes, needles: Needles) -> _Spans:
    unwrapped = _unwrap(small)
    run = unwrapped.text.translate(_STANDARD_BASE64)
    spans: _Spans = []
    for core, has_rest in needles.base64:
        for start, end in _places_of(core, run):
            rest = _BASE64_REST.match(run, end) if has_rest else None
            spans.append((start, rest.end() if rest else end))
    return unwrapped.find_origins(spans)


def _find_at_end(text: bytes, needles: Needles) -> _Spans:
    small = text.lower()
    unwrapped = _unwrap(small)
    in_base64 = _starts_at_end(unwrapped.text.translate(_STANDARD_BASE64), [core for core, _ in needles.base64])
    return [*_starts_at_end(small, needles.plain), *unwrapped.find_origins(list(in_base64))]


def _starts_at_end(text: bytes, needles: Iterable[bytes]) -> Iterator[tuple[int, int]]:
    """Yield where needles start of which the text holds the first 8 bytes or more, and not the end."""
    for needle in needles:
        for length in range(MIN_SECRET_CHARS, len(needle)):
            if text.endswith(needle[:length]):
                yield len(text) - length, len(text)


def _edge_of(text: bytes, at: int, step: int) -> int:
    """Return the place itself, or the next one by steps that is not inside a character of UTF-8."""
    while 0 < at < len(text) and 0x80 <= text[at] < 0xC0:
        at += step
    return at


def _places_of(needle: bytes, text: bytes) -> Iterator[tuple[int, int]]:
    start = text.find(needle)
    while start >= 0:
        yield start, start + len(needle)
        start = text.find(needle, start + len(needle))


def _unwrap(text: bytes) -> Rewritten:
    return Rewritten(text, _WRAP, lambda _: b"")
