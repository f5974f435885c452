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


class SecretPatterns:
    """Bytes in small letters, to be found in text in small letters: `plain` as they are, `base64` in base64 alone.

    Each of `base64` comes with whether its last bits share a character with what is behind them. `reach` is how many
    bytes may spell a pattern, `escapes` match whatever escape can stand in one.
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


def explain_short_secret(secret: str) -> str | None:
    """Return why a secret is too short to be kept out of every report, None for one that is not."""
    if len(secret) >= MIN_SECRET_CHARS:
        return None
    return (
        f"it has only {len(secret)} character(s), and a secret is kept out of every report wherever it stands: one of "
        f"fewer than {MIN_SECRET_CHARS} would blot out other words too"
    )


def make_patterns(secret: str) -> SecretPatterns:
    """Return what to look for to find a secret; nothing for one that is too short."""
    if explain_short_secret(secret):
        return SecretPatterns()
    raw = secret.encode("utf-8", "surrogatepass")
    # As a form is encoded, a space is a plus.
    plain = {raw, raw.replace(b" ", b"+"), *_as_escaped(raw)}
    return SecretPatterns(frozenset(map(bytes.lower, plain)), frozenset(_base64_core(raw, at) for at in range(3)))


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


def find_secrets(text: bytes, patterns: SecretPatterns) -> _Spans:
    """Return where the patterns are in UTF-8 text, in order, as starts and ends that do not overlap."""
    if len(text) < patterns.shortest:
        return []
    found: _Spans = []
    size = max(_BLOCK_BYTES, 2 * patterns.reach)
    for at in range(0, len(text), size):
        block = text[at : at + size + patterns.reach]
        found += [(at + start, at + end) for start, end in _search(block, patterns)]
    return merge_spans(text, found) if found else found


def find_cut_secret(text: bytes, patterns: SecretPatterns) -> int | None:
    """Return where a pattern starts that the end of the text cuts off, None where none of 8 bytes and more does."""
    at = max(len(text) - patterns.reach, 0)
    return min((at + start for start, _ in _search_end(text[at:], patterns)), default=None)


def merge_spans(text: bytes, spans: _Spans) -> _Spans:
    """Return the spans in order, those that overlap as one, and none that starts or ends inside a character."""
    merged: _Spans = []
    for start, end in sorted((_edge_of(text, start, -1), _edge_of(text, end, 1)) for start, end in spans):
        if merged and start < merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged


def _search(text: bytes, patterns: SecretPatterns, layers: int = _MAX_LAYERS) -> _Spans:
    """Return where patterns are in the text, and in what is left of it with up to so many layers of escapes undone."""
    spans = _find(text, patterns)
    if layers and is_escaped(text, patterns.escapes):
        undone = unescape(text)
        spans += undone.find_origins(_search(undone.text, patterns, layers - 1))
    return spans


def _search_end(text: bytes, patterns: SecretPatterns, layers: int = _MAX_LAYERS) -> _Spans:
    """Do the same for the start of a pattern at the end, where an escape may be cut off too."""
    spans: _Spans = []
    for whole in {text, without_cut_escape(text)}:
        spans += _find_at_end(whole, patterns)
        if layers and is_escaped(whole, patterns.escapes):
            undone = unescape(whole)
            spans += undone.find_origins(_search_end(undone.text, patterns, layers - 1))
    return spans


def _find(text: bytes, patterns: SecretPatterns) -> _Spans:
    small = text.lower()
    spans: _Spans = []
    for pattern in patterns.plain:
        if pattern in small:
            spans += _places_of(pattern, small)
    # Most texts hold no base64 of a secret, which is faster to see than to say where it is.
    run = small.replace(rb"\n", b" ").replace(rb"\r", b" ") if b"\\" in small else small
    run = run.translate(_STANDARD_BASE64, b" \t\r\n\\")
    for core, _ in patterns.base64:
        if core in run:
            return spans + _find_base64(small, patterns)
    return spans


def _find_base64(small: bytes, patterns: SecretPatterns) -> _Spans:
    unwrapped = _unwrap(small)
    run = unwrapped.text.translate(_STANDARD_BASE64)
    spans: _Spans = []
    for core, has_rest in patterns.base64:
        for start, end in _places_of(core, run):
            rest = _BASE64_REST.match(run, end) if has_rest else None
            spans.append((start, rest.end() if rest else end))
    return unwrapped.find_origins(spans)


def _find_at_end(text: bytes, patterns: SecretPatterns) -> _Spans:
    small = text.lower()
    unwrapped = _unwrap(small)
    in_base64 = _starts_at_end(unwrapped.text.translate(_STANDARD_BASE64), [core for core, _ in patterns.base64])
    return [*_starts_at_end(small, patterns.plain), *unwrapped.find_origins(list(in_base64))]


def _starts_at_end(text: bytes, patterns: Iterable[bytes]) -> Iterator[tuple[int, int]]:
    """Yield where patterns start of which the text holds the first 8 bytes or more, and not the end."""
    for pattern in patterns:
        for length in range(MIN_SECRET_CHARS, len(pattern)):
            if text.endswith(pattern[:length]):
                yield len(text) - length, len(text)


def _edge_of(text: bytes, at: int, step: int) -> int:
    """Return the place itself, or the next one by steps that is not inside a character of UTF-8."""
    while 0 < at < len(text) and 0x80 <= text[at] < 0xC0:
        at += step
    return at


def _places_of(pattern: bytes, text: bytes) -> Iterator[tuple[int, int]]:
    start = text.find(pattern)
    while start >= 0:
        yield start, start + len(pattern)
        start = text.find(pattern, start + len(pattern))


def _unwrap(text: bytes) -> Rewritten:
    return Rewritten(text, _WRAP, lambda _: b"")
