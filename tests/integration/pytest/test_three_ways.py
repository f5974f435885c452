"""One file of evals runs unchanged in process, against a deployment, and under pytest."""

import json
from pathlib import Path
from typing import Any

import pytest

from fake_server import FakeServer, load_script
from tests.serving.command import ROOT, remote_evals
from tests.serving.pytest_project import project, run, write

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.slow
__all__ = ["project"]

EXAMPLE = ROOT / "examples" / "order_eval.py"
TOKEN = {"REMOTE_EVALS_TOKEN": "demo-token-123"}
WRITE_CASES = """
import json, pathlib

def pytest_sessionfinish(session):
    runs = [json.loads(run.model_dump_json()) for item in session.items for run in item.case.runs]
    pathlib.Path("results.json").write_text(json.dumps({"results": runs}))
"""


def keep_comparable(result: dict[str, Any]) -> dict[str, Any]:
    """Return a result without times, ids, and what only a deployment reports."""
    calls = [
        {key: call[key] for key in ("name", "args", "outcome", "result", "turn")}
        for turn in result["turns"]
        for call in turn["tool_calls"]
    ]
    replies = [(turn["reply"], turn["finish_reason"], turn["steps"]) for turn in result["turns"]]
    known = {key: result[key] for key in ("name", "case", "status", "tags", "assertions", "error")}
    return {**known, "replies": replies, "calls": calls}


def read(path: Path) -> list[dict[str, Any]]:
    return [keep_comparable(result) for result in json.loads(path.read_text("utf-8"))["results"]]


def test_one_file_gives_equal_results_in_all_three_ways(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The example passes in process, with --url, and under pytest with and without a URL, with equal results."""
    folder = pytester.path
    write(pytester, "order_eval.py", EXAMPLE.read_text("utf-8"))
    write(pytester, "conftest.py", WRITE_CASES)
    with FakeServer(load_script(ROOT / "examples" / "refund.fake.yaml")) as server:
        local = remote_evals("run", "order_eval.py", "--json", "local.json", cwd=folder)
        remote = remote_evals("run", "order_eval.py", "--json", "url.json", "--url", server.url, cwd=folder, env=TOKEN)
        assert (local.code, remote.code) == (0, 0), local.all + remote.all
        run(pytester, "order_eval.py").assert_outcomes(passed=3)
        (folder / "results.json").rename(folder / "pytest.json")
        asked_by_command = len(server.requests)
        monkeypatch.setenv("REMOTE_EVALS_TOKEN", TOKEN["REMOTE_EVALS_TOKEN"])
        run(pytester, "order_eval.py", "--remote-url", server.url).assert_outcomes(passed=3)
        assert len(server.requests) == 2 * asked_by_command
    names = ("local.json", "url.json", "pytest.json", "results.json")
    first, *others = [read(folder / name) for name in names]
    assert [case["name"] for case in first] == [
        "order lookups / Where is order 41?",
        "order lookups / hash syntax",
        "remembers a name",
    ]
    assert all(case["replies"] and case["assertions"] for case in first)
    assert others == [first] * 3


def test_this_repositorys_own_run_collects_no_example() -> None:
    """`python -m pytest` in this repository collects no examples."""
    from tests.serving.command import run_python

    done = run_python("-m", "pytest", "--collect-only", "-q", "-k", "examples or order_eval or refund.eval")
    lines = done.out.splitlines()
    assert any(line.startswith("tests/docs/") for line in lines)
    assert [line for line in lines if line.startswith("examples/")] == []
