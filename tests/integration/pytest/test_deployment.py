"""How pytest reaches a deployment, and what happens if the token is refused."""

from pathlib import Path

import pytest

from tests.serving.deployments import serve

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.slow

CASES = "defaults: {timeout: 300ms}\ncases: [{name: a, prompt: hi}, {name: b, prompt: hi, repeat: 2}]\n"


@pytest.fixture(autouse=True)
def suite(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a suite of two cases, in a project unaffected by this machine's environment variables."""
    for name in ("REMOTE_EVALS_URL", "REMOTE_EVALS_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makeini("[pytest]\naddopts = -p remote_evals.pytest_plugin\nfilterwarnings = error")
    path = pytester.path / "s.eval.yaml"
    path.write_text(CASES, "utf-8")
    return path


def run(pytester: pytest.Pytester, *args: str) -> pytest.RunResult:
    return pytester.runpytest_subprocess(*args, timeout=60)


def test_a_refused_token_is_met_once(pytester: pytest.Pytester) -> None:
    """After a 401, no other case is sent to that deployment; each is an error with the reason."""
    with serve(token="right-token-1") as server:
        done = run(pytester, "--remote-url", server.url)
        assert len(server.requests) == 1
    done.assert_outcomes(errors=2)
    done.stdout.fnmatch_lines(
        [
            "*REMOTE_UNAUTHORIZED: *. Give one by --remote-token-env NAME or REMOTE_EVALS_TOKEN.",
            "*TOKEN_REFUSED: not run, since the deployment refused*",
        ]
    )


def test_a_plain_test_is_told_of_pytests_options(pytester: pytest.Pytester) -> None:
    """The advice in an error from `remote_agent` names pytest's options."""
    (pytester.path / "test_plain.py").write_text(
        "def test_plain(remote_agent):\n    remote_agent.send('hi')\n", "utf-8"
    )
    with serve(token="right-token-1") as server:
        done = run(pytester, "test_plain.py", "--remote-url", server.url)
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["E*RemoteUnauthorizedError: *. Give one by --remote-token-env NAME *"])


def test_a_private_authority_is_named(pytester: pytest.Pytester) -> None:
    """--remote-ca-bundle is read before anything is sent, and a missing file is named in the error."""
    done = run(pytester, "--remote-url", "https://127.0.0.1:1", "--remote-ca-bundle", "no-such.pem")
    done.assert_outcomes(errors=2)
    done.stdout.fnmatch_lines(["*no-such.pem*"])


@pytest.mark.parametrize("allowed", [False, True])
def test_a_secret_over_plain_http_must_be_allowed(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, allowed: bool
) -> None:
    """A token is sent to another machine over plain HTTP only with --remote-insecure-http."""
    monkeypatch.setenv("REMOTE_EVALS_TOKEN", "right-token-1")
    done = run(pytester, "--remote-url", "http://agent.invalid", *["--remote-insecure-http"] * allowed)
    done.assert_outcomes(errors=2)
    done.stdout.fnmatch_lines(
        ["*REMOTE_UNREACHABLE*" if allowed else "*is plain http*, or allow it with --remote-insecure-http (*"]
    )
