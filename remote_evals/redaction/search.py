"""Finds secrets in text that comes back: as they are, escaped in any way, and inside base64.

Base64 is searched for the characters that a secret gives to the base64 of any text that holds it.
"""

import base64
import re
from collections.abc import Iterable, Iterator

from .escapes import ANY_ESCAPE, UNCOMMON_ESCAPES, RewrittenText, is_escaped, strip_cut_escape, unescape

# Replacing a shorter one would blot out other words too.
MIN_SECRET_CHARS = 8

# The most bytes that spell one character, for example as HTML with leading zeros in JSON.
_LONGEST_SPELLING = 64
_IN_UNCOMMON_ESCAPES = re.compile(rb"[ !#-\[\]-~]*")
_NUMBER = re.compile(rb"[0-9.e+-]+")

# A text is searched in blocks, so that an escape slows down the search of what is near it only.
_BLOCK_BYTES = 16 * 1024

# JSON inside JSON is escaped twice, and may stand in a URL.
_MAX_LAYERS = 3

# Base64 is wrapped into lines, which are then escaped for JSON.
_WRAP = re.compile(rb"(\\+[nr]|[\s\\]+)")
_STANDARD_BASE64 = bytes.maketrans(b"-_", b"+/")
_BASE64_REST = re.compile(rb"[a-z0-9+/]?={0,2}")

_Spans = list[tuple[int, int]]


class SecretPatterns:
    """What to find in lower-case text, in lower case itself: `plain` as it stands, `base64` within base64 only.

    Each of `base64` comes with whether its last bits share a character with what follows. `reach` is the most bytes
    that spell a pattern, `shortest` the least. `escapes` match every escape that can stand in one, and `in_numbers`
    is whether a JSON number can hold one.
    """

    __slots__ = ("base64", "escapes", "in_numbers", "plain", "reach", "shortest")

    def __init__(
        self, plain: frozenset[bytes] = frozenset(), in_base64: frozenset[tuple[bytes, bool]] = frozenset()
    ) -> None:
        self.plain = plain
        self.base64 = in_base64
        lengths = [len(pattern) for pattern in (*plain, *(core for core, _ in in_base64))]
        self.shortest = min(lengths, default=0)
        self.reach = max(lengths, default=0) * _LONGEST_SPELLING
        self.escapes = UNCOMMON_ESCAPES if all(map(_IN_UNCOMMON_ESCAPES.fullmatch, plain)) else ANY_ESCAPE
        self.in_numbers = any(map(_NUMBER.fullmatch, plain))

    def __or__(self, other: "SecretPatterns") -> "SecretPatterns":
        return SecretPatterns(self.plain | other.plain, self.base64 | other.base64)


def make_patterns(secret: str) -> SecretPatterns:
    """Return the patterns that find a secret; none if it is too short."""
    if explain_short_secret(secret):
        return SecretPatterns()
    raw = secret.encode("utf-8", "surrogatepass")
    # Form encoding writes a space as a plus.
    plain = {raw, raw.replace(b" ", b"+"), *_unescape_layers(raw)}
    return SecretPatterns(frozenset(map(bytes.lower, plain)), frozenset(_make_base64_core(raw, at) for at in range(3)))


def explain_short_secret(secret: str) -> str | None:
    """Return why a secret is too short to be kept out of every report, or None if it is not."""
    if len(secret) >= MIN_SECRET_CHARS:
        return None
    return (
        f"it has only {len(secret)} character(s), and a secret is replaced everywhere in every report: replacing one "
        f"of fewer than {MIN_SECRET_CHARS} would blot out other words too"
    )


def _unescape_layers(raw: bytes) -> Iterator[bytes]:
    """Yield a secret that looks escaped itself as it reads once the escapes of the text around it are undone."""
    for _ in range(2):
        raw = unescape(raw).text
        if len(raw) >= MIN_SECRET_CHARS:
            yield raw


def _make_base64_core(raw: bytes, offset: int) -> tuple[bytes, bool]:
    """Return the base64 of bytes inside a longer text, without the characters that depend on the text around them."""
    bits = 8 * (offset + len(raw))
    core = base64.b64encode(bytes(offset) + raw)[-(-8 * offset // 6) : bits // 6]
    return core.lower(), bits % 6 > 0


def find_secrets(text: bytes, patterns: SecretPatterns) -> _Spans:
    """Return where the patterns are in UTF-8 text: starts and ends, in order, that do not overlap."""
    if len(text) < patterns.shortest:
        return []
    found: _Spans = []
    size = max(_BLOCK_BYTES, 2 * patterns.reach)
    for at in range(0, len(text), size):
        block = text[at : at + size + patterns.reach]
        found += [(at + start, at + end) for start, end in _search(block, patterns)]
    return merge_spans(text, found) if found else found


def find_cut_secret(text: bytes, patterns: SecretPatterns) -> int | None:
    """Return where a pattern starts that the end of the text cuts off after 8 bytes or more, or None."""
    at = max(len(text) - patterns.reach, 0)
    return min((at + start for start, _ in _search_end(text[at:], patterns)), default=None)


def merge_spans(text: bytes, spans: _Spans) -> _Spans:
    """Return the spans in order, with overlapping ones merged, widened where they split a UTF-8 character."""
    merged: _Spans = []
    for start, end in sorted((_find_char_edge(text, start, -1), _find_char_edge(text, end, 1)) for start, end in spans):
        if merged and start < merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged


def _find_char_edge(text: bytes, at: int, step: int) -> int:
    """Return the offset itself, or the next one in this direction that is not inside a UTF-8 character."""
    while 0 < at < len(text) and 0x80 <= text[at] < 0xC0:
        at += step
    return at


def _search(text: bytes, patterns: SecretPatterns, layers: int = _MAX_LAYERS) -> _Spans:
    """Return where patterns are in the text as it stands, and with up to `layers` layers of escapes undone."""
    spans = _find(text, patterns)
    if layers and is_escaped(text, patterns.escapes):
        unescaped = unescape(text)
        spans += unescaped.find_origins(_search(unescaped.text, patterns, layers - 1))
    return spans


def _find(text: bytes, patterns: SecretPatterns) -> _Spans:
    lower = text.lower()
    spans: _Spans = []
    for pattern in patterns.plain:
        if pattern in lower:
            spans += _find_all(pattern, lower)
    # Most texts hold no base64 of a secret, and it is faster to check that than to map where it stands.
    run = lower.replace(rb"\n", b" ").replace(rb"\r", b" ") if b"\\" in lower else lower
    run = run.translate(_STANDARD_BASE64, b" \t\r\n\\")
    for core, _ in patterns.base64:
        if core in run:
            return spans + _find_base64(lower, patterns)
    return spans


def _find_base64(lower: bytes, patterns: SecretPatterns) -> _Spans:
    unwrapped = _unwrap(lower)
    run = unwrapped.text.translate(_STANDARD_BASE64)
    spans: _Spans = []
    for core, has_rest in patterns.base64:
        for start, end in _find_all(core, run):
            rest = _BASE64_REST.match(run, end) if has_rest else None
            spans.append((start, rest.end() if rest else end))
    return unwrapped.find_origins(spans)


def _find_all(pattern: bytes, text: bytes) -> Iterator[tuple[int, int]]:
    start = text.find(pattern)
    while start >= 0:
        yield start, start + len(pattern)
        start = text.find(pattern, start + len(pattern))


def _search_end(text: bytes, patterns: SecretPatterns, layers: int = _MAX_LAYERS) -> _Spans:
    """Return where a pattern that the end cuts off starts, searching as `_search` does; the end may cut an escape."""
    spans: _Spans = []
    for whole in {text, strip_cut_escape(text)}:
        spans += _find_at_end(whole, patterns)
        if layers and is_escaped(whole, patterns.escapes):
            unescaped = unescape(whole)
            spans += unescaped.find_origins(_search_end(unescaped.text, patterns, layers - 1))
    return spans


def _find_at_end(text: bytes, patterns: SecretPatterns) -> _Spans:
    lower = text.lower()
    unwrapped = _unwrap(lower)
    in_base64 = _find_starts(unwrapped.text.translate(_STANDARD_BASE64), [core for core, _ in patterns.base64])
    return [*_find_starts(lower, patterns.plain), *unwrapped.find_origins(list(in_base64))]


def _find_starts(text: bytes, patterns: Iterable[bytes]) -> Iterator[tuple[int, int]]:
    """Yield the spans at the end of the text that hold at least the first 8 bytes of a pattern, but not all of it."""
    for pattern in patterns:
        for length in range(MIN_SECRET_CHARS, len(pattern)):
            if text.endswith(pattern[:length]):
                yield len(text) - length, len(text)


def _unwrap(text: bytes) -> RewrittenText:
    return RewrittenText(text, _WRAP, lambda _: b"")
