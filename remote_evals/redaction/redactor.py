"""Secrets stay in: `Secret` holds one without showing it, and `Redactor` scrubs whatever leaves the process."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pydantic import BaseModel

from .search import SecretPatterns, find_cut_secret, find_secrets, make_patterns, merge_spans

REDACTED = "[redacted]"


# What stands in the place of secrets where one of them is spelled like `[redacted]`.
_OTHER_MARKS = "*#•…"


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
    """Replaces every known secret in text, however it is escaped, and where it is base64-encoded."""

    def __init__(self) -> None:
        self._secrets: list[Secret] = []
        self._patterns = SecretPatterns()
        self._mark = REDACTED

    def add(self, secret: Secret) -> None:
        """Make a secret known; every later `scrub` replaces it.

        One of fewer than 8 characters is ignored: to replace it would blot out other words too.
        """
        patterns = make_patterns(secret.reveal())
        if not patterns.plain <= self._patterns.plain:
            self._secrets.append(secret)
            self._patterns |= patterns
            self._mark = _choose_mark(self._patterns.plain)

    def include(self, other: "Redactor | None") -> None:
        """Make every secret known that another redactor knows."""
        if other is not None and other is not self:
            for known in other._secrets:
                self.add(known)

    def __reduce__(self) -> str:
        raise TypeError("a Redactor cannot be pickled: it knows secrets, which must not leave the process")

    def scrub(self, text: str) -> str:
        """Return the text with every known secret replaced by `[redacted]`.

        Where a secret and the mark could be taken for each other, by `***` or the like instead.
        """
        if not self._secrets:
            return text
        raw = text.encode("utf-8", "surrogatepass")
        found = find_secrets(raw, self._patterns)
        return _replace(raw, found, self._mark) if found else text

    def scrub_end(self, text: str) -> str:
        """Return a text that may have been cut off anywhere, scrubbed, and without the start of a secret at its end.

        The start of a secret is 8 characters of it and more, however they are spelled.
        """
        raw = text.encode("utf-8", "surrogatepass")
        start = find_cut_secret(raw, self._patterns)
        if start is None:
            return self.scrub(text)
        spans = merge_spans(raw, [*find_secrets(raw, self._patterns), (start, len(raw))])
        return _replace(raw, spans, self._mark)

    def scrub_value(self, value: Any) -> Any:
        """Return a model or JSON-like value with every string and number in it scrubbed, keys too; other types stay.

        So does a number in a field of a model whose type is not `Any`: somebody will count with it.
        """
        match value:
            case _ if not self._secrets:
                return value
            case str():
                return self.scrub(value)
            case BaseModel():
                fields = type(value).model_fields
                return value.model_copy(update={name: self._scrub_field(value, name) for name in fields})
            case Mapping():
                return {self.scrub_value(key): self.scrub_value(item) for key, item in value.items()}
            case list() | tuple():
                return type(value)(self.scrub_value(item) for item in value)
            case int() | float() if self._patterns.in_numbers:
                return self._scrub_number(value)
            case _:
                return value

    def _scrub_field(self, model: BaseModel, name: str) -> Any:
        value = getattr(model, name)
        is_counted = isinstance(value, int | float) and type(model).model_fields[name].annotation is not Any
        return value if is_counted else self.scrub_value(value)

    def _scrub_number(self, number: float) -> float | str:
        try:
            text = str(number)
        except ValueError:  # of more than 4,300 digits, which nobody can print either
            return number
        scrubbed = self.scrub(text)
        return number if scrubbed == text else scrubbed


def _choose_mark(patterns: Iterable[bytes]) -> str:
    """Return a mark that no secret stands in, that stands in none, and that makes none with what is beside it."""
    mark = REDACTED.encode()
    if not any(
        mark in pattern or pattern in mark or _meet(mark, pattern) or _meet(pattern, mark) for pattern in patterns
    ):
        return REDACTED
    return next((one * 3 for one in _OTHER_MARKS if not any(one.encode() in pattern for pattern in patterns)), "")


def _meet(first: bytes, second: bytes) -> bool:
    """Return whether the first ends with what the second starts with."""
    return any(first.endswith(second[:length]) for length in range(1, min(len(first), len(second)) + 1))


def _replace(raw: bytes, found: list[tuple[int, int]], mark: str) -> str:
    starts, ends = zip(*found, strict=True)
    kept = (raw[end:start] for end, start in zip((0, *ends), (*starts, len(raw)), strict=True))
    return mark.encode().join(kept).decode("utf-8", "surrogatepass")
