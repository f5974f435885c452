"""Secrets stay in: `Secret` holds one without showing it, and `Redactor` scrubs whatever leaves the process."""

from collections.abc import Callable, Mapping
from typing import Any

from pydantic import BaseModel

from .echoes import Needle, find_echoes, make_needles

REDACTED = "[redacted]"


class Secret:
    """A token that no `repr`, log, traceback or pickle shows. Only `reveal()` gives the text."""

    __slots__ = ("_reveal",)

    def __init__(self, text: str) -> None:
        # A closure: whoever walks the attributes, as tracebacks with locals do, finds a function and no text.
        self._reveal: Callable[[], str] = lambda: text

    def reveal(self) -> str:
        """Return the text itself, to be put on the wire and nowhere else."""
        return self._reveal()

    def __repr__(self) -> str:
        return f"Secret({REDACTED!r})"

    __str__ = __repr__

    def __reduce__(self) -> str:
        raise TypeError("a Secret cannot be pickled: it must not leave the process")


class Redactor:
    """Replaces every known secret in text, also where it is URL-encoded, base64-encoded or escaped for JSON or HTML."""

    def __init__(self) -> None:
        self._secrets: list[Secret] = []
        self._needles: frozenset[Needle] = frozenset()

    def add(self, secret: Secret) -> None:
        """Make a secret known; every later `scrub` replaces it. An empty one is ignored."""
        needles = frozenset(make_needles(secret.reveal())) if secret.reveal() else self._needles
        if not needles <= self._needles:
            self._secrets.append(secret)
            self._needles |= needles

    def include(self, other: "Redactor | None") -> None:
        """Make every secret known that another redactor knows."""
        if other is not None and other is not self:
            for known in other._secrets:
                self.add(known)

    def __reduce__(self) -> str:
        raise TypeError("a Redactor cannot be pickled: it knows secrets, which must not leave the process")

    def scrub(self, text: str) -> str:
        """Return the text with every known secret replaced by `[redacted]`."""
        if not self._needles:
            return text
        raw = text.encode("utf-8", "surrogatepass")
        echoes = find_echoes(raw, self._needles)
        if not echoes:
            return text
        starts, ends = zip(*echoes, strict=True)
        kept = (raw[end:start] for end, start in zip((0, *ends), (*starts, len(raw)), strict=True))
        return REDACTED.encode().join(kept).decode("utf-8", "surrogatepass")

    def scrub_value(self, value: Any) -> Any:
        """Return a model or JSON-like value with every string in it scrubbed, keys too; other types stay."""
        match value:
            case _ if not self._needles:
                return value
            case str():
                return self.scrub(value)
            case BaseModel():
                fields = type(value).model_fields
                return value.model_copy(update={name: self.scrub_value(getattr(value, name)) for name in fields})
            case Mapping():
                return {self.scrub_value(key): self.scrub_value(item) for key, item in value.items()}
            case list() | tuple():
                return type(value)(self.scrub_value(item) for item in value)
            case _:
                return value
