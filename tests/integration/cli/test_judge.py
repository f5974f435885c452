"""Rubrics on the command line: a judge grades them, and only with `--judge`."""

import json
from pathlib import Path
from typing import Any

import pytest

from fake_server import FakeServer
from tests.serving.command import Finished, remote_evals
from tests.serving.deployments import serve

KEY = "judge-key-7f3a91"
FAIR = {"passed": True, "score": 0.9, "reason": "It is polite."}
RUBRIC = "cases: [{name: tone, prompt: hello, rubric: Is polite., threshold: 0.6}]"
NOWHERE = "http://127.0.0.1:1"
CHAT, JUDGE = "/chat", "/v1/chat/completions"


def judging(verdict: dict[str, Any] | None = None, **judge: Any) -> FakeServer:
    """Return a server with a polite agent and a judge that has one answer."""
    return serve({"text": "Good day."}, judge={"replies": [{"verdict": verdict or FAIR}], **judge})


def by_environment(url: str, **more: str) -> dict[str, str]:
    return {"REMOTE_EVALS_JUDGE_URL": url, "REMOTE_EVALS_JUDGE_MODEL": "m", **more}


def write(folder: Path, text: str = RUBRIC, name: str = "s.eval.yaml") -> Path:
    path = folder / name
    path.write_text(text, "utf-8")
    return path


def run_judged(folder: Path, server: FakeServer, *args: object) -> Finished:
    """Run the suite with the rubric, with the server as its agent and its judge."""
    path = write(folder)
    return remote_evals("run", path, "--url", server.url, "--judge", *args, env=by_environment(server.url))


def paths(server: FakeServer) -> list[str]:
    return [request.path for request in server.requests]


def test_a_rubric_is_graded_with_judge(tmp_path: Path) -> None:
    """With `--judge` the judged score is the case's, and the usage of the judge is separate from the agent's."""
    with judging() as server:
        done = run_judged(tmp_path, server, "--json", tmp_path / "r.json")
        assert paths(server) == [CHAT, JUDGE]
        asked = server.requests[1].body["messages"][1]["content"]
    assert done.code == 0, done.all
    assert all(text in asked for text in ("Is polite.", "hello", "Good day."))
    assert "judge: 120 tokens, cost unknown" in done.out.splitlines()[-1]
    (result,) = json.loads((tmp_path / "r.json").read_text("utf-8"))["results"]
    assert (result["score"], result["judged_score"], result["checks"]["rubric"]) == (0.9, 0.9, True)
    assert (result["judge_usage"]["total_tokens"], result["judge_usage"]["calls"]) == (120, 1)


@pytest.mark.parametrize(
    ("verdict", "message"),
    [
        ({"passed": True, "score": 0.5, "reason": "Curt."}, "scored 0.50 of at least 0.60: Curt."),
        ({"passed": False, "score": 0.9, "reason": "Rude."}, "the judge's own verdict 'not passed': Rude."),
    ],
    ids=["below the threshold", "not passed"],
)
def test_a_bad_verdict_is_1(tmp_path: Path, verdict: dict[str, Any], message: str) -> None:
    """A score below the threshold, and the judge's own no at any score, fail the case with the judge's reason."""
    with judging(verdict) as server:
        done = run_judged(tmp_path, server)
    assert done.code == 1, done.all
    assert "[FAIL] tone" in done.out
    assert message in done.out


def test_without_judge_a_rubric_is_skipped_and_said_so(tmp_path: Path) -> None:
    """Without `--judge` a configured judge is not asked and needs no key, and a warning says so."""
    with judging() as server:
        block = f"judge: {{url: '{server.url}', model: m, api_key_env: NOT_SET}}\n"
        done = remote_evals("run", write(tmp_path, block + RUBRIC), "--url", server.url)
        assert (done.code, paths(server)) == (0, [CHAT]), done.all
    assert "warning: rubric:skipped: rubrics are graded only with --judge" in done.out


def judged_folder(folder: Path) -> Path:
    write(folder, "cases: [{name: a, prompt: plain}]", "a.eval.yaml")
    write(folder, "cases: [{name: b, prompt: judged data}]", "b.judge.eval.yaml")
    code = "@define_eval(name='c')\nasync def c(t):\n    await t.send('judged code')\n    t.completed()\n"
    write(folder, f"from remote_evals import define_eval\n\n{code}", "c_judge_eval.py")
    code = code.replace("'c'", "'d'").replace("judged code", "more judged code")
    write(folder, f"from remote_evals import define_eval\n\n{code}", "eval_d_judge.py")
    return folder


@pytest.mark.parametrize(
    ("args", "prompts"),
    [((), ["plain"]), (("--judge",), ["plain", "judged data", "judged code", "more judged code"])],
    ids=["without", "with"],
)
def test_judged_suites_run_only_with_judge(tmp_path: Path, args: tuple[str, ...], prompts: list[str]) -> None:
    """`*.judge.eval.*` and `*_judge_eval.py` in a folder are left out without `--judge`."""
    with judging() as server:
        options = ["--url", server.url, "--concurrency", "1", *args]
        done = remote_evals("run", judged_folder(tmp_path), *options)
        assert [request.body["input"] for request in server.requests] == prompts
    assert done.code == 0, done.all


def test_judged_suites_that_are_named_are_told_to_need_judge(tmp_path: Path) -> None:
    """Judged suites that are named without `--judge` send nothing: the run is red, and a note names the option."""
    named = [judged_folder(tmp_path) / name for name in ("b.judge.eval.yaml", "eval_d_judge.py")]
    with judging() as server:
        done = remote_evals("run", *named, "--url", server.url)
        assert (done.code, server.requests) == (1, []), done.all
    for path in named:
        assert f"note: {path} asks a judge, which costs money; it runs only with --judge" in done.err
    assert "tag" not in done.err


def test_a_rubric_without_any_judge_is_1(tmp_path: Path) -> None:
    """`--judge` without a configured judge fails the rubric by a stable key, and says how to configure one."""
    with judging() as server:
        done = remote_evals("run", write(tmp_path), "--url", server.url, "--judge", "--json", tmp_path / "r.json")
        assert (done.code, paths(server)) == (1, [CHAT]), done.all
    assert "rubric:no_judge_configured failed: no judge is configured: set REMOTE_EVALS_JUDGE_URL" in done.out
    (result,) = json.loads((tmp_path / "r.json").read_text("utf-8"))["results"]
    assert result["checks"]["rubric:no_judge_configured"] is False


def test_a_judge_that_is_down_is_4(tmp_path: Path) -> None:
    """A case whose judge cannot be reached is an error without a score, and keeps the agent's reply."""
    with judging() as server:
        path = write(tmp_path, "cases: [{name: tone, prompt: x, rubric: r}, {name: plain, prompt: x}]")
        args = ["--url", server.url, "--judge", "--json", tmp_path / "r.json"]
        done = remote_evals("run", path, *args, env=by_environment(NOWHERE))
    assert done.code == 4, done.all
    assert f"JUDGE_UNREACHABLE: {NOWHERE}{JUDGE}: could not connect" in done.out
    tone, plain = json.loads((tmp_path / "r.json").read_text("utf-8"))["results"]
    assert (tone["status"], tone["judged_score"], tone["reply"]) == ("error", None, "Good day.")
    assert plain["status"] == "passed"


def test_a_judge_that_talks_nonsense_is_1(tmp_path: Path) -> None:
    """An answer without a verdict is a failed `judge_unparseable`, has no score, and is requested once."""
    with judging(replies=[{"content": "I would rather\nnot say."}]) as server:
        done = run_judged(tmp_path, server, "--json", tmp_path / "r.json")
        assert paths(server) == [CHAT, JUDGE]
    assert done.code == 1, done.all
    assert "judge_unparseable failed: " in done.out
    assert "I would rather not say." in done.out
    (result,) = json.loads((tmp_path / "r.json").read_text("utf-8"))["results"]
    assert (result["status"], result["judged_score"]) == ("failed", None)


def test_the_judge_of_a_suite_comes_first_and_its_key_is_never_shown(tmp_path: Path) -> None:
    """A `judge:` block overrides the environment; its key is sent to the judge, and is in no output or report."""
    reports = {"json": tmp_path / "r.json", "junit": tmp_path / "r.xml", "markdown": tmp_path / "r.md"}
    leaky = {"passed": False, "score": 0.1, "reason": f"I was called with {KEY}."}
    with judging(leaky, api_key=KEY) as server:
        block = f"judge: {{url: '{server.url}', model: grader, api_key_env: GRADER_KEY}}\n"
        args = [text for name, path in reports.items() for text in (f"--{name}", path)]
        env = by_environment(NOWHERE, GRADER_KEY=KEY)
        done = remote_evals("run", write(tmp_path, block + RUBRIC), "--url", server.url, "--judge", *args, env=env)
        assert server.requests[1].headers["authorization"] == f"Bearer {KEY}"
        assert server.requests[1].body["model"] == "grader"
    assert done.code == 1, done.all
    assert "I was called with" in done.out
    assert KEY not in done.all
    assert [name for name, path in reports.items() if KEY in path.read_text("utf-8")] == []


def test_a_key_that_is_not_set_is_2(tmp_path: Path) -> None:
    """A judged run whose key is missing stops before anything is sent, and names the variable."""
    block = f"judge: {{url: '{NOWHERE}', model: m, api_key_env: GRADER_KEY}}\n"
    with judging() as server:
        done = remote_evals("run", write(tmp_path, block + RUBRIC), "--url", server.url, "--judge")
        assert (done.code, server.requests) == (2, []), done.all
    assert "the variable GRADER_KEY, named by the suite's judge.api_key_env, is not set" in done.err


def test_code_asks_the_same_judge(tmp_path: Path) -> None:
    """`t.judge` in an eval in code gives the score of the environment's judge, for a soft check or a gate."""
    code = """from remote_evals import at_least, define_eval

@define_eval(name="tone", agent=lambda prompt: "Good day.")
async def tone(t):
    await t.send("hello")
    score = await t.judge("Is polite.")
    t.soft("very polite", score, at_least(0.95))
    t.check("polite", score, at_least(0.7))
"""
    with judging() as server:
        path = write(tmp_path, code, "tone_eval.py")
        done = remote_evals("run", path, "--judge", env=by_environment(server.url))
        assert paths(server) == [JUDGE]
    assert done.code == 0, done.all
    assert "soft: very polite" in done.out


@pytest.mark.parametrize(("score", "code"), [(0.9, 0), (0.1, 1)], ids=["good", "bad"])
@pytest.mark.parametrize("key", [None, KEY], ids=["open", "with a key"])
def test_the_judge_of_a_fake_script_is_asked(tmp_path: Path, score: float, code: int, key: str | None) -> None:
    """The judge of a `--fake` script grades with `--judge`, and overrides the environment's."""
    judge = {"replies": [{"verdict": {"score": score, "reason": "So it is."}}], **({"api_key": key} if key else {})}
    script = write(tmp_path, json.dumps({"replies": [{"text": "Good day."}], "judge": judge}), "fake.yaml")
    suite = write(tmp_path)
    done = remote_evals("run", suite, "--fake", script, "--judge", env=by_environment(NOWHERE))
    assert done.code == code, done.all
    assert "judge: 120 tokens" in done.out.splitlines()[-1]
    assert ("So it is." in done.out) == bool(code)
