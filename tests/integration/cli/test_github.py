"""The command on GitHub Actions: a step summary, annotations, and no other workflow commands."""

import json
from pathlib import Path

from tests.serving.command import Finished, remote_evals
from tests.serving.deployments import serve
from tests.serving.github_log import find_commands

# Each line alone would be a command to the runner, and the first would end a fence with a token that can be guessed.
ATTACK = "::stop-commands::x\n::error::pwned\n  ::set-env name=PATH::/tmp/evil\r\n::add-mask::e\n%0A::warning::pwned"


def run_on_github(folder: Path, cases: str, *args: object, summary: Path | None = None) -> Finished:
    """Run cases, as a step of a workflow does, with an agent whose reply is full of commands."""
    (folder / "s.eval.yaml").write_text(f"cases: {cases}", "utf-8")
    env = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(summary or folder / "summary.md")}
    with serve({"text": ATTACK}) as server:
        return remote_evals("run", "--url", server.url, *args, cwd=folder, env=env)


BAD = json.dumps([{"name": "a, b:%", "prompt": "x", "must_contain": "no\n::error::mine"}, {"name": "c", "prompt": "x"}])


def test_a_failure_is_annotated(tmp_path: Path) -> None:
    """A failed case is one error annotation with its file and name, escaped; a case that passed has none."""
    done = run_on_github(tmp_path, BAD)
    assert done.code == 1, done.all
    (command,) = find_commands(done.out)
    assert command.startswith("::error file=s.eval.yaml,title=a%2C b%3A%25::output_contains(")


def test_what_the_agent_says_is_no_command(tmp_path: Path) -> None:
    """A reply full of workflow commands is shown, and the runner obeys none of them, on either stream."""
    done = run_on_github(tmp_path, BAD)
    assert "pwned" in done.out
    commands = [*find_commands(done.out), *find_commands(done.err)]
    assert [command.split(" ")[0] for command in commands] == ["::error"]


def test_a_report_on_standard_output_is_no_command_either(tmp_path: Path) -> None:
    """A report that is written to /dev/stdout is fenced as the summary is."""
    done = run_on_github(tmp_path, BAD, "--markdown", "/dev/stdout")
    assert done.out.count("pwned") > 2
    assert [command.split(" ")[0] for command in find_commands(done.out)] == ["::error"]


def test_the_step_summary_is_added_to(tmp_path: Path) -> None:
    """The Markdown report follows the summaries of other steps, with the reply in a block that it cannot leave."""
    summary = tmp_path / "summary.md"
    summary.write_text("# another step\n")
    run_on_github(tmp_path, BAD, summary=summary)
    text = summary.read_text("utf-8")
    assert text.startswith("# another step\n### ❌ 1/2 passed (50%), 1 failed\n")
    fence, block, _ = text.split("```", 2)
    assert "pwned" not in fence
    assert "reply: ::stop-commands::x" in block


def test_annotations_are_capped(tmp_path: Path) -> None:
    """Ten of twelve failed cases are annotated, as many as GitHub shows, and a notice counts the others."""
    cases = json.dumps([{"name": f"case {n}", "prompt": "x", "must_contain": "no such text"} for n in range(12)])
    done = run_on_github(tmp_path, cases, "--quiet")
    *errors, notice = find_commands(done.out)
    assert (len(errors), notice.partition("::notice::")[2][:12]) == (10, "2 more cases"), errors


def test_a_summary_that_cannot_be_written_is_1(tmp_path: Path) -> None:
    """The results are still shown, and the error names the summary that could not be written."""
    done = run_on_github(tmp_path, "[{name: c, prompt: x}]", summary=tmp_path / "no" / "folder.md")
    assert (done.code, "[PASS] c" in done.out, list(find_commands(done.out))) == (1, True, []), done.all
    assert "folder.md could not be written" in done.err
