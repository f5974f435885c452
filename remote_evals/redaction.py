"""Secrets stay in: `Secret` holds one without showing it, and `Redactor` scrubs whatever leaves the process."""

import base64
import html
import json
import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote, quote_plus

from pydantic import BaseModel

REDACTED = "[redacted]"

_PERCENT = re.compile("%[0-9A-F]{2}")


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
        self._known: set[str] = set()
        self._pattern: re.Pattern[str] | None = None

    def add(self, secret: Secret) -> None:
        """Make a secret known; every later `scrub` replaces it. An empty one is ignored."""
        text = secret.reveal()
        if text and text not in self._known:
            self._secrets.append(secret)
            self._known |= _spellings(text)
            self._pattern = re.compile(
                "|".join(map(re.escape, sorted(self._known, key=len, reverse=True))), re.IGNORECASE
            )

    def include(self, other: "Redactor | None") -> None:
        """Make every secret known that another redactor knows."""
        if other is not None and other is not self:
            for known in other._secrets:
                self.add(known)

    def __reduce__(self) -> str:
        raise TypeError("a Redactor cannot be pickled: it knows secrets, which must not leave the process")

    def scrub(self, text: str) -> str:
        """Return the text with every known secret replaced by `[redacted]`."""
        return self._pattern.sub(REDACTED, text) if self._pattern else text

    def scrub_value(self, value: Any) -> Any:
        """Return a model or JSON-like value with every string in it scrubbed, keys too; other types stay."""
        match value:
            case _ if self._pattern is None:
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


def _spellings(text: str) -> set[str]:
    """Return the ways in which a server may spell a token that it echoes."""
    raw = text.encode("utf-8", "surrogatepass")
    encoded = base64.b64encode(raw).decode().rstrip("=")
    url_safe = base64.urlsafe_b64encode(raw).decode().rstrip("=")
    percent = {quote(raw, safe=""), quote(raw), quote_plus(raw)}
    escaped = {json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]}
    return {
        *(text, encoded, f"{encoded}=", f"{encoded}==", url_safe, f"{url_safe}=", f"{url_safe}==", html.escape(text)),
        *percent,
        *(_PERCENT.sub(lambda found: found[0].lower(), spelling) for spelling in percent),
        *escaped,
        *(spelling.replace("/", "\\/") for spelling in escaped),
    }
