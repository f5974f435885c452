"""The options that choose suites and cases, each with its help, and how their values are read."""

import glob
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from ..durations import parse_duration
from ..errors import UsageError
from ..finding import FILE_ENDINGS, find_suite_files

_PANEL = "Which cases"

Suites = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[SUITE]...",
        help="Suite files, folders or globs; by default every *.eval.yaml|yml|json|jsonl and *_eval.py below here.",
        show_default=False,
    ),
]
Tags = Annotated[
    list[str] | None,
    typer.Option(
        "--tag",
        metavar="TAG",
        help="Only cases with this tag; repeat it, or use commas, for any of several.",
        rich_help_panel=_PANEL,
    ),
]
Only = Annotated[
    list[str] | None,
    typer.Option(
        "--only", metavar="NAME", help="Only the case of this name, or names like a glob.", rich_help_panel=_PANEL
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


def split_commas(values: list[str] | None) -> list[str]:
    """Return the values of a repeatable option, each of which may hold several with commas between."""
    return [part.strip() for value in values or [] for part in value.split(",") if part.strip()]


def read_duration(option: str, text: str | None) -> float | None:
    """Return the seconds that an option gives, None where it is not given. Raises `UsageError` naming the option."""
    try:
        return None if text is None else parse_duration(text)
    except ValueError as error:
        raise UsageError(f"{option}: {error}") from None
