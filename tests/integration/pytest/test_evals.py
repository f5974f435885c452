"""Suites and evals in code as pytest items: how they are collected, selected and run."""

from xml.etree.ElementTree import fromstring

import pytest

from remote_evals import EvalCase, EvalRunner
from remote_evals.pytest_plugin.items import run_evals
from remote_evals.running.plan import as_evals
from tests.serving.pytest_project import CODE, SUITE, project, run, url, workers, write

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.slow
__all__ = ["project", "url"]


def test_the_installed_package_brings_the_plugin(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the package is installed, pytest loads the plugin along with this machine's other plugins."""
    monkeypatch.delenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD")
    pytester.makeini("[pytest]\nasyncio_default_fixture_loop_scope = function\nfilterwarnings = error")
    write(pytester, "orders_eval.py", CODE)
    run(pytester).assert_outcomes(passed=2)


def test_suites_and_code_are_collected_an_item_a_case(pytester: pytest.Pytester) -> None:
    """Every kind of file is collected as one item for each case, whose node id has its file and name."""
    write(pytester, "a.eval.yaml", SUITE)
    write(pytester, "b.eval.yml", SUITE)
    write(pytester, "c.eval.json", '{"cases": [{"name": "one", "prompt": "hi"}]}')
    write(pytester, "d.eval.jsonl", '{"id": "one", "input": "hi"}\n')
    write(pytester, "orders_eval.py", CODE)
    write(pytester, "eval_orders.py", CODE)
    done = run(pytester, "--collect-only", "-q")
    assert [line for line in done.outlines if "::" in line] == [
        "a.eval.yaml::lookup",
        "a.eval.yaml::greeting",
        "b.eval.yml::lookup",
        "b.eval.yml::greeting",
        "c.eval.json::one",
        "d.eval.jsonl::one",
        "eval_orders.py::orders / one",
        "eval_orders.py::orders / second : case",
        "orders_eval.py::orders / one",
        "orders_eval.py::orders / second : case",
    ]
    assert done.ret == 0


@pytest.mark.parametrize("args", [[], ["orders_eval.py"], ["-o", "python_files=*.py"], ["--doctest-modules"]])
def test_a_file_of_code_is_collected_once(pytester: pytest.Pytester, args: list[str]) -> None:
    """A file of evals in code is not also collected as a test module, even if pytest's options match it."""
    write(pytester, "orders_eval.py", CODE + "\n\ndef test_not_a_test_of_pytest():\n    assert False\n")
    run(pytester, *args).assert_outcomes(passed=2)


def test_an_agent_in_process_needs_no_url(pytester: pytest.Pytester) -> None:
    """Without a URL, evals in code run with their own agent, also when selected by node id."""
    write(pytester, "orders_eval.py", CODE)
    run(pytester).assert_outcomes(passed=2)
    run(pytester, "orders_eval.py::orders / second : case").assert_outcomes(passed=1)


def test_a_script_that_is_no_eval_is_left_alone(pytester: pytest.Pytester) -> None:
    """A file that is only named like a file of evals is not imported."""
    write(pytester, "eval_model.py", "raise SystemExit('a script that trains for hours')")
    write(pytester, "test_plain.py", "def test_plain(): pass")
    run(pytester).assert_outcomes(passed=1)


@pytest.mark.parametrize("by_variable", [False, True])
def test_the_url_comes_before_suites_and_agents(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, url: str, by_variable: bool
) -> None:
    """--remote-url, or REMOTE_EVALS_URL, overrides the target of a suite and the agent of an eval in code."""
    write(pytester, "a.eval.yaml", "target: {url: 'http://127.0.0.1:9'}\n" + SUITE)
    write(pytester, "hello_eval.py", CODE.replace('includes(case["input"])', 'includes("Hello.")'))
    if by_variable:
        monkeypatch.setenv("REMOTE_EVALS_URL", url)
    run(pytester, *([] if by_variable else ["--remote-url", url])).assert_outcomes(passed=4)


def test_a_suite_has_a_target_of_its_own(pytester: pytest.Pytester, url: str) -> None:
    """Without a URL, a suite is sent to its own target."""
    write(pytester, "a.eval.yaml", f"target: {{url: '{url}'}}\n{SUITE}")
    run(pytester).assert_outcomes(passed=2)


def test_without_a_target_each_item_is_an_error(pytester: pytest.Pytester) -> None:
    """A case without a target is an error that names the three ways to give one; plain tests still run."""
    write(pytester, "a.eval.yaml", SUITE)
    write(pytester, "bare_eval.py", CODE.replace('agent=lambda prompt: f"You said {prompt}",', ""))
    write(pytester, "test_plain.py", "def test_plain(): pass")
    done = run(pytester)
    done.assert_outcomes(passed=1, errors=4)
    suite = "NO_TARGET: no target: pass --remote-url URL, set REMOTE_EVALS_URL, or give the suite a `target:` with *"
    done.stdout.fnmatch_lines([suite])
    done.stdout.fnmatch_lines(["NO_TARGET: *, or give the eval an `agent=` or a `target=`"])


def test_tags_are_marks(pytester: pytest.Pytester, url: str) -> None:
    """Tags are marks that --strict-markers accepts; invalid characters are replaced, and `skip` skips nothing."""
    write(pytester, "a.eval.yaml", SUITE)
    options = ["--remote-url", url]
    run(pytester, *options).assert_outcomes(passed=2)
    run(pytester, *options, "-m", "smoke and needs_review").assert_outcomes(passed=1, deselected=1)
    run(pytester, *options, "-m", "skip_").assert_outcomes(passed=1, deselected=1)


def test_cases_are_chosen_by_name(pytester: pytest.Pytester, url: str) -> None:
    """-k selects cases by name."""
    write(pytester, "a.eval.yaml", SUITE)
    done = run(pytester, "--remote-url", url, "-k", "greet", "-v")
    done.assert_outcomes(passed=1, deselected=1)
    done.stdout.fnmatch_lines(["a.eval.yaml::greeting PASSED*"])


def test_the_same_names_stay_apart(pytester: pytest.Pytester) -> None:
    """Two cases whose names become the same in a node id have different node ids."""
    cases = 'cases:\n  - {name: "a::b", prompt: hi}\n  - {name: "a:b", prompt: hi}\n'
    write(pytester, "a.eval.yaml", cases)
    done = run(pytester, "--collect-only", "-q")
    done.stdout.fnmatch_lines(["a.eval.yaml::a:b", "a.eval.yaml::a:b (2)"])


def test_mistakes_in_a_suite_are_one_error(pytester: pytest.Pytester) -> None:
    """All problems in a file are one collection error, with their lines and no traceback."""
    write(pytester, "a.eval.yaml", "cases:\n  - {name: one, promt: hi}\n  - {name: two, prompt: hi, max_steps: many}\n")
    done = run(pytester)
    done.assert_outcomes(errors=1)
    done.stdout.fnmatch_lines(
        ["*ERROR collecting a.eval.yaml*", "a.eval.yaml:2: *'promt'*", "a.eval.yaml:3: *max_steps*"]
    )
    done.stdout.no_fnmatch_line("*Traceback*")
    done.stdout.no_fnmatch_line("*.py:*")


def test_a_file_of_code_with_a_syntax_error_is_one_error(pytester: pytest.Pytester) -> None:
    """A file of evals with a syntax error is a collection error with its line and no traceback."""
    write(pytester, "broken_eval.py", "from remote_evals import define_eval\n\ndef (:\n")
    done = run(pytester)
    done.assert_outcomes(errors=1)
    done.stdout.fnmatch_lines(["broken_eval.py:*: not Python: invalid syntax"])
    done.stdout.no_fnmatch_line("*Traceback*")


def test_a_judge_suite_needs_the_option(pytester: pytest.Pytester, url: str) -> None:
    """A suite whose name says that it asks a judge is collected only with --remote-judge, and else skipped."""
    write(pytester, "a.judge.eval.yaml", SUITE)
    write(pytester, "orders_judge_eval.py", CODE)
    done = run(pytester, "--remote-url", url, "-rs")
    done.assert_outcomes(skipped=2)
    done.stdout.fnmatch_lines(["*a.judge.eval.yaml: a suite that asks a judge is run only with --remote-judge"])
    run(pytester, "--remote-judge", "--collect-only", "-q").stdout.fnmatch_lines(["4 tests collected*"])


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--remote-url=ftp://host", "--remote-url: *http*"),
        ("--remote-url=", "--remote-url is empty*"),
        ("--remote-token-env=NO_SUCH_VARIABLE", "*NO_SUCH_VARIABLE*is not set*"),
        ("--remote-token-env=secret token", "*takes the name of an environment variable, not the token itself"),
    ],
)
def test_a_wrong_option_is_a_usage_error(pytester: pytest.Pytester, option: str, message: str) -> None:
    """An invalid option is a usage error before anything runs, without a traceback."""
    done = run(pytester, option)
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    done.stderr.fnmatch_lines([f"ERROR: {message}"])
    done.stderr.no_fnmatch_line("*secret token*")


def test_items_are_shared_among_workers(pytester: pytest.Pytester, url: str) -> None:
    """With -n 4, the cases are run by workers, and a failure is shown as without them."""
    cases = "".join(f"  - {{name: case {n}, prompt: hi, must_contain: Hello}}\n" for n in range(12))
    write(pytester, "a.eval.yaml", f"cases:\n{cases}  - {{name: wrong, prompt: hi, must_contain: Bye}}\n")
    write(pytester, "orders_eval.py", CODE.replace('"You said {prompt}"', '"Hello."').replace('case["input"])', '"H")'))
    done = run(pytester, "--remote-url", url, *workers(4))
    assert done.parseoutcomes()["failed"] >= 1
    done.stdout.fnmatch_lines(["[[]FAIL[]] wrong (*", "*Bye*", "*reply: Hello."])
    done.stdout.fnmatch_lines(["FAILED a.eval.yaml::wrong - *Bye*"])


def test_exitfirst_stops(pytester: pytest.Pytester, url: str) -> None:
    """With -x, nothing is sent after the first case that did not pass."""
    case = "{{name: case {}, prompt: hi, must_contain: Bye}}"
    write(pytester, "a.eval.yaml", "cases:\n" + "".join(f"  - {case.format(n)}\n" for n in range(3)))
    run(pytester, "--remote-url", url, "-x").assert_outcomes(failed=1)


def test_junit_xml_tells_failures_from_errors(pytester: pytest.Pytester, url: str) -> None:
    """--junitxml has a failure for a failed gate, and an error for a case that could not be judged."""
    write(pytester, "a.eval.yaml", SUITE + "  - {name: wrong, prompt: hi, must_contain: Bye, repeat: 2}\n")
    write(pytester, "down.eval.yaml", "target: {url: 'http://127.0.0.1:9'}\ncases: [{name: down, prompt: hi}]\n")
    write(pytester, "b.eval.yaml", f"target: {{url: '{url}'}}\n{SUITE}")
    run(pytester, "--junitxml=one.xml", "--remote-url", url, "a.eval.yaml")
    run(pytester, "--junitxml=two.xml", "down.eval.yaml")
    cases = {
        case.get("name"): case
        for name in ("one", "two")
        for case in fromstring((pytester.path / f"{name}.xml").read_text("utf-8")).iter("testcase")  # noqa: S314
    }
    failure, error = cases["wrong"].find("failure"), cases["down"].find("error")
    assert failure is not None
    assert error is not None
    assert "0/2 runs passed, 2 needed" in str(failure.get("message"))
    assert "wrong #2" in str(failure.text)
    assert "REMOTE_UNREACHABLE" in str(error.get("message"))
    assert cases["lookup"].get("classname") == "a.eval.yaml"
    assert {one.get("name") for one in cases["wrong"].iter("property")} >= {"session_id", "trace_id", "passed_runs"}


def test_a_run_without_evals_imports_nothing_heavy(pytester: pytest.Pytester) -> None:
    """A session without evals and options of the plugin imports no HTTP client, no pydantic and no rich."""
    heavy = "{'httpx', 'aiohttp', 'pydantic', 'rich', 'yaml', 'typer', 'remote_evals.suites.loading'}"
    write(
        pytester,
        "conftest.py",
        f"""
        import sys
        def pytest_unconfigure(config):
            assert "remote_evals.pytest_plugin" in sys.modules
            print("heavy:", sorted({heavy} & set(sys.modules)))
        """,
    )
    write(pytester, "test_plain.py", "def test_passes(): pass\ndef test_fails(): assert False\n")
    done = run(pytester)
    done.assert_outcomes(passed=1, failed=1)
    done.stdout.fnmatch_lines(["heavy: []"])


def test_the_loop_of_the_tests_stays(pytester: pytest.Pytester) -> None:
    """Running evals does not change the current event loop of plain tests."""
    write(pytester, "a_eval.py", CODE)
    write(
        pytester,
        "test_z.py",
        """
        import asyncio
        import pytest

        @pytest.fixture(scope="session", autouse=True)
        def loop():
            loop = asyncio.new_event_loop()
            asyncio.set_event_loop(loop)
            yield loop
            loop.close()

        def test_loop(loop):
            assert asyncio.get_event_loop_policy().get_event_loop() is loop
        """,
    )
    run(pytester, "test_z.py", "a_eval.py", "test_z.py").assert_outcomes(passed=3)


async def test_evals_run_inside_a_running_loop() -> None:
    """If pytest itself runs inside an event loop, as in a notebook, evals run in another loop."""
    runner = EvalRunner(agent=lambda prompt: "Hello.")
    report = run_evals(runner, as_evals(EvalCase(name="greeting", prompt="hi", expected_output_contains=("Hello",))))
    assert report.passed == 1
