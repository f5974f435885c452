"""Finds suite files: those that paths, folders and globs name, or else those below the working directory."""

import glob
from collections.abc import Sequence
from pathlib import Path

SUITE_ENDINGS = (".eval.yaml", ".eval.yml", ".eval.json", ".eval.jsonl")
DATA_ENDINGS = (".yaml", ".yml", ".json", ".jsonl")
FILE_ENDINGS = (*DATA_ENDINGS, ".py")

_SKIPPED_FOLDERS = {"node_modules", "__pycache__", "venv"}


def find_suite_files(patterns: Sequence[str]) -> tuple[list[Path], list[str]]:
    """Return the suite files that the patterns name, and what is wrong; files are sorted within each pattern.

    A folder stands for every `*.eval.yaml|yml|json|jsonl`, `*_eval.py` and `eval_*.py` below it, except in hidden
    folders and installed packages. A file, or a match of a glob, may have any name that ends in .yaml, .yml, .json,
    .jsonl or .py. Without patterns, the working directory is searched. No file is returned twice.
    """
    files: dict[Path, Path] = {}
    problems = []
    for pattern in patterns or ["."]:
        try:
            found = _find_matches(pattern)
        except OSError as error:
            problems.append(f"{pattern}: no such file or folder ({error.strerror})")
            continue
        for path in found:
            files.setdefault(path.resolve(), path)
        if not found:
            problems.append(_explain_no_match(pattern))
    return list(files.values()), problems


def _find_matches(pattern: str) -> list[Path]:
    if not pattern:
        return []
    path = Path(pattern)
    if path.is_dir():
        return _search_folder(path)
    if path.exists():
        return [path] if path.name.endswith(FILE_ENDINGS) else []
    matches = sorted(map(Path, glob.glob(pattern, recursive=True)))
    files = [file for match in matches for file in (_search_folder(match) if match.is_dir() else [match])]
    return [file for file in files if file.name.endswith(FILE_ENDINGS) and file.is_file()]


def _search_folder(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*eval*") if _is_suite(path) and not _is_skipped(path, folder))


def _is_suite(path: Path) -> bool:
    return path.is_file() and (path.name.endswith(SUITE_ENDINGS) or (path.suffix == ".py" and _is_code_suite(path)))


def _is_code_suite(path: Path) -> bool:
    if path.stem.startswith("eval_"):
        # Helper modules have such names too, so the file must mention `define_eval`.
        return b"define_eval" in path.read_bytes()
    return path.stem.endswith("_eval")


def _is_skipped(path: Path, folder: Path) -> bool:
    return any(part in _SKIPPED_FOLDERS or part.startswith(".") for part in path.relative_to(folder).parts[:-1])


def _explain_no_match(pattern: str) -> str:
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


def is_judged(path: Path) -> bool:
    """Return whether the file name says that the suite needs a judge, which costs money.

    Such names are `*_judge_eval.py`, `eval_*_judge.py` and `*.judge.eval.*`.
    """
    is_code = path.stem.endswith("_judge_eval") or (path.stem.startswith("eval_") and path.stem.endswith("_judge"))
    return is_code or ".judge.eval." in path.name
