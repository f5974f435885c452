"""A judge on an OpenAI-compatible server from another project, fakellm, in its own process."""

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from remote_evals.errors import JudgeError, JudgeUnparseableError
from remote_evals.judging import LLMJudge

RULES = [
    {
        "name": "polite",
        "when": {"messages_contain": "is polite", "model_matches": "judge-*"},
        "respond": {"content": '```json\n{"passed": true, "score": 0.9, "reason": "It says please."}\n```'},
    },
    {"name": "rude", "when": {"messages_contain": "is rude"}, "respond": {"content": "It is not.\n\n**Score:** 2/10"}},
    {"name": "busy", "when": {"messages_contain": "is busy"}, "respond": {"status": 429, "error": "slow down"}},
    {"name": "down", "when": {"messages_contain": "is down"}, "respond": {"status": 500, "error": "mock trouble"}},
]


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LLMJudge]:
    """Start the server on a free port, and stop it after the module's tests."""
    folder = tmp_path_factory.mktemp("fakellm")
    # JSON is valid YAML.
    (folder / "fakellm.yaml").write_text(json.dumps({"version": 1, "rules": RULES}), "utf-8")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [str(Path(sys.executable).with_name("fakellm")), "serve", "--port", str(port)]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            wait_for(port, process)
            yield LLMJudge(f"http://127.0.0.1:{port}/v1", "judge-1", api_key="not-looked-at")
        finally:
            process.terminate()


def wait_for(port: int, process: "subprocess.Popen[bytes]") -> None:
    """Return once the server listens. Raises `AssertionError` if it ends, or does not start in time."""
    end = time.monotonic() + 30
    while time.monotonic() < end:
        assert process.poll() is None, "fakellm ended"
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise AssertionError("fakellm does not listen")


async def test_it_gives_a_json_verdict(judge: LLMJudge) -> None:
    """A fenced JSON verdict is read, with the tokens that the server counted."""
    verdict = await judge.grade(rubric="The reply is polite.", request="Help!", reply="Please wait.")
    assert (verdict.score, verdict.passed, verdict.reason) == (0.9, True, "It says please.")
    assert 0 < verdict.usage.input_tokens < verdict.usage.total_tokens
    assert verdict.usage.cost_usd is None


async def test_it_gives_a_labelled_score(judge: LLMJudge) -> None:
    """A score in Markdown is read as one from 0 to 1."""
    verdict = await judge.grade(rubric="The reply is rude.", request="Help!", reply="Please wait.")
    assert (verdict.score, verdict.passed) == (0.2, None)


async def test_its_chatter_is_unparseable(judge: LLMJudge) -> None:
    """The echo of the server when no rule matches is not a verdict."""
    with pytest.raises(JudgeUnparseableError):
        await judge.grade(rubric="x", request="y", reply="z")


@pytest.mark.parametrize(("rubric", "message"), [("is busy", "429: slow down"), ("is down", "500: mock trouble")])
async def test_its_errors_are_told_in_its_words(judge: LLMJudge, rubric: str, message: str) -> None:
    """An error in OpenAI's form is quoted by its message."""
    with pytest.raises(JudgeError, match=message):
        await judge.grade(rubric=rubric, request="y", reply="z")
