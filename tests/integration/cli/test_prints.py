"""Output that an agent prints while the command runs, on GitHub Actions."""

from pathlib import Path

import pytest

from tests.serving.command import remote_evals
from tests.serving.github_log import find_commands

CODE = """from remote_evals import define_eval, includes

print("::error::imported")


def agent(prompt):
    print("::error::pwned{end}", end="", flush=True)
    return "Hello."


@define_eval(name="a", agent=agent)
async def a(t):
    await t.send("hi")
    t.check("word", t.reply, includes("WORD"))
"""


@pytest.mark.parametrize("word", ["Hello", "Bye"], ids=["passed", "failed"])
@pytest.mark.parametrize("end", ["\\n", ""], ids=["line", "no end of line"])
def test_what_an_agent_prints_is_no_command(tmp_path: Path, word: str, end: str) -> None:
    """Output of in-process code is shown, is no command, and does not hide the annotations of the run."""
    (tmp_path / "a_eval.py").write_text(CODE.replace("WORD", word).replace("{end}", end), "utf-8")
    done = remote_evals("run", cwd=tmp_path, env={"GITHUB_ACTIONS": "true"})
    assert done.code == (0 if word == "Hello" else 1), done.all
    assert done.out.count("::error::imported") == done.out.count("::error::pwned") == 1
    commands = [command.partition(" ")[0] for command in find_commands(done.out)]
    assert commands == ([] if word == "Hello" else ["::error"])
