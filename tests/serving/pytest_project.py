"""A project whose evals and tests pytest runs, and a deployment for it."""

import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from fake_server import FakeServer, parse_script

SCRIPT = """
token: demo-token-123
replies:
  - when: {input: where}
    steps:
      - tools: [{name: lookup, args: {id: "7"}, result: {}}]
      - text: Order 7 is in Lisbon.
  - text: Hello.
"""
SUITE = """
cases:
  - {name: lookup, prompt: where, tags: [smoke, needs review], expected_tools: [lookup]}
  - {name: greeting, prompt: hi, tags: [skip], must_contain: Hello}
"""
CODE = """
from remote_evals import define_eval, includes

@define_eval(name="orders", tags=["smoke"], agent=lambda prompt: f"You said {prompt}",
             cases=[{"input": "one"}, {"input": "two", "label": "second :: case"}])
async def orders(t, case):
    await t.send(case["input"])
    t.check("echoes", t.reply, includes(case["input"]))
"""


@pytest.fixture(autouse=True)
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove the settings of this machine, and be strict about marks and warnings."""
    for name in ("REMOTE_EVALS_URL", "REMOTE_EVALS_TOKEN", "REMOTE_EVALS_JUDGE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "200")
    # The other plugins of this machine take a second to load; a test that needs one asks for it.
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makeini("[pytest]\naddopts = -p remote_evals.pytest_plugin --strict-markers\nfilterwarnings = error")


@pytest.fixture
def url(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Serve the script, and set its token in the environment."""
    monkeypatch.setenv("REMOTE_EVALS_TOKEN", "demo-token-123")
    with FakeServer(parse_script(SCRIPT)) as server:
        yield server.url


def write(pytester: pytest.Pytester, name: str, text: str) -> Path:
    """Write a file of the project; return its path."""
    path = pytester.path / name
    path.write_text(textwrap.dedent(text), "utf-8")
    return path


def run(pytester: pytest.Pytester, *args: str) -> pytest.RunResult:
    """Run pytest in the project, in a process of its own."""
    return pytester.runpytest_subprocess(*args, timeout=60)


def workers(count: int) -> list[str]:
    """Return the options that run the tests in `count` processes."""
    return ["-p", "xdist", "-n", str(count)]
