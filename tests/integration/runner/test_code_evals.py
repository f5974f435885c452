"""Evals in code: what their `t` sees, and how those that break are reported."""

import asyncio
import inspect
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from remote_evals import (
    EvalContext,
    EvalResult,
    EvalRunner,
    RemoteTarget,
    at_least,
    define_eval,
    equals,
    includes,
    load_suites,
    make_evals,
)
from remote_evals.testing import scripted_agent
from tests.serving.deployments import PATIENT, serve

ORDERS: list[dict[str, Any]] = [
    {
        "when": {"input": "7"},
        "steps": [
            {
                "tools": [{"name": "lookup_order", "args": {"orderId": "7"}, "result": "shipped"}],
                "usage": {"input": 10, "output": 5, "cost_usd": 0.01},
            },
            {"text": "Order 7 has shipped.", "usage": {"input": 20, "output": 5, "cost_usd": 0.02}},
        ],
    },
    {"text": "Hello."},
]


def hello(prompt: str) -> str:
    return "Hello."


def first(test: Any, **settings: Any) -> EvalResult:
    [result] = EvalRunner(**{"agent": hello, "timeout_s": 10, **settings}).run(define_eval(name="a")(test)).results
    return result


def test_the_eval_of_the_issue_passes() -> None:
    """The example eval of the issue runs against a deployment, with one named row per case."""

    @define_eval(
        name="order lookups",
        tags=["smoke"],
        agent=hello,
        cases=[
            {"input": "Where is order 7?", "order_id": "7"},
            {"input": "Status of #7", "order_id": "7", "label": "hash syntax"},
        ],
    )
    async def order_lookups(t: EvalContext, case: Mapping[str, Any]) -> None:
        await t.send(case["input"])
        t.completed()
        t.called_tool("lookup_order", args={"orderId": case["order_id"]})
        t.check("mentions the order", t.reply, includes("7"))

    with serve(*ORDERS) as server:
        report = EvalRunner(RemoteTarget(server.url, limits=PATIENT)).run(order_lookups)
    assert [(result.name, result.status, result.tags) for result in report.results] == [
        ("order lookups / Where is order 7?", "passed", ("smoke",)),
        ("order lookups / hash syntax", "passed", ("smoke",)),
    ]


def test_t_sees_everything_so_far() -> None:
    """After each turn, `t` has its reply, all turns, all calls with their turn, and the sums over the turns."""
    seen: list[Any] = []

    async def test(t: EvalContext) -> None:
        seen.append((t.reply, t.results, t.tool_calls, t.result.steps, t.pending))
        result = await t.send("Where is order 7?")
        seen.append((t.reply, len(t.results), t.result.steps, result is t.results[-1]))
        await t.send("hi")
        await t.send("Order 7 again")
        calls = [(call.name, call.turn, call.subagent_path) for call in t.tool_calls]
        usage = t.result.usage
        seen.append((t.reply, len(t.results), t.result.steps, calls, usage and round(usage.cost_usd or 0, 4)))
        t.completed()

    with serve(*ORDERS) as server:
        result = first(test, target=RemoteTarget(server.url, limits=PATIENT), agent=None)
        sessions = {request.body["sessionId"] for request in server.requests}
    assert seen == [
        ("", seen[0][1], (), 0, None),
        ("Order 7 has shipped.", 1, 2, True),
        (
            "Order 7 has shipped.",
            3,
            5,
            [("lookup_order", 1, ()), ("lookup_order", 3, ())],
            0.06,
        ),
    ]
    assert sessions == {result.session_id}


def test_plain_functions_work_too() -> None:
    """A plain function gives the same result as an async one, except for times and ids."""

    async def asynchronous(t: EvalContext) -> None:
        await t.send("Where is order 7?")
        t.called_tool("lookup_order")
        t.output_contains("nothing")

    def plain(t: Any) -> None:
        t.send("Where is order 7?")
        t.called_tool("lookup_order")
        t.output_contains("nothing")

    with serve(*ORDERS) as server:
        one, other = (
            first(test, target=RemoteTarget(server.url, limits=PATIENT), agent=None) for test in (asynchronous, plain)
        )
    assert one.assertions == other.assertions
    assert (one.status, one.run.usage, one.run.steps) == (other.status, other.run.usage, other.run.steps)


def test_more_plain_functions_than_threads_do_not_wait_for_each_other() -> None:
    """Many plain evals can run at once against a plain agent: none takes a thread that another needs."""
    count = 64

    @define_eval(name="e", agent=hello, cases=[{"input": str(number)} for number in range(count)])
    def test(t: Any, case: Mapping[str, Any]) -> None:
        t.send(case["input"])
        t.completed()

    report = EvalRunner(concurrency=count, timeout_s=3).run(test)
    assert report.passed == count, report.results[-1].error


def line_of(function: Any, offset: int) -> str:
    return f"({__file__}:{function.__code__.co_firstlineno + offset})"


async def raises(t: EvalContext) -> None:
    await t.send("hi")
    raise LookupError("no such order")


def raises_plainly(t: Any) -> None:
    t.send("hi")
    raise LookupError("no such order")


async def fails_an_assert(t: EvalContext) -> None:
    await t.send("hi")
    assert t.reply == "Bye.", "no such order"


def _helper() -> None:
    raise LookupError("no such order")


async def raises_in_a_helper(t: EvalContext) -> None:
    await t.send("hi")
    _helper()


@pytest.mark.parametrize("test", [raises, raises_plainly, fails_an_assert])
def test_an_eval_that_raises_names_its_line(test: Any) -> None:
    """A test that raises is an error of its case, with the exception, file and line; its runs so far are kept."""
    result = first(test)
    assert result.status == "error"
    assert result.error is not None
    assert result.error.code == "EVAL_FAILED"
    assert "no such order" in result.error.message
    assert result.error.message.endswith(line_of(test, 2))
    assert result.output == "Hello."


def test_an_eval_that_raises_in_a_helper_names_a_line_of_its_file() -> None:
    """An exception in a helper of the same file is reported with the helper's line."""
    result = first(raises_in_a_helper)
    assert result.error is not None
    assert result.error.message.endswith(line_of(_helper, 1))


def test_an_eval_that_raises_far_away_names_its_own_line() -> None:
    """An exception in another file is reported with the line of the eval that called it."""

    async def test(t: EvalContext) -> None:
        await t.send("hi")
        inspect.getsource(3)  # type: ignore[arg-type]  # this is what is wrong with it

    result = first(test)
    assert result.error is not None
    assert result.error.message.endswith(line_of(test, 2))


@pytest.mark.parametrize("error", [StopIteration, StopAsyncIteration, SystemExit])
def test_no_exception_of_a_plain_eval_hangs_the_run(error: type[BaseException]) -> None:
    """Exceptions that Python itself gives a meaning are an error of their case too, and the others run."""

    def test(t: Any, case: Mapping[str, Any]) -> None:
        t.send("hi")
        t.completed()
        if case["input"] == "b":
            raise error

    cases = [{"input": word} for word in "abc"]
    report = EvalRunner(agent=hello, concurrency=1, timeout_s=2).run(define_eval(name="e", cases=cases)(test))
    assert [result.status for result in report.results] == ["passed", "error", "passed"]
    assert report.results[1].error is not None
    assert report.results[1].error.code == "EVAL_FAILED"


async def sends_nothing(t: EvalContext) -> None:
    t.check("a", 1, equals(1))


async def asserts_nothing(t: EvalContext) -> None:
    await t.send("hi")


@pytest.mark.parametrize(("test", "message"), [(sends_nothing, "sent nothing"), (asserts_nothing, "asserted nothing")])
def test_an_eval_that_does_nothing_is_an_error(test: Any, message: str) -> None:
    """A test that never sends, or never asserts, is an error of its case that names its file and line."""
    result = first(test)
    assert (result.status, result.error and result.error.code) == ("error", "EVAL_EMPTY")
    assert result.error is not None
    assert message in result.error.message
    assert f"{__file__}:" in result.error.message


def test_an_eval_whose_checks_were_all_skipped_needs_a_normal_end() -> None:
    """If all checks of a test were skipped, its run is checked for a normal end."""

    async def test(t: EvalContext) -> None:
        await t.send("hi")
        t.check("polite", await t.judge("Is polite."), at_least(0.7))

    result = first(test, judging=False)
    assert [made.name for made in result.assertions if not made.skipped] == ["completed()"]


def test_a_failed_check_stops_nothing() -> None:
    """A check that fails is recorded, and the checks after it are made."""

    async def test(t: EvalContext) -> None:
        await t.send("hi")
        t.output_contains("a certain word")
        t.output_contains("hello")
        t.soft("word", t.reply, includes("other"))

    result = first(test)
    assert [(one.kind, one.passed) for one in result.assertions] == [("gate", False), ("gate", True), ("soft", False)]
    assert result.status == "failed"
    assert result.score == pytest.approx(1 / 3)


def test_the_classic_form_runs() -> None:
    """With input and score, an eval is one scored assertion, whose score is that of the case."""
    eval_ = define_eval(
        name="greets", agent=scripted_agent(["Hello, dear."]), input="hi", score=lambda reply: 0.75, threshold=0.8
    )
    [result] = EvalRunner().run(eval_).results
    assert (result.status, result.score, list(result.checks)) == ("failed", 0.75, ["score"])


def test_a_score_function_that_raises_is_an_error_of_its_case() -> None:
    """A score function that raises is an error that names its line."""

    def score(reply: str) -> float:
        return 1 / 0

    [result] = EvalRunner(agent=hello).run(define_eval(name="a", input="hi", score=score)).results
    assert result.error is not None
    assert result.error.code == "EVAL_FAILED"
    assert result.error.message.endswith(line_of(score, 1))


def test_a_plain_eval_that_hangs_is_given_up() -> None:
    """A plain function whose agent never answers is CASE_TIMEOUT."""

    async def hang(prompt: str) -> str:
        await asyncio.Event().wait()
        return "never"

    def test(t: Any) -> None:
        t.send("hi")

    result = first(test, agent=hang, timeout_s=0.1)
    assert (result.status, result.error and result.error.code) == ("error", "CASE_TIMEOUT")


async def test_a_plain_eval_that_was_given_up_sends_no_more() -> None:
    """A plain function that goes on after its time limit sends nothing more."""
    over, done = threading.Event(), threading.Event()
    prompts: list[str] = []

    async def agent(prompt: str) -> str:
        prompts.append(prompt)
        return "Hello."

    def test(t: Any) -> None:
        over.wait(10)
        try:
            t.send("too late")
        finally:
            done.set()

    report = await EvalRunner(agent=agent, timeout_s=0.1).arun(define_eval(name="a")(test))
    over.set()
    await asyncio.to_thread(done.wait, 10)
    assert report.results[0].error is not None
    assert report.results[0].error.code == "CASE_TIMEOUT"
    assert prompts == []


def test_the_time_limit_of_an_eval_overrides_the_runners() -> None:
    """An eval's own time limit overrides the runner's, and "0" means none."""

    async def slow(prompt: str) -> str:
        late = asyncio.Event()
        asyncio.get_running_loop().call_later(0.15, late.set)
        await late.wait()
        return "Hello."

    async def test(t: EvalContext) -> None:
        await t.send("hi")
        t.completed()

    limited = define_eval(name="limited", timeout="10ms")(test)
    free = define_eval(name="free", timeout="0")(test)
    patient, hasty = EvalRunner(agent=slow, timeout_s=10), EvalRunner(agent=slow, timeout_s=0.01)
    assert patient.run(limited).results[0].error is not None
    assert hasty.run(free).passed == 1


@pytest.mark.parametrize("is_relative", [False, True], ids=["absolute", "relative"])
def test_an_eval_of_a_file_names_that_file(is_relative: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An eval that was loaded from a file and raises names that file, spelled as it was given, and its line."""
    path = tmp_path / "broken_eval.py"
    path.write_text(
        "from remote_evals import define_eval\n"
        "@define_eval(name='a', agent=str)\n"
        "async def a(t):\n"
        "    await t.send('hi')\n"
        "    raise LookupError('no such order')\n",
        "utf-8",
    )
    if is_relative:
        monkeypatch.chdir(tmp_path)
        path = Path(path.name)
    [result] = EvalRunner(agent=hello).run(make_evals(load_suites([str(path)], {}))).results
    assert result.file == str(path)
    assert result.error is not None
    assert result.error.message == f"the eval raised LookupError: no such order ({path}:5)"
