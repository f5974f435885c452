"""Secrets stay out of the reports of the Python API."""

from typing import Any

import pytest

from remote_evals import EvalCase, EvalRunner, LLMJudge, RemoteTarget, render_json_report
from tests.serving.deployments import PATIENT, serve

KEY = "judge-key-7f3a91"
REPLY = f"I know {KEY}."


def _agent(prompt: str) -> dict[str, Any]:
    return {"reply": REPLY, "tool_calls": [{"name": "leak", "args": {"key": KEY}, "result": KEY}]}


def _raising(prompt: str) -> str:
    raise LookupError(REPLY)


@pytest.mark.parametrize("where", ["in process", "raising", "deployed"])
def test_the_key_of_the_judge_is_in_no_report(where: str) -> None:
    """A key that the agent or the judge repeats is redacted in the report, wherever the agent runs."""
    verdict = {"verdict": {"passed": False, "score": 0.1, "reason": REPLY}}
    case = EvalCase(name="a", prompt="hi", rubric="Is polite.", expected_output_contains=("no such text",))
    with serve({"text": REPLY}, judge={"api_key": KEY, "replies": [verdict]}) as server:
        target = RemoteTarget(server.url, limits=PATIENT) if where == "deployed" else None
        agent = {"in process": _agent, "raising": _raising}.get(where)
        judge = LLMJudge(server.url, "m", api_key=KEY)
        report = EvalRunner(target, agent=agent, judge=judge, timeout_s=30).run(case)
    assert report.failed == 1
    for text in (repr(report), report.summary(), report.model_dump_json(), render_json_report(report)):
        assert KEY not in text
