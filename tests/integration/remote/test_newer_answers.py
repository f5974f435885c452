"""Answers of newer servers, each with words that lead to the right deed: codes, sign-ins, expiry, content parts."""

import json
from typing import Any

import pytest

from remote_evals import EvalCase, EvalReport, EvalRunner, RemoteTarget
from remote_evals.cli.exits import decide_exit_code
from remote_evals.reporters import render_json_report
from tests.serving.deployments import PATIENT, REFUND, serve

TOKEN = "right-token-1"
SIGN_IN = {"provider": "github", "url": "https://login.test/start?state=1", "too_early": 1}
TICKET = {"steps": [{"tools": [{"name": "open_ticket", "sign_in": SIGN_IN}]}, {"text": "Opened."}]}


def run(*replies: dict[str, Any], turns: list[dict[str, Any]] | None = None) -> EvalReport:
    """Return the report of one case against a deployment that gives these replies."""
    case = EvalCase.model_validate({"name": "a", "turns": turns or [{"prompt": "refund"}, {"approve": True}]})
    with serve(*replies, token=TOKEN) as server:
        return EvalRunner(RemoteTarget(server.url, TOKEN, limits=PATIENT)).run(case)


def refuse(status: int, code: str, request: str = "approval", error: str = "No.") -> dict[str, Any]:
    """Return a reply whose requests of one kind are refused with a code."""
    body = {"error": error, "code": code}
    return {**REFUND, "fault": {"name": "status", "status": status, "body": body, "request": request}}


@pytest.mark.parametrize(
    ("status", "code", "request_", "advice"),
    [
        (409, "LOUSHO_APPROVAL_CONFLICT", "approval", "Another request decided this first"),
        (409, "LOUSHO_SIGNIN_PENDING", "approval", "Nobody has signed in yet"),
        (409, "SOMETHING_ELSE", "chat", "Another request came first"),
        (404, "LOUSHO_APPROVAL_NOT_FOUND", "approval", "The deployment no longer waits for this decision"),
        (403, "LOUSHO_APPROVAL_FORBIDDEN", "approval", "The token is good, but its user may not decide"),
        (403, "LOUSHO_SESSION_FORBIDDEN", "chat", "The token is good, but the session is another user's"),
    ],
)
def test_a_code_decides_what_to_try(status: int, code: str, request_: str, advice: str) -> None:
    """The code of a refused request is in the message and the report, and what is advised fits it: exit code 4."""
    report = run(refuse(status, code, request_))
    [result] = report.results
    assert result.error is not None
    assert (result.error.code, result.error.status, result.error.deployment_code) == ("REMOTE_STATUS", status, code)
    assert f"the answer was {status}: No. [{code}]. {advice}" in result.error.message
    assert json.loads(render_json_report(report))["results"][0]["error"]["deployment_code"] == code
    assert decide_exit_code(report) == 4


@pytest.mark.parametrize(("status", "code"), [(403, "SOMETHING_ELSE"), (401, "TOKEN_EXPIRED")])
def test_another_rejection_is_the_tokens(status: int, code: str) -> None:
    """A 401, and a 403 whose code does not say that the token is good, are a refused token, with its code."""
    report = run(refuse(status, code, "chat"))
    [result] = report.results
    assert result.error is not None
    assert (result.error.code, result.error.deployment_code) == ("REMOTE_UNAUTHORIZED", code)
    assert f"({status}: No. [{code}])" in result.error.message
    assert decide_exit_code(report) == 3


def test_a_code_shows_no_secret_and_takes_no_screen() -> None:
    """A token in a code is redacted before the code is shortened, and a control character is replaced."""
    report = run(refuse(409, "\x1b[31m" + "x" * 70 + TOKEN))
    [result] = report.results
    assert result.error is not None
    assert result.error.deployment_code is not None
    assert result.error.deployment_code.isprintable()
    assert len(result.error.deployment_code) <= 80
    assert "right" not in render_json_report(report)


def test_a_refused_decision_stays_pending() -> None:
    """What was not decided is still pending, in the report of the case that broke by it."""
    [result] = run(refuse(409, "LOUSHO_APPROVAL_CONFLICT")).results
    assert [request.tool for request in result.run.pending_approvals] == ["issue_refund"]


def test_a_prompt_while_a_session_waits_is_told_what_to_do() -> None:
    """A turn that the session refuses since it waits for a decision says so, by the code of its error."""
    [result] = run(REFUND, turns=[{"prompt": "refund", "finish_reason": "awaiting-approval"}, {"prompt": "x"}]).results
    assert result.status == "failed"
    assert result.turns[-1].error is not None
    assert result.turns[-1].error.code == "LOUSHO_SESSION_AWAITING_APPROVAL"
    message = next(failure.message for failure in result.failures if "AWAITING_APPROVAL" in failure.message)
    assert "Approve, reject or answer what the session waits for before the next prompt" in message


def test_a_sign_in_is_shown_and_not_followed() -> None:
    """A run that waits for a sign-in says for which tool, with whom and where, and the report has the URL."""
    report = run(TICKET, turns=[{"prompt": "go"}])
    [result] = report.results
    assert (
        "paused for a decision on open_ticket; it needs a sign-in for github at https://login.test/start?state=1, "
        "which no eval does: sign in there first, or expect this finish_reason"
    ) in result.failures[0].message
    [row] = json.loads(render_json_report(report))["results"]
    assert row["pending_approval"]["sign_in"] == {"provider": "github", "url": "https://login.test/start?state=1"}


def test_a_decision_before_the_sign_in_is_told() -> None:
    """A decision before the user has signed in is refused, and its message says to sign in first."""
    [result] = run(TICKET, turns=[{"prompt": "go"}, {"approve": True}]).results
    assert result.error is not None
    assert "Nobody has signed in yet" in result.error.message


def test_a_token_in_a_sign_ins_url_is_redacted() -> None:
    """A deployment that puts the token into the URL of a sign-in does not get it into a report."""
    url = {"provider": "x", "url": "https://login.test/{{authorization}}"}
    report = run({"steps": [{"tools": [{"name": "open_ticket", "sign_in": url}]}]}, turns=[{"prompt": "go"}])
    assert "https://login.test/Bearer [redacted]" in report.results[0].failures[0].message
    assert TOKEN not in render_json_report(report)


@pytest.mark.parametrize(("expires", "is_late"), [(0, True), ("10m", False)])
def test_an_approval_that_comes_too_late_warns(expires: Any, is_late: bool) -> None:
    """An approval after its request expired counts as a denial, and a warning says why the call was denied."""
    call = {**REFUND["steps"][0]["tools"][0], "expires": expires}
    [result] = run({"steps": [{"tools": [call]}, {"text": "x"}]}).results
    assert result.run.tool_calls[0].outcome == ("error" if is_late else "ok")
    assert [("it counts as a denial" in text) for text in result.case_warnings] == [True] * is_late


def test_a_turn_that_the_server_aborts_breaks_off_as_any_other() -> None:
    """At a server that aborts the turn when its client goes away, a case's limit ends it, and the next case is fine."""
    slow = {"when": {"input": "slow"}, "steps": [{"tools": [{"name": "pay", "duration": "10m"}]}]}
    cases = [EvalCase(name="a", prompt="slow", timeout=0.5), EvalCase(name="b", prompt="hi")]
    with serve(slow, {"text": "Hello."}, when_client_leaves="abort") as server:
        report = EvalRunner(RemoteTarget(server.url, limits=PATIENT), concurrency=1).run(cases)
    broken, fine = report.results
    assert (broken.error and broken.error.code, fine.status) == ("REMOTE_TIMEOUT", "passed")
    assert [(call.name, call.outcome) for call in broken.run.tool_calls] == [("pay", None)]


async def test_content_parts_are_sent_as_they_are(tmp_path: Any) -> None:
    """A prompt of content parts is sent unchanged, as data and in code, and each agent sees its text."""
    parts: list[dict[str, Any]] = [
        {"type": "text", "text": "What is this?"},
        {"type": "image", "url": "https://img.test/1.png", "new": [1]},
    ]
    case = EvalCase.model_validate({"name": "a", "prompt": parts, "must_contain": "What is this?"})
    with serve({"text": "You said {{input}}"}) as server:
        async with RemoteTarget(server.url, limits=PATIENT) as target, target.open_session() as session:
            await session.send(parts, 1)
        report = await EvalRunner(RemoteTarget(server.url, limits=PATIENT)).arun(case)
        sent = [request.body["input"] for request in server.requests]
    assert report.results[0].passed, report.results[0].failures
    assert sent == [parts, parts]


@pytest.mark.parametrize(
    ("prompt", "problem"),
    [
        ("", "must not be empty"),
        ([], "must have at least one content part"),
        (5, "must be a text, or a list of content parts"),
        (["x"], "content part 1: must be a mapping with a `type`"),
        ([{"type": "text", "text": "a"}, {"type": ""}], "content part 2: must be a mapping with a `type`"),
        ([{"type": "text"}], "content part 1: a part of type text needs a `text`"),
    ],
)
def test_what_is_no_prompt_is_refused(prompt: Any, problem: str) -> None:
    """A prompt of another shape is refused before anything is sent, with the number of the part."""
    with pytest.raises(ValueError, match=problem):
        EvalCase.model_validate({"name": "a", "prompt": prompt})
