"""Which suite files are meant: files, folders and globs, or all below the working directory."""

import glob
from collections.abc import Sequence
from pathlib import Path

SUITE_ENDINGS = (".eval.yaml", ".eval.yml", ".eval.json", ".eval.jsonl")
DATA_ENDINGS = (".yaml", ".yml", ".json", ".jsonl")
FILE_ENDINGS = (*DATA_ENDINGS, ".py")

_SKIPPED_FOLDERS = {"node_modules", "__pycache__", "venv"}


def find_suite_files(patterns: Sequence[str]) -> tuple[list[Path], list[str]]:
    """Return the suite files that the patterns name, sorted within each and without repeats, and what is wrong.

    A folder stands for every `*.eval.yaml|yml|json|jsonl`, `*_eval.py` and `eval_*.py` below it, hidden folders and
    installed packages left out; a file, or what a pattern matches, may have any name that ends in .yaml, .yml, .json,
    .jsonl or .py. No pattern at all means the working directory.
    """
    files: dict[Path, Path] = {}
    problems = []
    for pattern in patterns or ["."]:
        try:
            found = _find(pattern)
        except OSError as error:
            problems.append(f"{pattern}: no such file or folder ({error.strerror})")
            continue
        for path in found:
            files.setdefault(path.resolve(), path)
        if not found:
            problems.append(_describe_nothing(pattern))
    return list(files.values()), problems


def is_judged(path: Path) -> bool:
    """Say whether a suite asks a judge, and so costs money: `*_judge_eval.py`, `eval_*_judge.py`, `*.judge.eval.*`."""
    is_code = path.stem.endswith("_judge_eval") or (path.stem.startswith("eval_") and path.stem.endswith("_judge"))
    return is_code or ".judge.eval." in path.name


def _find(pattern: str) -> list[Path]:
    if not pattern:
        return []
    path = Path(pattern)
    if path.is_dir():
        return _below(path)
    if path.exists():
        return [path] if path.name.endswith(FILE_ENDINGS) else []
    matched = sorted(map(Path, glob.glob(pattern, recursive=True)))
    return [file for one in matched for file in (_below(one) if one.is_dir() else [one]) if _is_data(file)]


def _below(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*eval*") if _is_suite(path) and not _is_skipped(path, folder))


def _is_suite(path: Path) -> bool:
    return path.is_file() and (path.name.endswith(SUITE_ENDINGS) or (path.suffix == ".py" and _is_code(path)))


def _is_code(path: Path) -> bool:
    if path.stem.startswith("eval_"):
        # A name that helpers have too: one that never says `define_eval` is no suite.
        return b"define_eval" in path.read_bytes()
    return path.stem.endswith("_eval")


def _is_data(path: Path) -> bool:
    return path.name.endswith(FILE_ENDINGS) and path.is_file()


def _is_skipped(path: Path, folder: Path) -> bool:
    return any(part in _SKIPPED_FOLDERS or part.startswith(".") for part in path.relative_to(folder).parts[:-1])


def _describe_nothing(pattern: str) -> str:
    if not pattern:
        return "an empty name was given for a suite; is a variable not set?"
    path = Path(pattern)
    if path.is_dir():
        return f"{pattern}: no suite below this folder; suites are named *.eval.yaml, .yml, .json, .jsonl or *_eval.py"
    if path.exists():
        return f"{pattern}: not a suite: its name must end in {', '.join(FILE_ENDINGS)}"
    if glob.has_magic(pattern):
        return f"{pattern}: the pattern matches no .yaml, .yml, .json, .jsonl or .py file"
    return f"{pattern}: no such file or folder (looked in {Path.cwd()})"
