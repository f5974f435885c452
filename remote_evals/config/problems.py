"""Problems in the files that people write: each one a line of text with the place, what is wrong and what was found.

Also fills in variables in the text of these files, `${VAR}` and `${VAR:-default}`, before they are validated; `$${`
stands for a literal `${`.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic_core import ErrorDetails

from ..core.json_values import render_json

# The keys and indices that lead to a part of a document, and what is wrong there.
KeyPath = tuple[str | int, ...]
Problem = tuple[KeyPath, str]

_SELF_EXPLAINING = {"extra_forbidden", "missing", "given_twice", "inconsistent", "value_error"}
_MAY_BE_SECRET = {"target", "judge", "environments", "headers", "token_env", "api_key_env"}
_KINDS: dict[type, str] = {
    str: "a string",
    int: "a number",
    float: "a number",
    bool: "true or false",
    dict: "a mapping",
    list: "a list",
    type(None): "nothing",
}
_VARIABLE = re.compile(r"\$?\$\{(?:([A-Za-z_][A-Za-z0-9_]*)(?::-([^{}]*))?\})?")


class DocumentError(Exception):
    """A file that cannot be read or parsed: `text` says what is wrong, `line` counts from 1, None if unknown."""

    def __init__(self, text: str, line: int | None) -> None:
        super().__init__(text, line)
        self.text = text
        self.line = line


def explain_problem(details: ErrorDetails, written: Any) -> str:
    """Return what is wrong, with the value that was found unless the message already shows it.

    `written` is the value of the file before its variables were filled in, since a variable may hold a token. Of a
    value that may be a credential itself, only its kind is shown.
    """
    if details["type"] in _SELF_EXPLAINING:
        return details["msg"]
    got = _get_part(written, details["loc"], details["input"])
    shown = _KINDS.get(type(got), "a value") if _MAY_BE_SECRET & set(details["loc"]) else render_json(got, 60)
    return f"{details['msg']}, got {shown}"


def _get_part(value: Any, path: Sequence[str | int], default: Any) -> Any:
    """Return the part of a value at a path, or `default` if a shorthand in the file leaves that part out."""
    for key in path:
        exists = (isinstance(value, Mapping) and key in value) or (
            isinstance(value, list) and isinstance(key, int) and key < len(value)
        )
        if not exists:
            return default
        value = value[key]
    return value


def render_place(file: Path, line: int | None) -> str:
    """Return "file:line", or the file alone if the line is unknown."""
    return f"{file}:{line}" if line else str(file)


def render_path(path: Sequence[str | int]) -> str:
    """Return the path of a part as people would write it: "cases[0].turns[1].prompt"."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return text.removeprefix(".")


def interpolate(value: Any, variables: Mapping[str, str], report: Callable[[KeyPath, str], None]) -> Any:
    """Return a JSON-like value with the variables in every string filled in; keys stay as they are.

    For each variable that is unset and has no default, `report` is called with the path of the string and a message,
    and the text stays as it is. As in a shell, a default also replaces an empty variable. A value that is filled in
    is text and is never parsed again.
    """

    def fill(text: str, path: KeyPath) -> str:
        def replace(match: re.Match[str]) -> str:
            name, default = match.groups()
            if match[0].startswith("$$"):
                return match[0][1:]
            if name is None:
                report(path, "`${` starts a variable, ${NAME} or ${NAME:-default}; write `$${` for a literal `${`")
                return match[0]
            if name not in variables and default is None:
                report(path, f"the variable {name} is not set; set it, or write ${{{name}:-a default}}")
                return match[0]
            return variables.get(name) or default or ""

        return _VARIABLE.sub(replace, text)

    def walk(item: Any, path: KeyPath) -> Any:
        match item:
            case str():
                return fill(item, path)
            case dict():
                return {key: walk(part, (*path, key)) for key, part in item.items()}
            case list():
                return [walk(part, (*path, index)) for index, part in enumerate(item)]
            case _:
                return item

    return walk(value, ())
