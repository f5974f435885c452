"""Writes the files that a project starts with: a first suite, a fake agent to try it against, and a CI workflow."""

from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

from ..errors import UsageError

SUITE, FAKE_SCRIPT, WORKFLOW = "evals/smoke.eval.yaml", "evals/smoke.fake.yaml", ".github/workflows/remote-evals.yml"

# No template has the name of a suite, so that a search of an installation does not find it.
_TEMPLATES = {SUITE: "suite.yaml", FAKE_SCRIPT: "fake.yaml", WORKFLOW: "workflow.yaml"}


def write_starter_files(folder: Path) -> Iterator[tuple[Path, bool]]:
    """Write the files into a folder; yield the path of each, and whether it is new, since none is overwritten.

    Raises `UsageError` if a folder or file cannot be written.
    """
    for name, template in _TEMPLATES.items():
        path = folder / name
        yield path, _write_new(path, (files(__package__) / "templates" / template).read_text("utf-8"))


def _write_new(path: Path, text: str) -> bool:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{path.parent}: the folder cannot be created: {error.strerror}") from error
    try:
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except FileExistsError:
        return False
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror}") from error
    return True
