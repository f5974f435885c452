"""`${VAR}` and `${VAR:-default}` in the text of suite files; `$${` stands for a literal `${`."""

import re
from collections.abc import Callable, Mapping
from typing import Any

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
