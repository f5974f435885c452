"""Reports for the tests of reporters: builders of their parts, and one with everything that a reporter must show."""

import io
import os
from pathlib import Path
from typing import Any

from rich.console import Console

from remote_evals.evals import assertions
from remote_evals.evals.assertions import values as checks
from remote_evals.results import (
    AssertionResult,
    CaseError,
    EvalReport,
    EvalResult,
    JudgeUsage,
    PendingApproval,
    RunError,
    RunResult,
    Timing,
    ToolCall,
    Usage,
)
from remote_evals.results.run import combine_runs

SNAPSHOTS = Path(__file__).parents[2] / "snapshots"
NASTY = "\x1b[31mred\x1b[0m [bold]not bold[/bold] \x00 \ud83d \ufffe \u202e ##vso[task.x] <&\"'> 日本語 🎉"


def assert_snapshot(name: str, actual: str) -> None:
    """Compare with the stored output; REMOTE_EVALS_UPDATE_SNAPSHOTS=1 stores the actual output first."""
    path = SNAPSHOTS / name
    if os.environ.get("REMOTE_EVALS_UPDATE_SNAPSHOTS") == "1":
        path.write_bytes(actual.encode())
    assert actual.encode() == path.read_bytes()


class Screen(io.StringIO):
    """A text file that claims to be a terminal."""

    def isatty(self) -> bool:
        return True


def screen(width: int = 80) -> tuple[Console, Screen]:
    """Return the console of a terminal without colours, and the file it prints to."""
    file = Screen()
    return Console(file=file, width=width, force_terminal=True, color_system=None, _environ={}), file


def log(**options: Any) -> tuple[Console, io.StringIO]:
    """Return the console of a log, and the file it prints to."""
    file = io.StringIO()
    return Console(file=file, _environ={}, **options), file


def call(name: str, args: dict[str, Any] | None = None, **fields: Any) -> ToolCall:
    """Return a finished tool call."""
    return ToolCall(**{"id": "call_1", "name": name, "args": args or {}, "outcome": "ok", **fields})


def run(*calls: ToolCall, **fields: Any) -> RunResult:
    """Return a run of two steps that ended normally after 1.9 seconds."""
    defaults = {
        "reply": "Order 42 has shipped.",
        "finish_reason": "stop",
        "tool_calls": calls,
        "steps": 2,
        "usage": Usage(input_tokens=700, output_tokens=100, total_tokens=800, cost_usd=0.0031, model_calls=2),
        "timing": Timing(headers_ms=80, first_event_ms=95, first_text_ms=1200, total_ms=1900, longest_gap_ms=900),
        "last_event": "run.done",
        "run_id": "run-1",
        "trace_id": "4bf92f3577b34da6a3ce929d0e0e4736",
    }
    return RunResult(**{**defaults, **fields})


def case(name: str, *turns: RunResult, status: str = "passed", **fields: Any) -> EvalResult:
    """Return the result of a case of the suite "orders"."""
    defaults = {
        "case": name,
        "suite": "orders",
        "file": "evals/orders.eval.yaml",
        "session_id": "eval-7f3a",
        "run": combine_runs(turns),
        "turns": turns,
    }
    return EvalResult(**{"name": name, "status": status, **defaults, **fields})


def report(*results: EvalResult, **fields: Any) -> EvalReport:
    """Return a report of these results."""
    defaults = {
        "tool_version": "0.1.0",
        "started_at": "2026-03-01T12:00:00.000+00:00",
        "target": "https://shop.example/api/agent",
        "duration_ms": 36_400.0,
    }
    return EvalReport(**{**defaults, "results": results, **fields})


def rich_report() -> EvalReport:
    """Return the report that the snapshots show."""
    first = (_passed(), _odd(), _failed(), _broken_late(), _timed_out())
    cases = (*first, *_flaky(), _unreachable(), *_skipped(), _nasty())
    return report(*cases, interrupted=True)


def skipped(name: str, *turns: RunResult, code: str = "INTERRUPTED", message: str = "", **fields: Any) -> EvalResult:
    """Return a skipped case; by default, an interruption skipped it."""
    why = CaseError(code=code, message=message or "not done when the run was interrupted")
    return case(name, *turns, **{"status": "skipped", "error": why, **fields})


def under_way() -> RunResult:
    """Return a run that was cut off after it had called a tool."""
    refund = call("issue_refund", {"orderId": "41"}, outcome=None)
    unknown = {"reply": "", "finish_reason": None, "usage": None, "steps": 0, "missing": ("usage", "steps", "cost")}
    timing = Timing(headers_ms=80, first_event_ms=95, total_ms=4_000)
    return run(refund, **unknown, timing=timing, last_event="tool.start")


def repeated(name: str, *statuses: str, **fields: Any) -> list[EvalResult]:
    """Return the runs of one case, one for each status; a failed run has a reason."""
    return [
        case(
            f"{name} #{number}",
            run(run_id=f"run-{number}"),
            **{
                "status": status,
                "case": name,
                "session_id": f"eval-{number}",
                "assertions": (_make_check(status == "passed"),),
                **fields,
            },
        )
        for number, status in enumerate(statuses, start=1)
    ]


def soft(result: AssertionResult) -> AssertionResult:
    """Return a copy of the assertion as a soft one."""
    return result.model_copy(update={"kind": "soft"})


def _passed() -> EvalResult:
    one = run(call("lookup_order", {"orderId": "42"}, result={"state": "shipped"}, duration_ms=120))
    asserted = (
        assertions.ended(one),
        assertions.called_tool(one, "lookup_order", args={"orderId": "42"}),
        soft(assertions.check_value("tone", "curt", checks.includes("Thank you"))),
        assertions.max_cost_usd(one.model_copy(update={"missing": ("cost",)}), 0.01, unknown_cost="skip"),
    )
    return case("order lookup", one, assertions=asserted, tags=("smoke", "orders"))


def _odd() -> EvalResult:
    gap = "seq 7 came where 5 was due: 2 event(s) are missing"
    one = run(retries=1, warnings=(gap, "the stream ended after run.done without `event: done`"), run_id="run-odd")
    warnings = ("approve() named no tool while 2 requests were pending (refund, notify), and went to the first",)
    return case("store hours", one, assertions=(assertions.ended(one),), session_id="eval-0dd", case_warnings=warnings)


def _failed() -> EvalResult:
    question = run(reply="Which order do you mean?", timing=Timing(total_ms=700), run_id="run-2")
    lookup = call("lookup_order", {"orderId": "41"}, turn=2)
    fetch = call(
        "fetch",
        {"url": "https://carrier.example/track?no=41", "deep": {"items": [1, 2, 3]}},
        subagent_path=("research", "browser"),
        outcome="error",
        error=RunError(name="TimeoutError", message="no answer in 5s"),
        turn=2,
    )
    pending = PendingApproval(approval_id="a-1", tool_call_id="c-3", tool="refund", args={"orderId": "41"})
    done = run(
        lookup,
        fetch,
        call("refund", {"orderId": "41"}, outcome=None, turn=2),
        turn=2,
        reply="I found order 41.\r\n\nIt is late, so I will refund it:\n- 12 EUR\n- to your card\n\nOne moment.",
        finish_reason="awaiting-approval",
        pending_approval=pending,
        usage=Usage(input_tokens=900, output_tokens=80, total_tokens=980, estimated=True),
        missing=("cost",),
        trace_id="00f067aa0ba902b74bf92f3577b34da6",
    )
    whole = combine_runs([question, done])
    asserted = (
        assertions.called_tool(whole, "lookup_order", args={"orderId": "42"}),
        assertions.not_called_tool(whole, "refund"),
        assertions.output_contains(whole, "shipped"),
        assertions.max_steps(whole, 3),
        soft(assertions.check_value("tone", "curt", checks.includes("Thank you"))),
    )
    return case("refund needs approval", question, done, status="failed", assertions=asserted, tags=("refunds",))


def _broken_late() -> EvalResult:
    first = run(reply="Hello.")
    error = CaseError(
        code="REMOTE_STREAM",
        message="https://shop.example/api/agent: the stream ended before run.done. Look for a proxy that cuts it.",
    )
    return case(
        "greets by name",
        first,
        status="failed",
        error=error,
        assertions=(assertions.output_contains(first, "Ada"),),
    )


def _timed_out() -> EvalResult:
    partial = run(
        call("track", {"parcel": "P-1"}, outcome=None),
        reply="Let me look",
        finish_reason=None,
        usage=None,
        missing=("usage", "steps", "cost"),
        last_event="tool.start",
        timing=Timing(headers_ms=90, first_event_ms=100, first_text_ms=400, total_ms=30_000, longest_gap_ms=29_000),
    )
    error = CaseError(
        code="REMOTE_TIMEOUT",
        message="https://shop.example/api/agent: no event for 29s; the last was tool.start. "
        "Raise --idle-timeout, or see why the tool hangs.",
    )
    return case("parcel tracking", partial, status="error", error=error)


def _unreachable() -> EvalResult:
    error = CaseError(
        code="REMOTE_UNREACHABLE",
        message="https://shop.example/api/agent: the connection was refused. Is the deployment up?",
    )
    return case("opening hours", status="error", error=error, suite="info", file="evals/info.eval.yaml")


def _skipped() -> tuple[EvalResult, ...]:
    where = {"suite": "info", "file": "evals/info.eval.yaml"}
    never, cut_off = skipped("returns", session_id=None, **where), skipped("exchanges", under_way(), **where)
    return never, cut_off, skipped("gifts", session_id=None, **where)


def _nasty() -> EvalResult:
    one = run(
        call(NASTY, {NASTY: NASTY, "amount": float("nan"), "blob": b"\xff"}, result=object, subagent_path=(NASTY,)),
        reply=f"{NASTY}\n::error::not a command",
        finish_reason="error",
        error=RunError(name="ModelError", message=NASTY, code=NASTY),
    )
    asserted = (assertions.output_contains(one, "ok"), assertions.ended(one))
    return case(NASTY, one, status="failed", assertions=asserted, suite="info", file="evals/info.eval.yaml")


def _make_check(passed: bool) -> AssertionResult:
    return AssertionResult(
        name="output_contains('EUR')",
        key="output_contains:EUR",
        passed=passed,
        score=float(passed),
        message="" if passed else "output_contains('EUR') failed: the reply was ```12 $```",
    )


def _flaky() -> list[EvalResult]:
    usage = JudgeUsage(input_tokens=350, output_tokens=50, total_tokens=400, cost_usd=0.001, calls=1)
    where = {"suite": "refunds", "file": "evals/refunds_eval.py"}
    good = repeated("refund flow", "passed", "failed", "passed", pass_at=2, judge_usage=usage, **where)
    runs = [run(timing=Timing(total_ms=ms), reply="```\n12 $\n````" if ms > 2000 else "12 EUR") for ms in (1200, 2800)]
    scored = [
        one.model_copy(update={"judged_score": score, "run": ran, "turns": (ran,)})
        for one, score, ran in zip(good, (1.0, 0.5, 1.0), [*runs, run()], strict=True)
    ]
    return scored + _half_failed(where)


def _half_failed(where: dict[str, Any]) -> list[EvalResult]:
    *first, last = repeated("refund | @owner", "failed", "passed", "error", **where)
    overdue = CaseError(code="TIMEOUT", message="the case took longer than 10m")
    return [*first, last.model_copy(update={"error": overdue, "assertions": ()})]
