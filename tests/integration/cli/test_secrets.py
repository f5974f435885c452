"""Secrets given to the command in a wrong way, or echoed by a deployment, are never printed."""

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from fake_server import FakeServer, parse_script
from remote_evals.cli.app import app
from tests.serving.command import clean_environment, remote_evals

TOKEN = "t0k3n-qW7xqW7xqW7x"
# Some tokens look like the name of a variable.
NAME_LIKE = "ghp_qW7xqW7xqW7xqW7x"
CASE = "cases: [{name: a, prompt: x, must_contain: good}]\n"
SCRIPT = "replies: [{text: 'good {{authorization}}'}]"

RunRefused = Callable[..., str]


@pytest.fixture
def run_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> RunRefused:
    """Return a function that runs a suite with bad usage in this process, and returns what it printed on stderr.

    It asserts that nothing was sent, and that no secret and no traceback is shown.
    """
    for name in clean_environment().keys() ^ os.environ.keys():
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    suite = tmp_path / "s.eval.yaml"

    def run(*args: str, target: str = "", env: Mapping[str, str] | None = None) -> str:
        suite.write_text(target + CASE, "utf-8")
        for name, value in (env or {}).items():
            monkeypatch.setenv(name, value)
        with FakeServer(parse_script(SCRIPT)) as server, pytest.raises(SystemExit) as ended:
            app(["run", str(suite), "--url", server.url, *args])
        out, err = capsys.readouterr()
        assert (ended.value.code, server.requests, out) == (2, [], ""), err
        assert not any(secret in err for secret in (TOKEN, NAME_LIKE, "s3cr3t")), err
        assert "Traceback" not in err
        return err

    return run


@pytest.mark.parametrize("token", [TOKEN, NAME_LIKE], ids=["no name", "like a name"])
@pytest.mark.parametrize(
    ("option", "text"),
    [("--token-env", "--token-env"), ("--token-file", "the file that --token-file names cannot be read: No such file")],
)
def test_a_token_given_for_a_name_is_not_repeated(run_refused: RunRefused, option: str, text: str, token: str) -> None:
    """A token given by mistake as the name of a variable or file is not printed."""
    assert text in run_refused(option, token)


@pytest.mark.parametrize("token", [TOKEN, NAME_LIKE], ids=["no name", "like a name"])
def test_a_token_in_a_suite_is_not_repeated(run_refused: RunRefused, token: str) -> None:
    """A token written in a suite by mistake as the name of its variable is not printed."""
    assert "the suite's token_env" in run_refused(target=f"target: {{token_env: {token}}}\n")


@pytest.mark.parametrize("way", ["--token", "--token-env", "--token-file", "environment", "suite"])
def test_a_short_token_is_refused(run_refused: RunRefused, tmp_path: Path, way: str) -> None:
    """A token so short that redacting it would hide other words is refused, with the reason."""
    short = "s3cr3t7"
    (tmp_path / "token").write_text(short)
    args = {"--token": short, "--token-env": "SHORT", "--token-file": str(tmp_path / "token")}
    err = run_refused(
        *([way, args[way]] if way in args else []),
        target="target: {token_env: SHORT}\n" if way == "suite" else "",
        env={"REMOTE_EVALS_TOKEN": short} if way == "environment" else {"SHORT": short},
    )
    assert "the token cannot be sent: it has only 7 character(s)" in err
    assert "would blot out other words" in err


def test_the_word_bearer_is_to_be_left_out(run_refused: RunRefused) -> None:
    """A token that starts with 'Bearer' is refused with the advice to leave that word out."""
    assert "leave out the word 'Bearer', it is added" in run_refused("--token", f"Bearer {TOKEN}")


@pytest.mark.parametrize(
    ("header", "text"),
    [
        ("X: s3cr3t-é", "the value of the header X has characters other than visible ASCII"),
        ("X: s3cr3t-\x01", "the value of the header X has characters other than visible ASCII"),
        ("X: s3cr3t\nY: 1", "--header"),
        ("Content-Length: s3cr3t", "the header Content-Length is set by the request itself"),
        ("X-Api-Key: s3cr3t", "the value of the header X-Api-Key cannot be hidden: it has only 6 character(s)"),
    ],
    ids=["not ASCII", "control", "line break", "length", "short"],
)
def test_a_header_that_cannot_be_sent_is_refused(run_refused: RunRefused, header: str, text: str) -> None:
    """`--header` is checked before anything is sent, and its value is not printed."""
    assert text in run_refused("--header", header)


@pytest.mark.parametrize(
    ("header", "text"),
    [
        ('X: "s3cr3t-é"', "the value of the header X has characters other than visible ASCII"),
        ('X: "s3cr3t-\\r\\nY: 1"', "the value of the header X has characters other than visible ASCII"),
        ("Content-Length: s3cr3t", "the header Content-Length is set by the request itself"),
        ('"X Y": s3cr3t', "a header's name is letters, digits and dashes"),
        ("authorization: Bearer s3cr3t", "the value of the header authorization cannot be hidden"),
    ],
    ids=["not ASCII", "line break", "length", "name", "short"],
)
def test_a_header_of_a_suite_is_refused_with_its_line(
    run_refused: RunRefused, tmp_path: Path, header: str, text: str
) -> None:
    """Problems with a suite's headers are reported with file and line, without the value."""
    err = run_refused(target=f"target:\n  headers:\n    {header}\n")
    assert re.match(rf"{re.escape(str(tmp_path / 's.eval.yaml'))}:[23]: target\.headers: ", err), err
    assert text in err


UNSAFE_OPTIONS = {
    "no such header": (
        ("--header", "X-Tenant=s3cr3t-tenant", "--secret-header", "X-Tennant"),
        "the secret header 'X-Tennant' is not among the headers; did you mean 'X-Tenant'?",
    ),
    "value of a secret header": (
        ("--header", "X-Tenant=s3cr3t-tenant", "--secret-header", "X-Tenant=s3cr3t-tenant"),
        "a secret header is given by its name alone",
    ),
    "short secret header": (
        ("--header", "X-Tenant=s3cr3t", "--secret-header", "X-Tenant"),
        "the value of the secret header X-Tenant cannot be hidden: it has only 6 character(s)",
    ),
    "two tokens": (
        ("--token", TOKEN, "--header", "Authorization=Bearer s3cr3t-tok"),
        "a token was given and the header Authorization too, and only one can be sent; leave one of them out",
    ),
    "plain http": (
        ("--url", "http://agent.test/x", "--token", TOKEN),
        "http://agent.test/x is plain http, and the token could be read in transit; use https, or allow it with "
        "--insecure-http",
    ),
    "no bundle": (("--ca-bundle", "no-such.pem"), "the CA bundle no-such.pem cannot be read: No such file"),
}


@pytest.mark.parametrize("name", UNSAFE_OPTIONS)
def test_what_would_give_a_secret_away_is_refused(run_refused: RunRefused, name: str) -> None:
    """A secret that could not be hidden, or could be read in transit, stops the run before anything is sent."""
    args, text = UNSAFE_OPTIONS[name]
    assert text in run_refused(*args)


CREDENTIALS = {
    "s3cr3t-tok": ["--header", "Authorization=Bearer s3cr3t-tok"],
    "c00kie-value": ["--header", "Cookie: theme=dark-mode; sid=c00kie-value"],
    "t3nant-value": ["--header", "X-Tenant: t3nant-value", "--secret-header", "X-Tenant"],
    "qu3ry-value": [],
}
GIVEN = [arg for args in CREDENTIALS.values() for arg in args]


def test_credentials_that_come_back_are_in_no_output(tmp_path: Path) -> None:
    """Echoed credentials from headers, a cookie and the URL's query are redacted in all output."""
    suite, files = tmp_path / "s.eval.yaml", [tmp_path / name for name in ("r.json", "r.xml", "r.md", "summary.md")]
    suite.write_text("cases: [{name: a, prompt: x, must_contain: no such}]")
    script = f"replies: [{{text: 'got {' '.join(sorted(CREDENTIALS))}, {{{{authorization}}}}'}}]"
    args = ["--json", files[0], "--junit", files[1], "--markdown", files[2], "--save", tmp_path / "results"]
    # Include the debug output of Python and of the event loop.
    env = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(files[3]), "PYTHONDEVMODE": "1"}
    with FakeServer(parse_script(script)) as server:
        done = remote_evals("run", suite, "--url", f"{server.url}?api_key=qu3ry-value", *GIVEN, *args, env=env)
        [request] = server.requests
    assert done.code == 1, done.all
    assert request.headers["authorization"] == "Bearer s3cr3t-tok"
    files += list((tmp_path / "results").iterdir())
    everything = done.all + "".join(file.read_text("utf-8") for file in files)
    assert len(files) == 5
    assert not [secret for secret in CREDENTIALS if secret in everything]
    assert "got [redacted] [redacted] [redacted] [redacted], [redacted]" in done.out
    assert "::error" in done.out


BREAKING = """
import faulthandler

from remote_evals import define_eval
from remote_evals.running.runner import EvalRunner


def break_down(self, evals):
    faulthandler.dump_traceback()
    raise RuntimeError("broke down")


EvalRunner.run = EvalRunner.arun = break_down


@define_eval(name="a")
async def greet(t):
    await t.send("hi")
"""


def test_a_crash_shows_no_secret(tmp_path: Path) -> None:
    """If the command itself crashes, its traceback on stderr shows no local values."""
    (tmp_path / "broken_eval.py").write_text(BREAKING)
    url = "http://127.0.0.1:1?api_key=qu3ry-value"
    done = remote_evals("run", tmp_path / "broken_eval.py", "--url", url, *GIVEN, env={"PYTHONDEVMODE": "1"})
    assert "RuntimeError: broke down" in done.err
    assert "most recent call first" in done.err
    assert not [secret for secret in CREDENTIALS if secret in done.all], done.all
