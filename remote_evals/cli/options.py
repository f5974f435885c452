"""How the values of options are read."""

import glob
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any

import typer

from ..core.durations import parse_duration
from ..errors import UsageError
from ..evals.eval import Eval
from ..suites.discovery import FILE_ENDINGS, find_suite_files
from ..suites.selection import explain_unmatched, select_evals
from .exits import tell

_HEADER = re.compile(r"([^=:\s]+)\s*[=:]\s*(.*)")


def split_commas(values: Sequence[str] | None) -> list[str]:
    """Return the values of a repeatable option, each of which may hold several with commas between."""
    return [part.strip() for value in values or [] for part in value.split(",") if part.strip()]


def read_duration(option: str, text: str | None) -> float | None:
    """Return the seconds that an option gives, None where it is not given. Raises `UsageError` naming the option."""
    try:
        return None if text is None else parse_duration(text)
    except ValueError as error:
        raise UsageError(f"{option}: {error}") from None


def split_headers(option: str, headers: Sequence[str] | None, form: str) -> dict[str, str]:
    """Return the headers that a repeatable option gives. Raises `UsageError` naming the option and the form."""
    found = [_HEADER.fullmatch(header) for header in headers or ()]
    if None in found:
        # The text is not repeated: what looks broken may still hold a credential.
        raise UsageError(f"{option} number {found.index(None) + 1} is not a header; write it as {form}")
    return {header[1]: header[2] for header in found if header}


_PANEL = "Which cases"

Suites = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[SUITE]...",
        help="Suite files, folders or globs; by default every *.eval.yaml|yml|json|jsonl and *_eval.py below here.",
        show_default=False,
    ),
]
OnlyList = Annotated[
    bool, typer.Option("--list", help="Show which cases would run, and run none.", rich_help_panel=_PANEL)
]
Config = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="PATH",
        help=r"Settings, as TOML; by default remote-evals.toml, or \[tool.remote-evals] in pyproject.toml, here or up.",
    ),
]


@dataclass(frozen=True, slots=True)
class ChoiceOptions:
    """Which cases are meant, of those in the suites."""

    tags: Annotated[
        list[str] | None,
        typer.Option(
            "--tag",
            metavar="TAG",
            help="Only cases with this tag; repeat it, or use commas, for any of several.",
            rich_help_panel=_PANEL,
        ),
    ] = None
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--only", metavar="NAME", help="Only the case of this name, or names like a glob.", rich_help_panel=_PANEL
        ),
    ] = None

    def select(self, evals: Sequence[Eval], default_tags: Sequence[str] = ()) -> list[Eval]:
        """Return the chosen evals, none where any part of the choice chooses nothing, told on stderr: it may be a typo.

        `default_tags` choose where no tag is given.
        """
        tags, only = split_commas(self.tags) or default_tags, self.only or ()
        unmatched = explain_unmatched(evals, tags=tags, only=only)
        tell(*unmatched)
        return [] if unmatched else select_evals(evals, tags=tags, only=only)


def expand_save(arguments: Sequence[str]) -> list[str]:
    """Return the arguments with a folder behind each bare `--save`, whose folder may be left out."""
    expanded = list(arguments)
    for index, argument in enumerate(arguments):
        following = arguments[index + 1] if index + 1 < len(arguments) else "-"
        if argument == "--save" and (following.startswith("-") or _is_suite(following)):
            expanded[index] = "--save=results"
    return expanded


def _is_suite(argument: str) -> bool:
    """Say whether an argument names suites: a file, a pattern, or a folder that holds some."""
    if argument.endswith(FILE_ENDINGS) or glob.has_magic(argument):
        return True
    return Path(argument).is_dir() and bool(find_suite_files([argument])[0])


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
