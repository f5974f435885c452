"""The summary: it shows what a person needs of a red run, and no text of an agent acts on the terminal."""

import io
from typing import Any

import pytest
from rich.console import Console

from remote_evals.redaction import Redactor
from remote_evals.reporters import print_summary, render_summary
from remote_evals.results import AssertionResult, CaseError, EvalReport, EvalResult, JudgeUsage, RunError, Timing, Usage
from tests.unit.reporters.report_samples import (
    NASTY,
    assert_snapshot,
    call,
    case,
    log,
    repeated,
    report,
    rich_report,
    run,
    screen,
)

UNREACHABLE = CaseError(code="REMOTE_UNREACHABLE", message="refused. Is it up?")


def lines(*results: EvalResult, **fields: Any) -> list[str]:
    return [line.strip() for line in render_summary(report(*results, **fields)).splitlines()]


def failing(name: str = "check", **fields: Any) -> AssertionResult:
    return AssertionResult(**{"name": name, "passed": False, "score": 0.0, "message": f"{name} failed: x", **fields})


def failed(*runs: Any, **fields: Any) -> EvalResult:
    return case("a", *runs, **{"status": "failed", "assertions": (failing(),), **fields})


def printed(one: EvalReport, console: Console, file: io.StringIO) -> str:
    print_summary(one, console, Redactor())
    return file.getvalue()


def test_the_whole_summary_is_as_stored() -> None:
    """The summary of the rich report equals the stored one, byte for byte."""
    assert_snapshot("summary.txt", render_summary(rich_report()))


def test_on_a_screen_it_is_wrapped() -> None:
    """On a terminal of 80 columns every line fits, and its continuation is indented."""
    text = printed(rich_report(), *screen(80))
    assert_snapshot("summary.80.txt", text)
    assert "\n       args; closest call" in text


def test_in_a_log_no_line_is_wrapped() -> None:
    """In a log, even with FORCE_COLOR, messages are not wrapped, so that they can be searched."""
    plain = render_summary(rich_report())
    assert printed(rich_report(), *log(width=80)) == plain
    assert printed(rich_report(), *log(width=80, force_terminal=True, color_system=None)) == plain


def test_colours_change_nothing_but_colours() -> None:
    """A console with colours shows coloured marks, and NO_COLOR removes the colours."""
    coloured = printed(rich_report(), *log(force_terminal=True, color_system="standard"))
    assert "\x1b[1;31m[FAIL]" in coloured
    assert "\x1b[31m" not in printed(rich_report(), *log(force_terminal=True, color_system="standard", no_color=True))


def test_no_agent_reaches_the_terminal() -> None:
    """Escape sequences, markup and commands to a CI's log are printed as text."""
    text = printed(report(failed(run(reply=f"{NASTY}\n::error::x"))), *log())
    assert r"\x1b[31mred\x1b[0m [bold]not bold[/bold] \x00 \ud83d" in text
    assert "##vso[" not in text
    assert not any(line.strip().startswith("::") for line in text.splitlines())


def test_a_narrow_encoding_is_no_failure() -> None:
    """A stream that cannot encode a reply shows it escaped."""
    raw = io.BytesIO()
    console = Console(file=io.TextIOWrapper(raw, encoding="ascii"), _environ={})
    print_summary(report(failed(run(reply="日本"))), console, Redactor())
    console.file.flush()
    assert rb"reply: \u65e5\u672c" in raw.getvalue()


def test_a_passed_case_is_one_row() -> None:
    """A case that passed takes one line."""
    assert lines(case("order lookup", run()))[3:5] == ["[PASS] order lookup (1.9s)", ""]


def test_warnings_show_though_the_case_passed() -> None:
    """A skipped check and a soft failure are shown under a case that passed."""
    unchecked = AssertionResult(name="cost", passed=True, score=1.0, skipped=True, message="cost not checked")
    text = lines(case("a", run(), assertions=(unchecked, failing(kind="soft"))))
    assert text[4:6] == ["soft: check failed: x", "warning: cost not checked"]


def test_a_failed_case_shows_what_it_did() -> None:
    """A failed case shows its failed gates, its reply, its tools and its ids."""
    one = failed(run(call("lookup_order", {"orderId": "42"}), call("fetch", subagent_path=("research",))))
    assert lines(one)[3:8] == [
        "[FAIL] a (1.9s)",
        "check failed: x",
        "reply: Order 42 has shipped.",
        'tools: lookup_order({"orderId": "42"}) -> ok, research/fetch({}) -> ok',
        "session eval-7f3a · trace 4bf92f3577b34da6a3ce929d0e0e4736",
    ]


def test_a_strict_soft_failure_is_a_reason() -> None:
    """A case that failed by a soft assertion shows it once, marked as soft."""
    text = lines(failed(run(), assertions=(failing(kind="soft"),)))
    assert text.count("soft (--strict): check failed: x") == 1


def test_how_a_run_ended_is_said_once() -> None:
    """An end that is not normal is shown, unless a failed check already shows it."""
    one = run(finish_reason="error", error=RunError(name="ModelError"))
    said = "finish reason was 'error' (the run failed: ModelError)"
    assert f"run: {said}" in lines(failed(one))
    assert f"run: {said}" not in lines(failed(one, assertions=(failing(message=f"completed() failed: {said}"),)))


def test_an_empty_run_says_so() -> None:
    """A failed case whose agent said and did nothing shows that."""
    assert {"reply: (empty)", "tools: (none)"} <= set(lines(failed(run(reply=""))))


def test_an_error_shows_what_had_come_so_far() -> None:
    """A case that broke shows its code, its message and the partial run, if one began."""
    broken = run(call("track", outcome=None), reply="Let me", finish_reason=None)
    assert lines(case("a", broken, status="error", error=UNREACHABLE))[3:7] == [
        "[ERROR] a (1.9s)",
        "REMOTE_UNREACHABLE: refused. Is it up?",
        "reply so far: Let me",
        "tools so far: track({}) -> not finished",
    ]
    assert lines(case("a", status="error", error=UNREACHABLE))[3:6] == [
        "[ERROR] a",
        "REMOTE_UNREACHABLE: refused. Is it up?",
        "session eval-7f3a",
    ]


def test_long_replies_are_cut() -> None:
    """A long reply is cut to four lines and the number of the others."""
    text = lines(failed(run(reply="\n".join(f"{index}{'x' * 300}" for index in range(9)))))
    assert text[5].endswith("x…")
    assert text[9] == "| … 5 more lines"


def test_many_calls_are_cut() -> None:
    """Twelve of many calls are shown, each on its own line with its outcome."""
    text = lines(failed(run(*(call("lookup", {"id": "x" * 300}) for _ in range(20)))))
    assert sum(line.endswith("…) -> ok") for line in text) == 12
    assert "| … 8 more lines" in text


def test_the_end_of_a_run_that_only_failed_is_shown_without_its_error() -> None:
    """A case that failed without a recorded reason still shows that nothing was sent."""
    assert "run: nothing was sent yet" in lines(failed(assertions=()))


@pytest.mark.parametrize(("passed", "total", "shown"), [(7, 8, "88%"), (199, 200, "99%"), (0, 3, "0%"), (2, 2, "100%")])
def test_only_all_is_a_hundred_percent(passed: int, total: int, shown: str) -> None:
    """The rate is rounded, but one failure among many never shows as 100%."""
    results = [case(f"a{index}", run(), status="passed" if index < passed else "failed") for index in range(total)]
    assert lines(*results)[-1].split(" · ")[0].split(",")[0] == f"{passed}/{total} passed ({shown})"


def test_totals_show_what_is_known() -> None:
    """Tokens without a price leave the cost unknown, and a part that was not reported makes a lower bound."""
    free = run(usage=Usage(input_tokens=1, output_tokens=0, total_tokens=1), missing=("cost",), steps=1)
    assert lines(case("a", free))[-1] == "1/1 passed (100%) · 1 step · 1 token · cost unknown · 36.4s"
    silent = run(usage=None, missing=("usage", "steps", "cost"), steps=0)
    assert lines(case("a", silent))[-1] == "1/1 passed (100%) · 36.4s"
    assert lines(case("a", run()), case("b", silent))[-1] == (
        "2/2 passed (100%) · 2+ steps · 800+ tokens · $0.0031+ · 36.4s"
    )


def test_no_cases_are_no_success() -> None:
    """A run without cases says so."""
    assert lines(target="") == ["remote-evals 0.1.0", "", "no cases ran"]


def test_suites_are_headed_by_name_and_file() -> None:
    """Cases are shown under the name and the file of their suite, if it has them."""
    text = lines(case("a", run(), suite="info", file=""), case("b", run(), suite="", file=""))
    assert text[1:7] == ["", "info", "[PASS] a (1.9s)", "", "[PASS] b (1.9s)", ""]


def test_a_repeated_case_heads_its_runs() -> None:
    """A repeated case has a row with its rate, score and time, and below it a row for each run."""
    first, *others = repeated("flow", "passed", "failed", "passed", pass_at=2)
    slow = first.model_copy(update={"run": run(timing=Timing(total_ms=2800))})
    text = render_summary(report(slow, *others)).splitlines()
    assert text[3] == "[PASS] flow 2/3 flaky (score 0.67, 0.00\u20131.00; 2.2s, 1.9s\u20132.8s)"
    assert [line for line in text if line.startswith("       [")] == [
        "       [PASS] flow #1 (2.8s)",
        "       [FAIL] flow #2 (1.9s)",
        "       [PASS] flow #3 (1.9s)",
    ]
    assert "              reply: Order 42 has shipped." in text


def test_what_all_runs_have_in_common_stands_once() -> None:
    """Equal scores and times have no range, and runs that never began have neither."""
    assert lines(*repeated("flow", "passed", "passed"))[3] == "[PASS] flow 2/2 (score 1.00; 1.9s)"
    never = [case(f"a #{number}", status="error", case="a", error=UNREACHABLE) for number in (1, 2)]
    assert lines(*never)[3] == "[ERROR] a 0/2"


def test_totals_count_cases_and_runs() -> None:
    """With repeated cases the totals also count runs and flaky cases; the rate is that of cases."""
    results = [case("a", run()), *repeated("b", "passed", "failed", "passed"), *repeated("c", "passed", "passed")]
    assert lines(*results)[-1].startswith("2/3 passed (67%), 1 failed \u00b7 5/6 runs, 1 flaky \u00b7 ")
    assert " \u00b7 2/2 runs \u00b7 " in lines(*repeated("c", "passed", "passed"))[-1]


@pytest.mark.parametrize(
    ("costs", "tokens", "shown"),
    [
        ((0.001, 0.003), 600, "judge: 1,200 tokens, $0.0040"),
        ((0.001, None), 600, "judge: 1,200 tokens, $0.0010+"),
        ((None, None), 0, "judge: 2 calls, cost unknown"),
    ],
)
def test_judging_is_told_apart(costs: tuple[float | None, ...], tokens: int, shown: str) -> None:
    """The usage of the judge is separate from the agent's, and includes only what is known."""
    usages = [JudgeUsage(total_tokens=tokens, cost_usd=cost, calls=1) for cost in costs]
    results = [case(f"a{index}", run(), judge_usage=usage) for index, usage in enumerate(usages)]
    assert f"1,600 tokens \u00b7 $0.0062 \u00b7 {shown} \u00b7" in lines(*results)[-1]


def test_a_quiet_summary_has_the_cases_of_which_there_is_something_to_say() -> None:
    """A quiet summary leaves out cases that passed in every run, and shows a flaky case with all its runs."""
    console, file = log()
    results = [
        case("fine", run()),
        *repeated("good", "passed", "passed"),
        *repeated("flow", "passed", "failed", pass_at=1),
    ]
    print_summary(report(*results), console, Redactor(), quiet=True)
    rows = [line.split(" (")[0].strip() for line in file.getvalue().splitlines() if "[" in line]
    assert rows == ["[PASS] flow 1/2 flaky", "[PASS] flow #1", "[FAIL] flow #2"]
