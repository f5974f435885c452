"""The options that choose suites and cases, each with its help."""

import glob
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from ..evals.eval import Eval
from ..suites.discovery import FILE_ENDINGS, find_suite_files
from ..suites.selection import find_unmatched, select_evals
from ._stderr import tell
from ._values import split_commas

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
        unmatched = find_unmatched(evals, tags=tags, only=only)
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
