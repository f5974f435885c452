"""What to look for where a secret may come back: itself, and what stands in any base64 of a text that holds it."""

import base64
import re
from collections.abc import Iterator

from .escapes import ANY_ESCAPE, UNCOMMON_ESCAPES, unescape

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
