"""The options that commands share, each with its help."""

import glob
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from ..finding import FILE_ENDINGS, find_suite_files

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
        "--tag", metavar="TAG", help="Only cases with this tag; repeat it, or use commas, for any of several."
    ),
]
Only = Annotated[
    list[str] | None, typer.Option("--only", metavar="NAME", help="Only the case of this name, or names like a glob.")
]

Config = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="PATH",
        help="Settings, as TOML; by default remote-evals.toml, or [tool.remote-evals] in pyproject.toml, here or up.",
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
