"""The fixture `remote_agent`, for plain tests that ask a deployment."""

import pytest

from tests.serving.pytest_project import project, run, url, workers, write

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.slow
__all__ = ["project", "url"]


def test_a_plain_test_asks_the_deployment(pytester: pytest.Pytester, url: str) -> None:
    """A test without `await` can send, read the result and assert; each test has its own session."""
    write(
        pytester,
        "test_plain.py",
        """
        import pytest
        from remote_evals import RunResult, includes

        sessions = set()

        @pytest.mark.parametrize("number", [1, 2])
        def test_lookup(remote_agent, number):
            result = remote_agent.send("where")
            assert isinstance(result, RunResult)
            assert result.reply == remote_agent.reply == "Order 7 is in Lisbon."
            remote_agent.completed()
            remote_agent.called_tool("lookup", args={"id": "7"})
            remote_agent.check("the reply", remote_agent.reply, includes("Lisbon"))
            remote_agent.last_turn.not_called_tool("refund")
            assert remote_agent.session_id not in sessions
            sessions.add(remote_agent.session_id)

        async def test_async(remote_agent):
            assert remote_agent.send("hi").reply == "Hello."
        """,
    )
    asynchronous = ["-p", "asyncio", "-o", "asyncio_mode=auto", "-o", "asyncio_default_fixture_loop_scope=function"]
    run(pytester, "--remote-url", url, *asynchronous).assert_outcomes(passed=3)
    run(pytester, "--remote-url", url, *asynchronous, *workers(4)).assert_outcomes(passed=3)


def test_failed_gates_fail_the_test_at_its_end(pytester: pytest.Pytester, url: str) -> None:
    """A test with failed gates fails after it returns, with all messages and no traceback."""
    write(
        pytester,
        "test_plain.py",
        """
        def test_wrong(remote_agent):
            remote_agent.send("where")
            remote_agent.called_tool("refund")
            remote_agent.output_contains("Porto")
            remote_agent.softly.output_contains("Madrid")
            print("came to its end")
        """,
    )
    done = run(pytester, "--remote-url", url)
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(
        [
            "*FAIL* test_wrong*",
            "*refund*",
            "*Porto*",
            "*soft: *Madrid*",
            "*reply: Order 7*",
            "*session eval-*",
            "came to *",
        ]
    )
    done.stdout.no_fnmatch_line("*pytest_plugin*")


def test_a_tests_own_failure_shows_what_was_seen(pytester: pytest.Pytester, url: str) -> None:
    """A test that fails by its own assertion shows it, and what the agent replied and called."""
    write(
        pytester,
        "test_plain.py",
        """
        def test_wrong(remote_agent):
            assert "Porto" in remote_agent.send("where").reply
        """,
    )
    done = run(pytester, "--remote-url", url)
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["E  *assert 'Porto' in *", "*remote_agent*", "*tools: lookup(*"])


def test_an_expected_failure_stays_one(pytester: pytest.Pytester, url: str) -> None:
    """A test with failed gates counts as the failure that `xfail` expects."""
    write(
        pytester,
        "test_plain.py",
        """
        import pytest

        @pytest.mark.xfail
        def test_wrong(remote_agent):
            remote_agent.send("hi")
            remote_agent.output_contains("Porto")
        """,
    )
    run(pytester, "--remote-url", url).assert_outcomes(xfailed=1)


def test_soft_failures_are_warnings(pytester: pytest.Pytester, url: str) -> None:
    """A soft failure does not fail the test, and is a warning at the end of the session."""
    write(
        pytester,
        "test_plain.py",
        """
        def test_soft(remote_agent):
            remote_agent.send("hi")
            remote_agent.softly.output_contains("Porto")
        """,
    )
    done = run(pytester, "--remote-url", url)
    done.assert_outcomes(passed=1)
    done.stdout.fnmatch_lines(["*remote-evals warnings*", "soft: *Porto*", "  test_plain.py::test_soft"])


def test_no_answer_raises_at_the_tests_own_line(pytester: pytest.Pytester) -> None:
    """A deployment that is down raises at once, and the traceback shows only the test's own line."""
    write(
        pytester,
        "test_plain.py",
        """
        def test_down(remote_agent):
            remote_agent.send("hi")
        """,
    )
    done = run(pytester, "--remote-url", "http://127.0.0.1:9")
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(['>*remote_agent.send("hi")', "E*RemoteUnreachableError: http://127.0.0.1:9/chat*"])
    done.stdout.no_fnmatch_line("*httpx*")


def test_without_a_url_it_skips(pytester: pytest.Pytester) -> None:
    """Without a URL, a test that uses the agent is skipped, and the reason says how to give one."""
    write(pytester, "test_plain.py", "def test_plain(remote_agent): pass")
    done = run(pytester, "-rs")
    done.assert_outcomes(skipped=1)
    done.stdout.fnmatch_lines(["SKIPPED*: no deployment to ask: pass --remote-url URL, or set REMOTE_EVALS_URL"])
