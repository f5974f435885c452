"""How the rooms of the package may know each other. The table is the plan of the house: read it from the top down."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "remote_evals"
FAKE_SERVER = PACKAGE.parent / "fake_server"

RANKS = [
    # what happened, and the words for it
    ["_version", "durations", "escapes", "results._data", "retry_after", "strict", "threads", "visible"],
    ["needles"],
    ["awaited", "echoes", "headers"],
    ["credentials", "redaction", "urls"],
    ["results._judging", "results._run"],
    ["results._case"],
    ["results._repeats"],
    ["results._report"],
    ["results"],
    ["errors", "matching"],
    ["events", "checks", "conversation"],
    ["call_log", "protocol", "usage", "assertions._result"],
    ["rebuild", "assertions.limits", "assertions.reply", "assertions.tools"],
    ["assertions"],
    ["asserting"],
    # how a deployment is asked
    [
        "targets._base",
        "targets._causes",
        "targets._clocks",
        "targets._frames",
        "targets._lifespan",
        "targets._proxy",
        "targets._quoting",
        "targets._stopwatch",
        "targets._tap",
        "targets._tls",
        "targets._token",
        "targets._trace",
    ],
    ["targets._sse"],
    ["targets._credentials", "targets._failures", "targets._transport"],
    ["targets._body", "targets._broken_turns", "targets._link", "targets._retry"],
    ["targets._guard", "targets._reading"],
    ["targets._status"],
    ["targets._exchange", "targets._transcript"],
    ["targets._session"],
    ["targets._agent_results", "targets.remote"],
    ["targets._agents", "targets._asgi", "targets._health"],
    ["targets._readiness", "targets.local"],
    ["targets"],
    # who judges what only a reader can
    ["judging._judge", "judging._numbers", "judging._prompt", "judging._settings"],
    ["judging._completion", "judging._objects"],
    ["judging._labels", "judging._retry"],
    ["judging._request", "judging._scores"],
    ["judging._callable", "judging._client"],
    ["judging"],
    # what is run, and where it is written down
    ["listener", "refusals", "repeats", "rubrics", "testing", "verdict"],
    ["context"],
    ["blocking", "evals", "expectations"],
    ["turns", "definitions"],
    ["cases"],
    ["case_errors", "plan", "suites", "yaml_nodes", "finding", "interpolation", "mistakes"],
    ["code_files", "deployments", "documents", "suite_schema"],
    ["suite_reader"],
    ["loading", "toml_documents", "selection", "attempt", "first_files", "stop_conditions"],
    ["judges", "settings_files"],
    ["settings"],
    ["readiness", "worker_pool"],
    ["runner"],
    # what people see
    ["reporters._json_value", "reporters._reasons", "reporters._visible"],
    ["reporters._scrub", "reporters._evidence", "reporters._lines", "reporters._repeats", "reporters._totals"],
    ["reporters._escapes", "reporters._rows", "reporters.json_report"],
    ["reporters._terminal", "reporters._write", "reporters.json_parse"],
    ["reporters.github", "reporters.junit", "reporters.markdown", "reporters.summary"],
    ["reporters"],
    # whether a deployment is fit to be tested
    ["doctor._address", "doctor._callers", "doctor._finding", "doctor._recording"],
    ["doctor._certificate", "doctor._dialogue", "doctor._journal", "doctor._run_checks", "doctor._stream_checks"],
    ["doctor._access", "doctor._connection_checks", "doctor._conversation"],
    ["doctor._connect"],
    ["doctor._examine", "doctor.json_page", "doctor.page"],
    ["doctor"],
    # the same evals under pytest
    ["pytest_plugin._session"],
    ["pytest_plugin._marks", "pytest_plugin._outcomes", "pytest_plugin._running", "pytest_plugin._words"],
    ["pytest_plugin._agent", "pytest_plugin._items"],
    ["pytest_plugin"],
    # the command
    ["cli._exit", "cli._fake", "cli._groups", "cli._run_options", "cli._settings", "cli._values"],
    ["cli._limit_options", "cli._stderr", "cli._target_options"],
    ["cli._interrupt"],
    ["cli._checkup", "cli._options", "cli._output"],
    ["cli.doctor", "cli.init", "cli.list", "cli.run", "cli.schema", "cli.validate"],
    ["cli._app"],
    ["cli"],
    ["__main__"],
    ["__init__"],
]

RANK_OF = {name: rank for rank, names in enumerate(RANKS) for name in names}
MODULES = sorted(PACKAGE.rglob("*.py"))


def name_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if len(parts) > 1 and parts[-1] == "__init__" else parts)


def imported_by(path: Path) -> Iterator[str]:
    """Yield the package's modules that a file imports, anywhere in it."""
    folder = path.relative_to(PACKAGE).parts[:-1]
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = folder[: len(folder) - node.level + 1]
            module = ".".join((*base, *(node.module or "").split("."))).strip(".")
            yield from [module] if module in RANK_OF else [f"{module}.{alias.name}".strip(".") for alias in node.names]


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_file_imports_only_files_of_a_lower_rank(path: Path) -> None:
    """A file imports only files of a lower rank, lazily or not."""
    name = name_of(path)
    wrong = [other for other in imported_by(path) if RANK_OF[other] >= RANK_OF[name]]
    assert not wrong, f"{name} must not import {wrong}"


def test_every_module_has_a_rank() -> None:
    """The table names every module, and no module that is gone."""
    assert {name_of(path) for path in MODULES} == set(RANK_OF)


def test_the_fake_server_is_written_apart() -> None:
    """The fake server imports nothing from the package, so that a field name wrong in both cannot hide."""
    assert all("remote_evals" not in path.read_text("utf-8") for path in FAKE_SERVER.rglob("*.py"))


def test_no_test_module_imports_another() -> None:
    """What several test modules need stands in a module of its own, so that each can be read and run alone."""
    for path in Path(__file__).parent.rglob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom):
                assert ".test_" not in f".{node.module}", f"{path.name} imports {node.module}"


# A thread's error is carried to the event loop and raised there.
RAISED_LATER = {"threads.py"}


@pytest.mark.parametrize("package", ["remote_evals", "fake_server"])
def test_nothing_is_swallowed_in_silence(package: str) -> None:
    """No file catches everything: a bare `except:` and `except BaseException` without a raise hide bugs."""
    for path in (PACKAGE.parent / package).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ExceptHandler):
                caught = ast.unparse(node.type) if node.type else "BaseException"
                raises = any(isinstance(part, ast.Raise) for part in ast.walk(node))
                assert caught != "BaseException" or raises or path.name in RAISED_LATER, f"{path.name}:{node.lineno}"
