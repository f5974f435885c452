"""The options that commands share, each with its help."""

from typing import Annotated

import typer

Suites = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[SUITE]...",
        help="Suite files, folders or globs; by default every *.eval.yaml|yml|json|jsonl below here.",
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


def split_commas(values: list[str] | None) -> list[str]:
    """Return the values of a repeatable option, each of which may hold several with commas between."""
    return [part.strip() for value in values or [] for part in value.split(",") if part.strip()]
