"""Evals in code on the command line: run in process or against a deployment, selected, listed, and with problems."""

import json
import re
import shutil
import sys
from pathlib import Path

import pytest

from tests.serving.command import remote_evals, run_python
from tests.serving.deployments import serve

AGENT = """def make_agent():
    asked = []

    def agent(prompt):
        asked.append(prompt)
        return {"reply": f"Order 7 has shipped, question {len(asked)}.", "tool_calls": [CALL]}

    return agent


CALL = {"name": "lookup_order", "args": {"orderId": "7"}, "outcome": "ok"}
"""
ORDERS = """from order_agent import make_agent

from remote_evals import define_eval, includes


@define_eval(name="order lookups", tags=["smoke"], agent=make_agent,
             cases=[{"input": "Where is order 7?", "order_id": "7", "tags": ["slow"]},
                    {"input": "Status of #7", "order_id": "7", "label": "hash syntax"}])
async def order_lookups(t, case):
    await t.send(case["input"])
    t.completed()
    t.called_tool("lookup_order", args={"orderId": case["order_id"]})
    t.check("mentions the order", t.reply, includes("7"))


@define_eval(name="greeting", agent=make_agent)
async def greeting(t):
    await t.send("Hello")
"""
NAMES = ["order lookups / Where is order 7?", "order lookups / hash syntax"]
HEAD = "from remote_evals import define_eval\n\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a file of evals that imports the agent beside it."""
    (tmp_path / "evals").mkdir()
    (tmp_path / "evals" / "order_agent.py").write_text(AGENT)
    (tmp_path / "evals" / "orders_eval.py").write_text(ORDERS)
    return tmp_path


@pytest.mark.parametrize("where", ["in process", "--url"])
def test_one_file_runs_in_process_and_against_a_deployment(folder: Path, where: str) -> None:
    """The same evals pass with their own agent and with a deployment, which overrides the agent."""
    tool = {"name": "lookup_order", "args": {"orderId": "7"}, "result": "shipped"}
    with serve({"steps": [{"tools": [tool]}, {"text": "Order 7 has shipped."}]}) as server:
        args = ["--url", server.url] if where == "--url" else []
        done = remote_evals("run", "--only", "order lookups", "--json", "r.json", *args, cwd=folder)
        assert len(server.requests) == (2 if args else 0)
    assert done.code == 0, done.all
    results = json.loads((folder / "r.json").read_text("utf-8"))["results"]
    assert [row["name"] for row in results] == NAMES
    assert [row["checks"] for row in results] == [
        {"completed": True, "tool_called:lookup_order": True, "mentions the order": True}
    ] * 2


@pytest.mark.parametrize(
    ("args", "names"),
    [
        (["--only", NAMES[1]], NAMES[1:]),
        (["--only", "order lookups", "--tag", "slow"], NAMES[:1]),
    ],
    ids=["case", "eval and tag of a case"],
)
def test_only_and_tag_choose_evals_and_their_cases(folder: Path, args: list[str], names: list[str]) -> None:
    """`--only` accepts the name of an eval, for all its cases, or of one case, and `--tag` narrows the selection."""
    done = remote_evals("list", *args, cwd=folder)
    assert done.code == 0, done.all
    assert [line.partition(": ")[2].partition("  [")[0] for line in done.out.splitlines()] == names


def test_a_tag_and_a_name_that_no_case_has_together_are_1(folder: Path) -> None:
    """A tag and a name that exist but have no case in common are reported, with exit code 1."""
    done = remote_evals("run", "--only", "greeting", "--tag", "smoke", cwd=folder)
    assert done.code == 1, done.all
    assert "no case has both the chosen tag and the chosen name" in done.err


def test_list_and_validate_read_code_beside_data(folder: Path) -> None:
    """Both commands read files of code as they read suites, and run no test."""
    (folder / "evals" / "s.eval.yaml").write_text("cases: [{name: a, prompt: x}]")
    done = remote_evals("list", "evals", cwd=folder)
    assert done.out.splitlines() == [
        f"evals/orders_eval.py: {NAMES[0]}  [smoke, slow]",
        f"evals/orders_eval.py: {NAMES[1]}  [smoke]",
        "evals/orders_eval.py: greeting",
        "evals/s.eval.yaml: a",
    ]
    done = remote_evals("validate", "evals", cwd=folder)
    assert (done.code, done.out.splitlines()) == (
        0,
        ["evals/orders_eval.py: ok, 3 case(s)", "evals/s.eval.yaml: ok, 1 case(s)"],
    )


DATA = """target: {url: 'http://127.0.0.1:1'}
cases:
  - {name: a, prompt: x}
  - {name: a, prompt: y}
  - {name: b, prompt: z, repeat: 2, pass_at: 3}
"""
TWICE = "cases=[{'input': 'x'}, {'input': 'x'}]"
WRONG = {
    "a_eval.py": ("x = 1\ndef broken(:\n    pass\n", ":2: not Python: "),
    "b_eval.py": ("x = 1\nimport no_such_module_here\n", ":2: cannot be imported: ModuleNotFoundError: No module"),
    "c_eval.py": (
        f"{HEAD}@define_eval(name='e', {TWICE})\ndef e(t, case): ...\n",
        ":3: define_eval(name='e'): two cases",
    ),
    "d_eval.py": (
        f"{HEAD}@define_eval(name='e', repeat=2, pass_at=3)\ndef e(t): ...\n",
        ":3: define_eval(name='e'): pass_at 3",
    ),
    "e_eval.py": (f"{HEAD}@define_eval(name='e')\ndef e(t): ...\n" * 2, ":3: two evals are named 'e'"),
    "f_eval.py": ("x = 1\n", ": defines no eval"),
    "g_eval.py": (f"{HEAD}@define_eval(name='e')\ndef e(t): ...\n", ":3: the eval 'e' has no agent and no target"),
    "s.eval.yaml": (DATA, ":4: cases[1]: the name 'a' is already"),
}


def test_every_problem_in_code_and_data_is_2_at_once(folder: Path) -> None:
    """Broken files, repeated names and a `pass_at` above `repeat` are reported with file and line, and nothing runs."""
    for name, (text, _) in WRONG.items():
        (folder / "evals" / name).write_text(text)
    done = remote_evals("run", "evals", "--json", "r.json", cwd=folder)
    assert (done.code, done.out, (folder / "r.json").exists()) == (2, "", False), done.all
    lines = done.err.splitlines()
    missing = [name for name, (_, start) in WRONG.items() if not any(f"/{name}{start}" in line for line in lines)]
    assert missing == [], done.err
    assert any("s.eval.yaml:5: cases[2]" in line and "pass_at 3 can never be reached" in line for line in lines)
    assert len(lines) == len(WRONG) + 1


def test_a_problem_has_the_path_that_was_given(folder: Path) -> None:
    """An eval without a target is reported with a relative path if its file was given by one."""
    (folder / "evals" / "g_eval.py").write_text(WRONG["g_eval.py"][0])
    done = remote_evals("run", "evals/g_eval.py", cwd=folder)
    assert (done.code, done.out) == (2, ""), done.all
    assert done.err.startswith("evals/g_eval.py:3: the eval 'e' has no agent"), done.err


BROKEN = """from remote_evals import define_eval


@define_eval(name="raises", agent=lambda prompt: "good")
async def raises(t):
    await t.send("x")
    {}["missing"]


define_eval(name="scored", agent=lambda prompt: "good", input="x", score=lambda reply: 0.9)
"""


def test_a_test_that_raises_is_4_and_names_its_line(folder: Path) -> None:
    """A test that raises is an error of its case, with file and line; the other cases are still judged."""
    (folder / "evals" / "broken_eval.py").write_text(BROKEN)
    done = remote_evals("run", "evals/broken_eval.py", cwd=folder)
    assert done.code == 4, done.all
    assert "[ERROR] raises" in done.out
    assert "broken_eval.py:7" in done.out
    assert "KeyError: 'missing'" in done.out
    assert "[PASS] scored" in done.out


def test_a_test_that_never_sends_is_4_and_names_its_place(folder: Path) -> None:
    """A test that never calls `t.send()` is an error with the file and line of the eval."""
    (folder / "evals" / "silent_eval.py").write_text(
        f"{HEAD}@define_eval(name='silent', agent=lambda prompt: 'good')\nasync def silent(t): ...\n"
    )
    done = remote_evals("run", "evals/silent_eval.py", cwd=folder)
    assert (done.code, "[ERROR] silent" in done.out) == (4, True), done.all
    assert re.search(r"silent_eval\.py:[34]\b", done.out), done.out


def test_the_timeout_of_an_eval_names_its_limit(folder: Path) -> None:
    """The `timeout` of an eval ends a run in process too, and overrides `--timeout`."""
    (folder / "evals" / "slow_eval.py").write_text(
        f"import asyncio\n\n{HEAD}async def agent(prompt):\n    await asyncio.sleep(30)\n\n"
        "@define_eval(name='slow', agent=agent, timeout='200ms')\nasync def slow(t):\n    await t.send('x')\n"
    )
    done = remote_evals("run", "evals/slow_eval.py", "--timeout", "1m", cwd=folder)
    assert (done.code, "200ms" in done.out) == (4, True), done.all


def test_the_module_is_the_command(folder: Path) -> None:
    """`python -m remote_evals` does the same as the installed command."""
    command = shutil.which("remote-evals", path=str(Path(sys.executable).parent))
    assert command
    by_module, by_name = (run_python(*args, "list", cwd=folder) for args in (["-m", "remote_evals"], [command]))
    assert (by_module.code, by_module.out) == (0, by_name.out)


EXITING = {
    "a factory": "def make_agent():\n    sys.exit(0)\n",
    "an async factory": "async def make_agent():\n    sys.exit(0)\n",
    "an agent": "def make_agent():\n    def agent(prompt):\n        sys.exit(0)\n    return agent\n",
    "a task of its own": (
        "async def exit_now():\n    sys.exit(0)\n"
        "async def make_agent():\n    async def agent(prompt):\n"
        "        await asyncio.gather(asyncio.create_task(exit_now()), return_exceptions=True)\n"
        "        await asyncio.sleep(5)\n    return agent\n"
    ),
}


@pytest.mark.parametrize("name", EXITING)
def test_an_agent_that_exits_makes_no_run_pass(name: str, tmp_path: Path) -> None:
    """`sys.exit(0)` anywhere in an agent never makes the command exit with 0."""
    code = "import asyncio\nimport sys\nfrom remote_evals import define_eval\n\n" + EXITING[name]
    code += '\n\n@define_eval(name="x", agent=make_agent)\nasync def x(t):\n    await t.send("hi")\n    t.completed()\n'
    (tmp_path / "exiting_eval.py").write_text(code, "utf-8")
    done = remote_evals("run", tmp_path / "exiting_eval.py")
    assert done.code in (1, 4), done.all
    assert "SystemExit" in done.all or "called sys.exit()" in done.err
