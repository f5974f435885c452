"""A mistake in a file that people write, as a line of text: where it is, what is wrong, and what was got."""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic_core import ErrorDetails

from ..core.json_values import render_json

_MAY_BE_SECRET = {"target", "judge", "environments", "headers", "token_env", "api_key_env"}
_KINDS: dict[type, str] = {
    str: "a text",
    int: "a number",
    float: "a number",
    bool: "true or false",
    dict: "a mapping",
    list: "a list",
    type(None): "nothing",
}


def explain_mistake(details: ErrorDetails, written: Any) -> str:
    """Return what is wrong, and what was got where the message does not say it already.

    `written` is the value of the file before its variables were filled in: one of them may hold a token. Of what may be
    a credential itself, the kind is told and not the value.
    """
    if details["type"] in ("extra_forbidden", "missing", "given_twice", "inconsistent", "value_error"):
        return details["msg"]
    got = _part_of(written, details["loc"], details["input"])
    shown = _KINDS.get(type(got), "a value") if _MAY_BE_SECRET & set(details["loc"]) else render_json(got, 60)
    return f"{details['msg']}, got {shown}"


def render_place(file: Path, line: int | None) -> str:
    """Return "file:line", or the file alone where the line is not known."""
    return f"{file}:{line}" if line else str(file)


def render_path(path: Sequence[str | int]) -> str:
    """Return the path of a part as people would write it: "cases[0].turns[1].prompt"."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return text.removeprefix(".")


def _part_of(value: Any, path: Sequence[str | int], otherwise: Any) -> Any:
    """Return the part of a value at a path; `otherwise` where the path names what a shorthand stands for."""
    for step in path:
        is_there = (isinstance(value, Mapping) and step in value) or (
            isinstance(value, list) and isinstance(step, int) and step < len(value)
        )
        if not is_there:
            return otherwise
        value = value[step]
    return value


_VARIABLE = re.compile(r"\$?\$\{(?:([A-Za-z_][A-Za-z0-9_]*)(?::-([^{}]*))?\})?")


def interpolate(value: Any, variables: Mapping[str, str], report: Callable[[tuple[str | int, ...], str], None]) -> Any:
    """Return a JSON-like value with the variables in every string filled in; keys stay as they are.

    For each variable that is unset and has no default, `report` is called with the path of the string and a message,
    and the text stays as it is. As in a shell, a default also stands in for an empty variable. A value that is filled
    in is text and is never parsed again.
    """

    def fill(text: str, path: tuple[str | int, ...]) -> str:
        def one(found: re.Match[str]) -> str:
            name, default = found.groups()
            if found[0].startswith("$$"):
                return found[0][1:]
            if name is None:
                report(path, "`${` starts a variable, ${NAME} or ${NAME:-default}; write `$${` for the text itself")
                return found[0]
            if name not in variables and default is None:
                report(path, f"the variable {name} is not set; set it, or write ${{{name}:-a default}}")
                return found[0]
            return variables.get(name) or default or ""

        return _VARIABLE.sub(one, text)

    def walk(item: Any, path: tuple[str | int, ...]) -> Any:
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
