"""Which reply answers a turn, and the words of the turn put into it."""

import re
from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel

from fake_server.script import Reply, Script, When

T = TypeVar("T")


def text_of(message: str | list[Any]) -> str:
    """Return the text of an input, which is a string or an array of content parts."""
    if isinstance(message, str):
        return message
    parts = (part.get("text") for part in message if isinstance(part, dict))
    return "\n".join(part for part in parts if isinstance(part, str))


def find_reply(script: Script, text: str, turn: int) -> Reply | None:
    """Return the first reply whose `when` holds."""
    return next((reply for reply in script.replies if _holds(reply.when, text, turn)), None)


def _holds(when: When, text: str, turn: int) -> bool:
    return (
        (when.input is None or when.input.casefold() in text.casefold())
        and (when.matches is None or when.matches.search(text) is not None)
        and when.turn in (None, turn)
    )


def fill(value: T, words: Mapping[str, str]) -> T:
    """Return `value` with `{{name}}` replaced in every string of it; unknown names stay as they are."""
    filled: Any = value
    if isinstance(value, str):
        filled = re.sub(r"\{\{\s*(\w+)\s*\}\}", lambda match: words.get(match[1], match[0]), value)
    elif isinstance(value, list):
        filled = [fill(item, words) for item in value]
    elif isinstance(value, dict):
        filled = {key: fill(item, words) for key, item in value.items()}
    elif isinstance(value, BaseModel):
        # only what the script gives, so that `says` still tells the truth
        filled = value.model_copy(update={key: fill(getattr(value, key), words) for key in value.model_fields_set})
    return filled  # type: ignore[no-any-return]
