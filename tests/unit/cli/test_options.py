"""Options in groups: what Typer sees, and what the command receives."""

from dataclasses import dataclass
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from remote_evals.cli.options import expand_groups


@dataclass(frozen=True)
class Size:
    """Two options that belong together."""

    width: Annotated[int, typer.Option("--width", help="How wide.", rich_help_panel="Size")] = 3
    heights: Annotated[list[int] | None, typer.Option("--height", help="How high.", rich_help_panel="Size")] = None


@dataclass(frozen=True)
class Look:
    """A group of one option."""

    color: Annotated[str | None, typer.Option("--color")] = None


def make_app(seen: list[object]) -> typer.Typer:
    @expand_groups
    def paint(*, names: Annotated[list[str], typer.Argument()], size: Size, plain: bool = False, look: Look) -> None:
        """Paint some names."""
        seen.append((names, size, plain, look))

    app = typer.Typer()
    app.command()(paint)
    return app


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["a"], (["a"], Size(), False, Look())),
        (["a", "b", "--width", "7", "--plain"], (["a", "b"], Size(7), True, Look())),
        (["--height", "1", "--color", "red", "--height", "2", "a"], (["a"], Size(3, [1, 2]), False, Look("red"))),
    ],
    ids=["none given", "one of a group", "all of two groups"],
)
def test_a_command_gets_its_options_in_groups(args: list[str], expected: object) -> None:
    """Each group holds its options as given, or their defaults; other parameters are passed unchanged."""
    seen: list[object] = []
    done = CliRunner().invoke(make_app(seen), args)
    assert (done.exit_code, seen) == (0, [expected]), done.output


def test_the_help_is_that_of_the_options() -> None:
    """The help has the command's text, and each option of a group with its help and panel, in order."""
    shown = CliRunner().invoke(make_app([]), ["--help"], env={"COLUMNS": "100"}).stdout
    texts = [
        "paint",
        "Paint some names.",
        "--plain",
        "--color",
        "Size",
        "--width",
        "How wide.",
        "--height",
        "How high.",
    ]
    assert [text for text in texts if text not in shown] == []
    assert shown.index("--width") < shown.index("--height")
    assert not any(word in shown for word in ("size", "look"))
