"""Each exit code of the command, from a real deployment in the matching state."""

import json
from pathlib import Path

import pytest

from fake_server import FakeServer, parse_script
from tests.serving.command import ROOT, remote_evals

EXAMPLE = ROOT / "examples" / "refund.eval.yaml"
GOOD = "replies: [{text: all good}]"


def write_suite(folder: Path, *cases: str, name: str = "s.eval.yaml") -> Path:
    path = folder / name
    path.write_text("cases:\n" + "".join(f"  - {case}\n" for case in cases), "utf-8")
    return path


def test_all_passed_is_0() -> None:
    """All cases of the example pass against the fake server."""
    done = remote_evals("run", EXAMPLE, "--fake", ROOT / "examples" / "refund.fake.yaml")
    assert (done.code, "7/7 passed (100%)" in done.out) == (0, True), done.all


def test_a_failed_gate_is_1(tmp_path: Path) -> None:
    """One failed case fails the run, and the others are still shown."""
    path = write_suite(tmp_path, "{name: a, prompt: x, must_contain: good}", "{name: b, prompt: x, must_contain: bad}")
    with FakeServer(parse_script(GOOD)) as server:
        done = remote_evals("run", path, "--url", server.url)
    assert done.code == 1
    assert "[PASS] a" in done.out
    assert "output_contains('bad') failed: the reply was \"all good\"" in done.out


@pytest.mark.parametrize(("strict", "code"), [((), 0), (("--strict",), 1)], ids=["lenient", "strict"])
def test_a_failed_soft_check_counts_only_with_strict(tmp_path: Path, strict: tuple[str, ...], code: int) -> None:
    """A soft failure is always shown, but fails the run only with `--strict`."""
    path = write_suite(tmp_path, "{name: a, prompt: x, soft: {must_contain: bad}}")
    with FakeServer(parse_script(GOOD)) as server:
        done = remote_evals("run", path, "--url", server.url, *strict)
    assert done.code == code
    assert "output_contains('bad') failed" in done.out


def test_an_empty_selection_is_1_and_says_what_there_is(tmp_path: Path) -> None:
    """A tag or name that matches no case fails the run, and the nearest match is suggested."""
    path = write_suite(tmp_path, "{name: order lookup, prompt: x, tags: [smoke]}")
    done = remote_evals("run", path, "--url", "http://127.0.0.1:1", "--tag", "smok", "--only", "order lookp")
    assert done.code == 1
    assert "no case has the tag 'smok'; did you mean 'smoke'?" in done.err
    assert "no case is named 'order lookp'; did you mean 'order lookup'?" in done.err


def test_a_report_that_cannot_be_written_is_1(tmp_path: Path) -> None:
    """When a report cannot be written, the results are still shown and the report is named."""
    path = write_suite(tmp_path, "{name: a, prompt: x}")
    with FakeServer(parse_script(GOOD)) as server:
        done = remote_evals("run", path, "--url", server.url, "--json", "/dev/full", "--junit", path / "x.xml")
    assert done.code == 1
    assert "[PASS] a" in done.out
    assert "the report /dev/full could not be written: No space left on device" in done.err
    assert "x.xml could not be written" in done.err


@pytest.mark.parametrize(
    ("args", "text"),
    [
        (["--concurrency", "0"], "concurrency"),
        (["--timeout", "soon"], "--timeout: 'soon' is not a duration"),
        (["--url", "ftp://host"], "'ftp://host' is not a URL of a deployment"),
        (["--url", "http://me:hunter22@host"], "user name or password"),
        (["--token-env", "NOPE"], "the variable NOPE, named by --token-env, is not set"),
        (["--token-file", "nope.txt"], "the file that --token-file names cannot be read"),
        (["--token-env", "HOME", "--token", "hunter22"], "one token is enough"),
        (["--token", "hunter22 hunter22"], "the token cannot be sent"),
        (["--header", "hunter22"], "--header number 1 is not a header"),
        (["--fake", "nope.yaml"], "nope.yaml"),
        (["--fake", "nope.yaml", "--token", "hunter22"], "--fake brings its own URL and token; leave out --token"),
        (["--nope"], "No such option"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_bad_usage_is_2_and_sends_nothing(tmp_path: Path, args: list[str], text: str) -> None:
    """An invalid option is reported before anything is sent, without repeating a secret in it."""
    path = write_suite(tmp_path, "{name: a, prompt: x}")
    with FakeServer(parse_script(GOOD)) as server:
        done = remote_evals("run", path, *(["--url", server.url] if args[0] not in ("--url", "--fake") else []), *args)
        assert done.code == 2, done.all
        assert text in " ".join(done.err.split())
        assert "hunter22" not in done.all
        assert not server.requests


def test_every_mistake_in_every_suite_is_2_at_once(tmp_path: Path) -> None:
    """Problems in two files are reported at once, each with its file and line."""
    one = write_suite(tmp_path, "{name: a, promt: x}", name="one.eval.yaml")
    two = write_suite(tmp_path, "{name: a, prompt: x, max_steps: few}", name="two.eval.yaml")
    done = remote_evals("run", one, two, "--url", "http://127.0.0.1:1")
    assert done.code == 2
    assert f"{one}:2: cases[0].promt: unknown key 'promt'; did you mean 'prompt'?" in done.err
    assert f"{two}:2: cases[0].max_steps: " in done.err


def test_a_suite_without_target_is_2_and_names_the_three_ways(tmp_path: Path) -> None:
    """Without a URL, the message names each place where it can be set."""
    done = remote_evals("run", write_suite(tmp_path, "{name: a, prompt: x}"))
    assert done.code == 2
    assert all(way in done.err for way in ("`target:`", "--url", "REMOTE_EVALS_URL"))


def test_a_refused_token_is_3(tmp_path: Path) -> None:
    """A wrong token is an error rather than a failed check, and the token is not shown."""
    path = write_suite(tmp_path, "{name: a, prompt: x}")
    with FakeServer(parse_script(f"token: right-token-1\n{GOOD}")) as server:
        done = remote_evals("run", path, "--url", server.url, env={"REMOTE_EVALS_TOKEN": "wrong-token-2"})
    assert done.code == 3
    assert "[ERROR] a" in done.out
    assert "REMOTE_UNAUTHORIZED" in done.out
    assert "wrong-token-2" not in done.all


@pytest.mark.slow
def test_an_unreachable_deployment_is_4(tmp_path: Path) -> None:
    """A deployment that is down is an error rather than a failed check."""
    with FakeServer(parse_script(GOOD)) as server:
        url = server.url
    done = remote_evals("run", write_suite(tmp_path, "{name: a, prompt: x}"), "--url", url)
    assert done.code == 4
    assert "REMOTE_UNREACHABLE" in done.out
    assert "Connection refused" in done.out


def test_a_failed_gate_outweighs_a_case_that_could_not_be_judged(tmp_path: Path) -> None:
    """A run with both a failed check and a broken stream exits with 1, because the failure is certain."""
    path = write_suite(tmp_path, "{name: a, prompt: x, must_contain: bad}", "{name: b, prompt: cut}")
    script = "replies: [{when: {input: cut}, text: a b c, fault: {name: cut, after: 2}}, {text: all good}]"
    with FakeServer(parse_script(script)) as server:
        done = remote_evals("run", path, "--url", server.url)
    assert done.code == 1
    assert "[ERROR] b" in done.out


def test_a_case_that_takes_too_long_is_4_and_the_others_go_on(tmp_path: Path) -> None:
    """`--timeout` ends a case that hangs, and the message says how far it got."""
    path = write_suite(tmp_path, "{name: a, prompt: hang}", "{name: b, prompt: x, must_contain: good}")
    script = "replies: [{when: {input: hang}, text: a b c, fault: {name: silence, after: 3}}, {text: all good}]"
    with FakeServer(parse_script(script)) as server:
        done = remote_evals("run", path, "--url", server.url, "--timeout", "300ms", "--json", tmp_path / "r.json")
    assert done.code == 4
    results = json.loads((tmp_path / "r.json").read_text("utf-8"))["results"]
    assert [result["status"] for result in results] == ["error", "passed"]
    assert results[0]["error"]["code"] == "REMOTE_TIMEOUT"
    assert "300ms" in results[0]["error"]["message"]
    assert "text.delta" in results[0]["error"]["message"]
