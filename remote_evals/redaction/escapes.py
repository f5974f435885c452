"""Undoes the escapes of URLs, JSON, code, HTML and Markdown, and maps what is left to where it stood before."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from functools import lru_cache
from html.entities import html5
from itertools import accumulate

_ESCAPE = re.compile(
    rb"(%[0-9a-f]{2}"
    rb"|\\(?:u[0-9a-f]{4}|u\{[0-9a-f]{1,8}\}|x[0-9a-f]{2}|[0-7]{1,3}|[bfnrt!-/:-@\[-`{|}~])"
    rb"|&(?:#x0{0,9}[0-9a-f]{1,6}|#0{0,9}[0-9]{1,7}|[a-z]{2,12}(?=;));?)",
    re.IGNORECASE,
)
# An escape whose end may be missing.
_CUT_ESCAPE = re.compile(
    rb"(?:%[0-9a-f]?|\\(?:u[0-9a-f]{0,3}|u\{[0-9a-f]{0,8}|x[0-9a-f]?|[0-7]{1,2})?|&(?:#?x?[0-9a-f]{0,15}|[a-z]{1,12}))\Z",
    re.IGNORECASE,
)

ANY_ESCAPE = (_ESCAPE,)
# Every escape that can spell a visible ASCII character or wrap a line, except \", \\, \n and \r, which fill JSON text.
# There is one pattern for each first byte, because that is many times faster.
UNCOMMON_ESCAPES = (
    re.compile(rb"%[02-7][0-9a-fA-F]"),
    re.compile(rb"\\(?:[0-7!#-/:-@\[\]^_`{|}~]|[uU](?:00[02-7]|\{)|[xX][02-7])"),
    re.compile(rb"&(?:#|[a-zA-Z]{2,12};)"),
)

_CONTROLS = {b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t"}
_ENTITIES = {f"&{name}".lower().encode(): char.encode() for name, char in html5.items() if char.isascii()}


class RewrittenText:
    """A text in which `replace` has replaced every match of a pattern, which must be one group."""

    __slots__ = ("_after", "_before", "text")

    def __init__(self, original: bytes, pattern: re.Pattern[bytes], replace: Callable[[bytes], bytes]) -> None:
        # The text between the matches and the matches, in turn.
        self._before = pattern.split(original)
        self._after = self._before.copy()
        self._after[1::2] = map(replace, self._before[1::2])
        self.text = b"".join(self._after)

    def find_origins(self, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """Return where the spans of the new text, none of them empty, stood in the original."""
        if not spans:
            return []
        ends, original_ends = (list(accumulate(map(len, parts))) for parts in (self._after, self._before))
        origins = []
        for start, end in spans:
            first, last = bisect_right(ends, start), bisect_left(ends, end)
            before = len(self._before[first]) if first % 2 else ends[first] - start
            behind = 0 if last % 2 else ends[last] - end
            origins.append((original_ends[first] - before, original_ends[last] - behind))
        return origins


def unescape(text: bytes) -> RewrittenText:
    """Return a text with one layer of escapes undone."""
    return RewrittenText(text, _ESCAPE, _decode_escape)


def is_escaped(text: bytes, patterns: Iterable[re.Pattern[bytes]]) -> bool:
    """Return whether any of these patterns of escapes matches in a text."""
    return any(pattern.search(text) for pattern in patterns)


def strip_cut_escape(text: bytes) -> bytes:
    """Return a text without an escape that its end may have cut off."""
    return _CUT_ESCAPE.sub(b"", text)


@lru_cache(maxsize=4096)
def _decode_escape(escape: bytes) -> bytes:
    """Return the character that an escape stands for, or the escape itself if there is none."""
    kind, rest = escape[:1], escape[1:]
    if kind == b"%":
        return bytes([int(rest, 16)])
    if kind == b"&":
        return _decode_entity(escape.removesuffix(b";").lower())
    letter, digits = rest[:1].lower(), rest[1:].strip(b"{}")
    if letter in (b"u", b"x"):
        return _encode_char(int(digits, 16), escape)
    return _encode_char(int(rest, 8), escape) if rest.isdigit() else _CONTROLS.get(letter, rest)


def _decode_entity(entity: bytes) -> bytes:
    if not entity.startswith(b"&#"):
        return _ENTITIES.get(entity + b";", entity + b";")
    digits = entity[2:]
    return _encode_char(int(digits[1:], 16) if digits.startswith(b"x") else int(digits), entity)


def _encode_char(number: int, escape: bytes) -> bytes:
    return chr(number).encode("utf-8", "surrogatepass") if number <= 0x10FFFF else escape
