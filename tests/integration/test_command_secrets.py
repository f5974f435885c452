"""Secrets that were given to the command in a wrong way, or that come back: told what is wrong, and never repeated."""

import re
from pathlib import Path

import pytest

from fake_server import FakeServer, parse_script
from tests.integration.command import Finished, remote_evals

TOKEN = "t0k3n-qW7xqW7xqW7x"
# As some are: it could be the name of a variable.
NAME_LIKE = "ghp_qW7xqW7xqW7xqW7x"
CASE = "cases: [{name: a, prompt: x, must_contain: good}]\n"
SCRIPT = "replies: [{text: 'good {{authorization}}'}]"


def run_refused(folder: Path, *args: str, target: str = "", env: dict[str, str] | None = None) -> Finished:
    """Run a suite with bad usage, and assert that it is that, sends nothing, and shows no secret and no traceback."""
    suite = folder / "s.eval.yaml"
    suite.write_text(target + CASE, "utf-8")
    with FakeServer(parse_script(SCRIPT)) as server:
        done = remote_evals("run", suite, "--url", server.url, *args, env=env)
        assert (done.code, server.requests) == (2, []), done.all
    assert not any(secret in done.all for secret in (TOKEN, NAME_LIKE, "s3cr3t")), done.all
    assert "Traceback" not in done.all
    return done


@pytest.mark.parametrize("token", [TOKEN, NAME_LIKE], ids=["no name", "like a name"])
@pytest.mark.parametrize(
    ("option", "text"),
    [("--token-env", "--token-env"), ("--token-file", "the file that --token-file names cannot be read: No such file")],
)
def test_a_token_given_for_a_name_is_not_repeated(tmp_path: Path, option: str, text: str, token: str) -> None:
    """Whoever gives the token itself where the name of a variable or file belongs does not find it in the log."""
    assert text in run_refused(tmp_path, option, token).err


@pytest.mark.parametrize("token", [TOKEN, NAME_LIKE], ids=["no name", "like a name"])
def test_a_token_in_a_suite_is_not_repeated(tmp_path: Path, token: str) -> None:
    """Nor is a token repeated that stands in a suite for the variable that holds it."""
    assert "the suite's token_env" in run_refused(tmp_path, target=f"target: {{token_env: {token}}}\n").err


@pytest.mark.parametrize("way", ["--token", "--token-env", "--token-file", "environment", "suite"])
def test_a_short_token_is_refused(tmp_path: Path, way: str) -> None:
    """A token so short that redacting it would blot out other words is refused, and why is told."""
    short = "s3cr3t7"
    (tmp_path / "token").write_text(short)
    args = {"--token": short, "--token-env": "SHORT", "--token-file": str(tmp_path / "token")}
    done = run_refused(
        tmp_path,
        *([way, args[way]] if way in args else []),
        target="target: {token_env: SHORT}\n" if way == "suite" else "",
        env={"REMOTE_EVALS_TOKEN": short} if way == "environment" else {"SHORT": short},
    )
    assert "the token cannot be sent: it has only 7 character(s)" in done.err
    assert "would blot out other words" in done.err


def test_the_word_bearer_is_to_be_left_out(tmp_path: Path) -> None:
    """Whoever gives the whole header as token is told what is too much, and not that of a space."""
    done = run_refused(tmp_path, "--token", f"Bearer {TOKEN}")
    assert "leave out the word 'Bearer', it is added" in done.err


@pytest.mark.parametrize(
    ("header", "text"),
    [
        ("X: s3cr3t-é", "the value of the header X has characters other than visible ASCII"),
        ("X: s3cr3t-\x01", "the value of the header X has characters other than visible ASCII"),
        ("X: s3cr3t\nY: 1", "--header"),
        ("Content-Length: s3cr3t", "the header Content-Length is set by the request itself"),
    ],
    ids=["not ASCII", "control", "line break", "length"],
)
def test_a_header_that_cannot_be_sent_is_refused(tmp_path: Path, header: str, text: str) -> None:
    """`--header` is checked before anything is sent, and its value is not repeated."""
    assert text in run_refused(tmp_path, "--header", header).err


@pytest.mark.parametrize(
    ("header", "text"),
    [
        ('X: "s3cr3t-é"', "the value of the header X has characters other than visible ASCII"),
        ('X: "s3cr3t-\\r\\nY: 1"', "the value of the header X has characters other than visible ASCII"),
        ("Content-Length: s3cr3t", "the header Content-Length is set by the request itself"),
        ('"X Y": s3cr3t', "a header's name is letters, digits and dashes"),
    ],
    ids=["not ASCII", "line break", "length", "name"],
)
def test_a_header_of_a_suite_is_refused_with_its_line(tmp_path: Path, header: str, text: str) -> None:
    """A suite's headers are checked as the rest of it is: told with file and line, without the value."""
    done = run_refused(tmp_path, target=f"target:\n  headers:\n    {header}\n")
    assert re.match(rf"{re.escape(str(tmp_path / 's.eval.yaml'))}:[23]: target\.headers: ", done.err), done.err
    assert text in done.err


def test_credentials_that_come_back_are_in_no_output(tmp_path: Path) -> None:
    """Credentials of `--header`, a cookie and the URL's query are redacted in all output where they are echoed."""
    secrets = {"s3cr3t-tok", "c00kie-value", "qu3ry-value"}
    suite, reports = tmp_path / "s.eval.yaml", [tmp_path / "r.json", tmp_path / "r.xml"]
    suite.write_text("cases: [{name: a, prompt: x, must_contain: no such}]")
    script = f"replies: [{{text: 'got {' '.join(sorted(secrets))}, {{{{authorization}}}}'}}]"
    with FakeServer(parse_script(script)) as server:
        args = ["--header", "Authorization=Bearer s3cr3t-tok", "--header", "Cookie: theme=dark-mode; sid=c00kie-value"]
        args += ["--json", str(reports[0]), "--junit", str(reports[1])]
        done = remote_evals("run", suite, "--url", f"{server.url}?api_key=qu3ry-value", *args)
        [request] = server.requests
    assert done.code == 1, done.all
    assert request.headers["authorization"] == "Bearer s3cr3t-tok"
    everything = done.all + "".join(report.read_text("utf-8") for report in reports)
    assert not [secret for secret in secrets if secret in everything]
    assert "got [redacted] [redacted] [redacted], [redacted]" in done.out
