"""The Python API: an `EvalRunner` over cases and evals, and the report that it returns."""

import asyncio
from typing import Any

import pytest

from remote_evals import (
    Eval,
    EvalCase,
    EvalContext,
    EvalReport,
    EvalRunner,
    RemoteTarget,
    RunResult,
    Timing,
    ToolCall,
    UsageError,
    define_eval,
    make_target,
    render_json_report,
)
from remote_evals.reporters.json_reader import parse_json_report
from tests.serving.deployments import greet, named, serve

ELIGIBLE = EvalCase(
    name="refunds_eligible_order",
    prompt="Refund order 41",
    expected_tools=("lookup_order",),
    expected_output_contains=("refunded",),
    max_steps=2,
    max_duration_ms=60_000,
    tool_order=("lookup_order", "issue_refund"),
)
UNKNOWN = EvalCase(
    name="rejects_unknown_order", prompt="Refund 99", expected_output_not_contains=("refunded",), max_steps=3
)


def shop(prompt: str) -> RunResult:
    """Refund any order, with tool calls only for order 41."""
    names = ["lookup_order", "issue_refund"] if "41" in prompt else []
    return RunResult(
        reply="It is Refunded.",
        finish_reason="stop",
        steps=2,
        tool_calls=tuple(ToolCall(id=name, name=name, outcome="ok") for name in names),
    )


def timed(report: EvalReport) -> EvalReport:
    """Return the report with the times of the issue's example."""
    times = [1872.4, 2448.6]
    results = [
        result.model_copy(update={"run": result.run.model_copy(update={"timing": Timing(total_ms=ms)})})
        for result, ms in zip(report.results, times, strict=True)
    ]
    return report.model_copy(update={"results": tuple(results), "duration_ms": 4321.2})


def test_the_summary_has_the_shape_of_the_issue() -> None:
    """The summary has a heading, the total time, and a row per run with score, time and each failed check."""
    assert timed(EvalRunner(agent=shop).run([ELIGIBLE, UNKNOWN])).summary() == "\n".join(
        [
            "Eval Report: 1/2 passed (avg score: 0.75)",
            "Total duration: 4321ms",
            "  [PASS] refunds_eligible_order (score: 1.00, 1872ms)",
            "  [FAIL] rejects_unknown_order (score: 0.50, 2449ms)",
            "         - output_not_contains:refunded: FAILED",
        ]
    )


def test_a_report_counts_and_adds_up() -> None:
    """A report has its results, the numbers of passed and failed cases, their mean score and the total time."""
    report = EvalRunner(agent=shop).run([ELIGIBLE, UNKNOWN])
    assert (report.total_cases, report.passed, report.failed, report.avg_score) == (2, 1, 1, 0.75)
    assert [result.case_name for result in report.results] == ["refunds_eligible_order", "rejects_unknown_order"]
    assert report.total_duration_ms == report.duration_ms > 0


def test_a_result_says_what_happened() -> None:
    """A result has the reply, tools, steps, time, score, error, and its checks under stable keys."""
    first, second = EvalRunner(agent=shop).run([ELIGIBLE, UNKNOWN]).results
    assert (first.passed, first.score, first.output, first.iterations) == (True, 1.0, "It is Refunded.", 2)
    assert (first.tools_called, first.error) == (["lookup_order", "issue_refund"], None)
    assert first.duration_ms > 0
    assert first.checks == {
        "tool_called:lookup_order": True,
        "tool_sequence": True,
        "output_contains:refunded": True,
        "within_iteration_budget": True,
        "within_duration_budget": True,
    }
    assert second.checks == {"output_not_contains:refunded": False, "within_iteration_budget": True}


async def test_every_assertion_has_a_stable_key() -> None:
    """Each kind of assertion has a stable key, whatever its options; a key passes if all its assertions did."""

    @define_eval(name="all", agent=shop)
    async def every(t: EvalContext) -> None:
        await t.send("Refund 41")
        t.completed()
        t.called_tool("lookup_order", times=1)
        t.called_tool("lookup_order", times=2)
        t.not_called_tool("cancel")
        t.tool_order(["lookup_order"], exact=True)
        t.output_contains("x")
        t.output_matches("^It")
        t.max_steps(1)
        t.max_tokens(1)
        t.max_cost_usd(1)
        t.max_duration_ms(60_000)
        t.max_first_text_ms(60_000)

    [result] = (await EvalRunner().arun(every)).results
    assert result.checks == {
        "completed": True,
        "tool_called:lookup_order": False,
        "tool_not_called:cancel": True,
        "tool_sequence": False,
        "output_contains:x": False,
        "output_matches:^It": True,
        "within_iteration_budget": False,
        "within_token_budget": False,
        "within_cost_budget": False,
        "within_duration_budget": True,
        "within_first_text_budget": True,
    }


def test_an_error_is_in_the_summary() -> None:
    """A case that could not be judged is shown with the code of its error."""

    async def broken(t: EvalContext) -> None:
        raise LookupError("no such order")

    report = EvalRunner(agent=shop).run(define_eval(name="broken")(broken))
    assert (report.passed, report.failed, report.count("error")) == (0, 0, 1)
    assert (
        "  [ERROR] broken (score: 0.00, 0ms)\n         - EVAL_FAILED: the eval raised LookupError" in report.summary()
    )


def test_a_report_goes_to_json_and_back() -> None:
    """A report can be read back unchanged from its JSON."""
    report = EvalRunner(agent=shop).run([ELIGIBLE, UNKNOWN])
    assert parse_json_report(render_json_report(report)) == report
    assert EvalReport.model_validate_json(report.model_dump_json()) == report


async def test_run_works_inside_a_running_loop() -> None:
    """`run` can be called while an event loop runs, as in a notebook, even against a deployment."""
    with serve() as server:
        report = EvalRunner(RemoteTarget(server.url)).run(named("a", "b"))
    assert [result.status for result in report.results] == ["passed", "passed"]


def test_run_may_be_called_again() -> None:
    """One runner and one target can run several times, each time in an event loop of its own."""
    with serve() as server:
        runner = EvalRunner(RemoteTarget(server.url))
        for _ in range(2):
            assert [result.status for result in runner.run(named("a")).results] == ["passed"]


def test_one_case_may_be_given_alone() -> None:
    """A single case, eval or definition needs no list."""
    runner = EvalRunner(agent=shop)
    assert runner.run(ELIGIBLE).total_cases == 1
    assert runner.run(define_eval(name="a")(greet)).total_cases == 1


async def test_the_runners_target_overrides_the_evals() -> None:
    """The runner's target, or agent, overrides an eval's own; an eval's target overrides its agent."""

    def say(word: str) -> Any:
        return make_target(lambda prompt: word)

    own = define_eval(name="a", agent=lambda prompt: "agent", target=say("target"))(greet)
    agent_only = define_eval(name="b", agent=lambda prompt: "agent")(greet)

    async def reply(runner: EvalRunner, runnable: Any) -> str:
        return (await runner.arun(runnable)).results[0].output

    assert await reply(EvalRunner(say("runner"), agent=lambda prompt: "other"), own) == "runner"
    assert await reply(EvalRunner(agent=lambda prompt: "runner's agent"), own) == "runner's agent"
    assert await reply(EvalRunner(), own) == "target"
    assert await reply(EvalRunner(), agent_only) == "agent"


@pytest.mark.parametrize("runs", [0, -1])
def test_runs_below_one_are_a_usage_error(runs: int) -> None:
    """A number of runs below one is a usage error: it would give an empty report."""
    with pytest.raises(UsageError, match="runs"):
        EvalRunner(agent=shop, runs=runs).run(ELIGIBLE)


def test_two_cases_of_one_name_are_refused() -> None:
    """Two cases with the same name are a usage error that says the name: one would hide the other."""
    twice = [ELIGIBLE, UNKNOWN.model_copy(update={"name": ELIGIBLE.name})]
    with pytest.raises(UsageError, match=f"two cases are named '{ELIGIBLE.name}'"):
        EvalRunner(agent=shop).run(twice)


def test_two_suites_may_name_a_case_alike() -> None:
    """Cases with the same name in two suites are two cases."""
    suites = [Eval("a", greet, suite=suite) for suite in ("one", "two")]
    assert EvalRunner(agent=shop).run(suites).total_cases == 2


@pytest.mark.parametrize("repeat", [None, 2])
def test_a_case_that_could_never_pass_is_refused(repeat: int | None) -> None:
    """A `pass_at` above the number of runs of its case is a usage error before anything is sent."""
    asked: list[str] = []
    case = Eval("a", greet, repeat=repeat, pass_at=3)
    with pytest.raises(UsageError, match=r"the case 'a': pass_at 3 can never be reached"):
        EvalRunner(agent=asked.append).run(case)
    assert asked == []


async def test_a_runner_in_a_loop_leaves_the_loop_free() -> None:
    """While `arun` waits for a plain agent, the event loop is not blocked."""
    asked, go = asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    def agent(prompt: str) -> str:
        loop.call_soon_threadsafe(asked.set)
        asyncio.run_coroutine_threadsafe(go.wait(), loop).result(10)
        return "Hello."

    running = asyncio.create_task(EvalRunner(agent=agent).arun(named("a")))
    await asyncio.wait_for(asked.wait(), 10)
    go.set()
    assert (await running).passed == 1
