"""What pytest prints about cases: failures, evidence and warnings, but never a token."""

from collections.abc import Iterator

import pytest

from fake_server import FakeServer, parse_script
from tests.serving.pytest_project import project, run, workers, write

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.slow
__all__ = ["project"]

TOKEN = "hush-token-4711"
SCRIPT = f"""
token: {TOKEN}
replies:
  - when: {{input: token}}
    text: "your token is {TOKEN}"
  - when: {{input: where}}
    steps:
      - tools: [{{name: lookup, args: {{id: "7"}}, result: {{}}}}]
      - text: Order 7 is in Lisbon.
  - text: Hello.
"""


@pytest.fixture
def url(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Serve the script, with its token in the variable MY_TOKEN."""
    monkeypatch.setenv("MY_TOKEN", TOKEN)
    with FakeServer(parse_script(SCRIPT)) as server:
        yield server.url


def make_options(url: str) -> list[str]:
    return ["--remote-url", url, "--remote-token-env", "MY_TOKEN"]


def test_a_failure_shows_what_failed_and_what_was_seen(pytester: pytest.Pytester, url: str) -> None:
    """A failed case shows its failed assertions, including soft ones, reply, tools and ids, but no traceback."""
    write(
        pytester,
        "a.eval.yaml",
        """
        cases:
          - name: wrong
            prompt: where
            must_contain: [Porto]
            forbidden_tools: [lookup]
            soft: {must_contain: Madrid}
        """,
    )
    done = run(pytester, *make_options(url))
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(
        [
            "*___ wrong ___*",
            "[[]FAIL[]] wrong (*",
            "*lookup*",
            "*Porto*",
            "*soft: *Madrid*",
            "*reply: Order 7 is in Lisbon.",
            '*tools: lookup({"id": "7"}) -> ok',
            "*session eval-* · trace *",
            "FAILED a.eval.yaml::wrong - * (and 1 more)",
        ]
    )
    done.stdout.no_fnmatch_line("*Traceback*")
    done.stdout.no_fnmatch_line("*NotPassedError*")


def test_a_failure_says_where_its_case_stands(pytester: pytest.Pytester, url: str) -> None:
    """The location of a failure is the file and the line of its case."""
    write(pytester, "a.eval.yaml", "cases:\n  - {name: a, prompt: hi}\n  - {name: b, prompt: hi, must_contain: Bye}\n")
    run(pytester, *make_options(url), "--tb=line").stdout.fnmatch_lines(["*a.eval.yaml:3: *Bye*"])


def test_a_case_that_cannot_be_judged_is_an_error(pytester: pytest.Pytester) -> None:
    """A deployment that is down is an error with its code, rather than a failure or a traceback."""
    write(pytester, "a.eval.yaml", "cases: [{name: down, prompt: hi}]")
    done = run(pytester, "--remote-url", "http://127.0.0.1:9")
    done.assert_outcomes(errors=1)
    done.stdout.fnmatch_lines(["[[]ERROR[]] down*", "*REMOTE_UNREACHABLE: http://127.0.0.1:9/chat*"])
    done.stdout.no_fnmatch_line("*Traceback*")


def test_an_eval_that_raises_is_an_error_with_its_line(pytester: pytest.Pytester) -> None:
    """An eval in code that raises is an error that names its file and line."""
    write(
        pytester,
        "a_eval.py",
        """
        from remote_evals import define_eval

        @define_eval(name="raises", agent=lambda prompt: "hi")
        def raises(t):
            t.send("hi")
            {}["missing"]
        """,
    )
    done = run(pytester)
    done.assert_outcomes(errors=1)
    done.stdout.fnmatch_lines(["*EVAL_FAILED: the eval raised KeyError*a_eval.py:7*"])


def test_a_repeated_case_is_one_item_that_lists_its_runs(pytester: pytest.Pytester) -> None:
    """A repeated case passes if `pass_at` of its runs do; it lists its runs, and warns if it is flaky."""
    code = """
        from remote_evals import define_eval

        asked = []

        def agent(prompt):
            asked.append(prompt)
            return "yes" if len(asked) % 3 else "no"

        @define_eval(name="sometimes", agent=agent, repeat=3, pass_at={})
        def sometimes(t):
            t.send("hi")
            t.output_contains("yes")
        """
    write(pytester, "a_eval.py", code.format(2))
    done = run(pytester, "-rP")
    done.assert_outcomes(passed=1)
    done.stdout.fnmatch_lines(["[[]PASS[]] sometimes 2/3 flaky*", "*sometimes #1*", "*sometimes #2*", "*sometimes #3*"])
    done.stdout.fnmatch_lines(["*remote-evals warnings*", "flaky: 2/3*", "  a_eval.py::sometimes"])
    write(pytester, "a_eval.py", code.format(3))
    done = run(pytester)
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["FAILED a_eval.py::sometimes - 2/3 runs passed, 3 needed; *"])


def test_a_skipped_rubric_is_a_warning(pytester: pytest.Pytester, url: str) -> None:
    """Without --remote-judge, a case with a rubric passes, and one warning says that it was not graded."""
    cases = "".join(f"  - {{name: case {n}, prompt: hi, rubric: is polite}}\n" for n in range(7))
    write(pytester, "a.eval.yaml", f"cases:\n{cases}")
    for extra in ([], workers(2)):
        done = run(pytester, *make_options(url), *extra)
        done.assert_outcomes(passed=7)
        remarks = [line for line in done.outlines if line.startswith("rubric:skipped")]
        assert remarks == ["rubric:skipped: rubrics are graded only with --remote-judge, or by a judge given in code"]
        done.stdout.fnmatch_lines(["  … and 2 more"])


def test_a_rubric_is_graded_with_the_option(
    pytester: pytest.Pytester, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With --remote-judge, the environment's judge grades a rubric; without a judge, the rubric fails."""
    write(pytester, "a.eval.yaml", "cases: [{name: polite, prompt: hi, rubric: is polite}]")
    done = run(pytester, *make_options(url), "--remote-judge")
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["*rubric:no_judge_configured*"])
    script = "judge: {replies: [{verdict: {score: 0.9, passed: true}}]}\nreplies: [{text: hi}]"
    with FakeServer(parse_script(script)) as judge:
        monkeypatch.setenv("REMOTE_EVALS_JUDGE_URL", judge.url)
        monkeypatch.setenv("REMOTE_EVALS_JUDGE_MODEL", "fake-judge")
        run(pytester, *make_options(url), "--remote-judge").assert_outcomes(passed=1)
        assert len(judge.requests) == 1


LEAKY = """
import logging, os

def test_leaks(remote_agent):
    token = os.environ["MY_TOKEN"]
    print("printed", token)
    logging.getLogger().warning("logged %s", token)
    result = remote_agent.send("token")
    remote_agent.output_contains("something else")
    assert result.reply == token

def test_unreachable(remote_agent, monkeypatch):
    token = os.environ["MY_TOKEN"]
    remote_agent.send("hi")
    raise RuntimeError(token)
"""


@pytest.mark.parametrize("spread", [[], workers(2)])
def test_no_output_holds_the_token(pytester: pytest.Pytester, url: str, spread: list[str]) -> None:
    """No output holds the token, even if replies, locals, captured output and XML would show it."""
    write(pytester, "a.eval.yaml", "cases: [{name: echo, prompt: token, must_contain: nothing}]")
    write(pytester, "test_leaky.py", LEAKY)
    done = run(
        pytester, *make_options(url), *spread, "--showlocals", "--full-trace", "-rA", "-vv", "--log-level=DEBUG",
        "--junitxml=out.xml", "-o", "junit_logging=all",
    )  # fmt: skip
    done.assert_outcomes(failed=3)
    shown = done.stdout.str() + done.stderr.str() + (pytester.path / "out.xml").read_text("utf-8")
    assert TOKEN not in shown
    assert "[redacted]" in shown


def test_a_mistake_shows_no_token(pytester: pytest.Pytester, url: str) -> None:
    """A problem in a file shows no token, even with all frames and locals."""
    write(pytester, "a.eval.yaml", "cases: [{name: one, prompt: hi, max_steps: '${MY_TOKEN}'}]")
    done = run(pytester, *make_options(url), "--showlocals", "--full-trace")
    done.assert_outcomes(errors=1)
    assert TOKEN not in done.stdout.str() + done.stderr.str()
