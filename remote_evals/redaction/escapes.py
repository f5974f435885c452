"""Undoes the escapes of URLs, JSON, code, HTML and Markdown, and knows where each byte that is left came from."""

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

ANY_ESCAPE = (_ESCAPE,)
# All that can spell a visible ASCII character but " and \, or wrap a line: text is full of \" and \n where it is JSON.
# One pattern for each first byte, since that makes them many times faster.
UNCOMMON_ESCAPES = (
    re.compile(rb"%[02-7][0-9a-fA-F]"),
    re.compile(rb"\\(?:[0-7!#-/:-@\[\]^_`{|}~]|[uU](?:00[02-7]|\{)|[xX][02-7])"),
    re.compile(rb"&(?:#|[a-zA-Z]{2,12};)"),
)

# An escape of which the end may be missing.
_CUT_ESCAPE = re.compile(
    rb"(?:%[0-9a-f]?|\\(?:u[0-9a-f]{0,3}|u\{[0-9a-f]{0,8}|x[0-9a-f]?|[0-7]{1,2})?|&(?:#?x?[0-9a-f]{0,15}|[a-z]{1,12}))\Z",
    re.IGNORECASE,
)

_CONTROLS = {b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t"}
_ENTITIES = {f"&{name}".lower().encode(): char.encode() for name, char in html5.items() if char.isascii()}


class Rewritten:
    """A text in which every match of a pattern, which is one group, is replaced by what `read` makes of it."""

    __slots__ = ("_given", "_new", "text")

    def __init__(self, given: bytes, pattern: re.Pattern[bytes], read: Callable[[bytes], bytes]) -> None:
        # What is between the matches, and the matches, by turns.
        self._given = pattern.split(given)
        self._new = self._given.copy()
        self._new[1::2] = map(read, self._given[1::2])
        self.text = b"".join(self._new)

    def find_origins(self, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """Return where the spans of the new text, none of them empty, stood in the given one."""
        if not spans:
            return []
        ends, given_ends = (list(accumulate(map(len, parts))) for parts in (self._new, self._given))
        origins = []
        for start, end in spans:
            first, last = bisect_right(ends, start), bisect_left(ends, end)
            before = len(self._given[first]) if first % 2 else ends[first] - start
            behind = 0 if last % 2 else ends[last] - end
            origins.append((given_ends[first] - before, given_ends[last] - behind))
        return origins


def unescape(text: bytes) -> Rewritten:
    """Return a text with its escapes undone once."""
    return Rewritten(text, _ESCAPE, _read)


def is_escaped(text: bytes, patterns: Iterable[re.Pattern[bytes]]) -> bool:
    """Say whether a text holds a match of any of these patterns of escapes."""
    return any(pattern.search(text) for pattern in patterns)


def without_cut_escape(text: bytes) -> bytes:
    """Return a text without the escape at its end that may go on behind it."""
    return _CUT_ESCAPE.sub(b"", text)


@lru_cache(maxsize=4096)
def _read(escape: bytes) -> bytes:
    """Return the character that an escape stands for, and itself where there is none."""
    kind, rest = escape[:1], escape[1:]
    if kind == b"%":
        return bytes([int(rest, 16)])
    if kind == b"&":
        return _read_entity(escape.removesuffix(b";").lower())
    letter, digits = rest[:1].lower(), rest[1:].strip(b"{}")
    if letter in (b"u", b"x"):
        return _encode(int(digits, 16), escape)
    return _encode(int(rest, 8), escape) if rest.isdigit() else _CONTROLS.get(letter, rest)


def _read_entity(entity: bytes) -> bytes:
    if not entity.startswith(b"&#"):
        return _ENTITIES.get(entity + b";", entity + b";")
    digits = entity[2:]
    return _encode(int(digits[1:], 16) if digits.startswith(b"x") else int(digits), entity)


def _encode(number: int, escape: bytes) -> bytes:
    return chr(number).encode("utf-8", "surrogatepass") if number <= 0x10FFFF else escape
