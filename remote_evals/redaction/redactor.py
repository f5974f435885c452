"""`Secret` holds a secret without showing it, and `Redactor` scrubs what leaves the process."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pydantic import BaseModel

from .search import SecretPatterns, find_cut_secret, find_secrets, make_patterns, merge_spans

REDACTED = "[redacted]"

# One of these, three times, replaces secrets if one of them could be taken for `[redacted]`.
_OTHER_MARKS = "*#•…"


class Secret:
    """A token that no `repr`, log, traceback or pickle shows. Only `reveal()` returns the text."""

    __slots__ = ("_reveal",)

    def __init__(self, text: str) -> None:
        # A closure: code that walks the attributes, as tracebacks with locals do, finds a function and no text.
        self._reveal: Callable[[], str] = lambda: text

    def reveal(self) -> str:
        """Return the text itself, for sending only: it must not be shown."""
        return self._reveal()

    def __repr__(self) -> str:
        return f"Secret({REDACTED!r})"

    __str__ = __repr__

    def __reduce__(self) -> str:
        raise TypeError("a Secret cannot be pickled: it must not leave the process")


class Redactor:
    """Replaces every known secret in text, however it is escaped, also inside base64."""

    def __init__(self) -> None:
        self._secrets: list[Secret] = []
        self._patterns = SecretPatterns()
        self._mark = REDACTED

    def add(self, secret: Secret) -> None:
        """Add a secret that every later `scrub` replaces.

        A secret of fewer than 8 characters is ignored: replacing it would blot out other words too.
        """
        patterns = make_patterns(secret.reveal())
        if not patterns.plain <= self._patterns.plain:
            self._secrets.append(secret)
            self._patterns |= patterns
            self._mark = _choose_mark(self._patterns.plain)

    def include(self, other: "Redactor | None") -> None:
        """Add every secret that another redactor knows."""
        if other is not None and other is not self:
            for secret in other._secrets:
                self.add(secret)

    def __reduce__(self) -> str:
        raise TypeError("a Redactor cannot be pickled: it knows secrets, which must not leave the process")

    def scrub(self, text: str) -> str:
        """Return the text with every known secret replaced by `[redacted]`.

        If a secret could be taken for that mark, `***` or the like replaces the secrets instead.
        """
        if not self._secrets:
            return text
        raw = text.encode("utf-8", "surrogatepass")
        spans = find_secrets(raw, self._patterns)
        return _replace_spans(raw, spans, self._mark) if spans else text

    def scrub_end(self, text: str) -> str:
        """Return a text that may be cut off anywhere, scrubbed, with the start of a secret at its end replaced too.

        A start is at least the first 8 characters of a secret, however they are spelled.
        """
        raw = text.encode("utf-8", "surrogatepass")
        start = find_cut_secret(raw, self._patterns)
        if start is None:
            return self.scrub(text)
        spans = merge_spans(raw, [*find_secrets(raw, self._patterns), (start, len(raw))])
        return _replace_spans(raw, spans, self._mark)

    def scrub_value(self, value: Any) -> Any:
        """Return a model or JSON-like value with every string and number in it scrubbed, including keys.

        Other types stay. So does a number in a model's field whose type is not `Any`, since it is used in calculations.
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
        except ValueError:  # more than 4,300 digits, which Python refuses to print
            return number
        scrubbed = self.scrub(text)
        return number if scrubbed == text else scrubbed


def _choose_mark(patterns: Iterable[bytes]) -> str:
    """Return a mark that neither contains a secret nor is part of one, and that forms none with the text beside it."""
    mark = REDACTED.encode()
    if not any(
        mark in pattern or pattern in mark or _overlap(mark, pattern) or _overlap(pattern, mark) for pattern in patterns
    ):
        return REDACTED
    return next((one * 3 for one in _OTHER_MARKS if not any(one.encode() in pattern for pattern in patterns)), "")


def _overlap(first: bytes, second: bytes) -> bool:
    """Return whether the end of the first is the start of the second."""
    return any(first.endswith(second[:length]) for length in range(1, min(len(first), len(second)) + 1))


def _replace_spans(raw: bytes, spans: list[tuple[int, int]], mark: str) -> str:
    starts, ends = zip(*spans, strict=True)
    kept = (raw[end:start] for end, start in zip((0, *ends), (*starts, len(raw)), strict=True))
    return mark.encode().join(kept).decode("utf-8", "surrogatepass")
