"""Options in groups: a dataclass stands for several options that are taken, parsed and handed on together."""

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Any


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command as typer takes it: each parameter that is a dataclass is replaced by its fields."""
    parameters = signature(command).parameters.values()
    groups: dict[str, Any] = {one.name: one.annotation for one in parameters if is_dataclass(one.annotation)}

    # Without its annotations, which name the groups.
    @wraps(command, assigned=("__name__", "__doc__"))
    def flat(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(**{field.name: given.pop(field.name) for field in fields(group)})
        command(**given)

    options = [
        option for one in parameters for option in (_options_of(groups[one.name]) if one.name in groups else [one])
    ]
    flat.__signature__ = Signature(options)  # type: ignore[attr-defined]
    return flat


def _options_of(group: Any) -> list[Parameter]:
    return [one.replace(kind=Parameter.KEYWORD_ONLY) for one in signature(group).parameters.values()]
