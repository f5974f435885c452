"""The options that choose suites and cases, how option values are parsed, and groups of options.

A group is a dataclass that stands for several options, which are declared, parsed and passed on together.
"""

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
from .exits import print_errors

_PANEL = "Which cases"
_HEADER = re.compile(r"([^=:\s]+)\s*[=:]\s*(.*)")

Suites = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[SUITE]...",
        help="Suite files, folders or glob patterns. Default: those that the settings name, or every "
        "*.eval.yaml|yml|json|jsonl and *_eval.py file below the current folder.",
        show_default=False,
    ),
]
OnlyList = Annotated[
    bool, typer.Option("--list", help="List the cases that would run, without running them.", rich_help_panel=_PANEL)
]
Config = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="PATH",
        help=r"Settings file, in TOML. Default: remote-evals.toml, or \[tool.remote-evals] in pyproject.toml, in the "
        "current folder or the nearest one above that has it.",
    ),
]


@dataclass(frozen=True, slots=True)
class SelectionOptions:
    """Which cases of the suites are selected."""

    tags: Annotated[
        list[str] | None,
        typer.Option(
            "--tag",
            metavar="TAG",
            help="Select only cases with this tag. Repeat it, or separate tags with commas, to select cases with any "
            "of them. Default: all cases, or those with a tag that the settings name.",
            rich_help_panel=_PANEL,
        ),
    ] = None
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--only",
            metavar="NAME",
            help="Select only the case with this name; a glob pattern selects several. Can be repeated. Default: all "
            "cases.",
            rich_help_panel=_PANEL,
        ),
    ] = None

    def select(self, evals: Sequence[Eval], default_tags: Sequence[str] = ()) -> list[Eval]:
        """Return the selected evals, or none if any tag or name matches nothing: it may be a typo, reported on stderr.

        `default_tags` apply when no tag is given.
        """
        tags, only = _split_commas(self.tags) or default_tags, self.only or ()
        unmatched = explain_unmatched(evals, tags=tags, only=only)
        print_errors(*unmatched)
        return [] if unmatched else select_evals(evals, tags=tags, only=only)


def _split_commas(values: Sequence[str] | None) -> list[str]:
    return [part.strip() for value in values or [] for part in value.split(",") if part.strip()]


def parse_duration_option(option: str, text: str | None) -> float | None:
    """Return the seconds that an option gives, or None if it is not given. Raises `UsageError` naming the option."""
    try:
        return None if text is None else parse_duration(text)
    except ValueError as error:
        raise UsageError(f"{option}: {error}") from None


def parse_header_option(option: str, headers: Sequence[str] | None, form: str) -> dict[str, str]:
    """Return the headers that a repeatable option gives. Raises `UsageError` naming the option and the form."""
    found = [_HEADER.fullmatch(header) for header in headers or ()]
    if None in found:
        # The message does not repeat the text: even a malformed header may hold a credential.
        raise UsageError(f"{option} number {found.index(None) + 1} is not a header; write it as {form}")
    return {header[1]: header[2] for header in found if header}


def expand_save(arguments: Sequence[str]) -> list[str]:
    """Return the arguments with the default folder added to each `--save` that has none."""
    expanded = list(arguments)
    for index, argument in enumerate(arguments):
        following = arguments[index + 1] if index + 1 < len(arguments) else "-"
        if argument == "--save" and (following.startswith("-") or _is_suite(following)):
            expanded[index] = "--save=results"
    return expanded


def _is_suite(argument: str) -> bool:
    """Return whether an argument names suites: a file, a glob pattern, or a folder that holds some."""
    if argument.endswith(FILE_ENDINGS) or glob.has_magic(argument):
        return True
    return Path(argument).is_dir() and bool(find_suite_files([argument])[0])


def expand_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command as Typer needs it: each parameter that is a dataclass is replaced by its fields."""
    parameters = signature(command).parameters.values()
    groups: dict[str, Any] = {one.name: one.annotation for one in parameters if is_dataclass(one.annotation)}

    # Without its annotations, which name the groups.
    @wraps(command, assigned=("__name__", "__doc__"))
    def flat(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(**{field.name: given.pop(field.name) for field in fields(group)})
        command(**given)

    options = [option for one in parameters for option in _list_options(one)]
    flat.__signature__ = Signature(options)  # type: ignore[attr-defined]
    return flat


def _list_options(parameter: Parameter) -> list[Parameter]:
    if not is_dataclass(parameter.annotation):
        return [parameter]
    options = signature(parameter.annotation).parameters.values()  # type: ignore[arg-type]
    return [option.replace(kind=Parameter.KEYWORD_ONLY) for option in options]
