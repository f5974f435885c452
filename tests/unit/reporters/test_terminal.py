"""The progress that is shown while cases run."""

import io

import pytest
from rich.console import Console

from remote_evals.redaction import Redactor, Secret
from remote_evals.reporters import LiveProgress, PlainProgress, QuietProgress, open_progress
from remote_evals.results.report import Listener
from tests.unit.reporters.report_samples import case, log, repeated, run, screen


def test_a_log_has_a_line_for_each_case_that_is_done() -> None:
    """A log has a line for each case when it ends, different from the rows of the summary."""
    console, file = log()
    with open_progress(console, Redactor()) as progress:
        progress.on_start(3)
        progress.on_case_start("a")
        progress.on_case_end(case("b [bold]x[/bold]\x1b", run()))
        progress.on_case_end(case("a", run(), status="failed"))
        progress.on_case_end(case("c", status="error"))
    assert file.getvalue().splitlines() == [
        r"1/3 passed: b [bold]x[/bold]\x1b (1.9s)",
        "2/3 failed: a (1.9s)",
        "3/3 error: c",
    ]


def test_a_log_counts_runs() -> None:
    """A case that runs twice has two lines, with the names of its runs."""
    console, file = log()
    progress = PlainProgress(console, Redactor())
    progress.on_start(2)
    for result in repeated("flow", "passed", "failed"):
        progress.on_case_end(result)
    assert file.getvalue().splitlines() == ["1/2 passed: flow #1 (1.9s)", "2/2 failed: flow #2 (1.9s)"]


def test_a_log_says_what_is_waited_for() -> None:
    """A deployment that is waited for has its own line, escaped and without secrets."""
    console, file = log()
    redactor = Redactor()
    redactor.add(Secret("hunter22"))
    progress = PlainProgress(console, redactor)
    progress.on_start(1)
    progress.on_wait("https://host/[b]hunter22\x1b")
    assert file.getvalue() == "waiting for https://host/[b][redacted]\\x1b to be ready\n"


def test_the_view_fits_the_console() -> None:
    """A terminal gets the live view, a log gets lines even with FORCE_COLOR, and quiet gets nothing."""
    assert isinstance(open_progress(screen()[0], Redactor()), LiveProgress)
    assert isinstance(open_progress(log(force_terminal=True)[0], Redactor()), PlainProgress)
    assert type(open_progress(screen()[0], Redactor(), quiet=True)) is QuietProgress


def test_quiet_shows_nothing() -> None:
    """The quiet view accepts every call."""
    listener: Listener = QuietProgress()
    listener.on_start(1)
    listener.on_wait("http://host")
    listener.on_case_start("a")
    listener.on_case_end(case("a", run()))


def shown(progress: LiveProgress) -> list[str]:
    console = Console(file=io.StringIO(), width=60, _environ={})
    with console.capture() as capture:
        console.print(progress._render())
    return [line.strip() for line in capture.get().splitlines()]


def test_the_live_view_counts_and_names_what_runs() -> None:
    """The live view shows how many cases ended in each way, the time, and the first running cases."""
    now = [100.0]
    redactor = Redactor()
    redactor.add(Secret("hunter22"))
    progress = LiveProgress(screen()[0], redactor, now=lambda: now[0])
    progress.on_start(20)
    for index in range(9):
        progress.on_case_start(f"case {index} hunter22 \x1b")
    progress.on_case_end(case("case 0 hunter22 \x1b", run()))
    progress.on_case_end(case("unknown", run(), status="failed"))
    progress.close()
    now[0] += 3.5
    head, first, *others = shown(progress)
    assert head.endswith("2/20 · 1 passed · 1 failed · 3.5s")
    assert first == r"case 1 [redacted] \x1b"
    assert others[-1] == "… 2 more"


def test_the_live_view_shows_what_is_waited_for() -> None:
    """A deployment that is waited for is shown until the first case begins."""
    progress = LiveProgress(screen()[0], Redactor(), now=lambda: 0.0)
    progress.on_start(2)
    progress.on_wait("https://host")
    assert shown(progress)[1:] == ["waiting for https://host to be ready"]
    progress.on_case_start("a")
    assert shown(progress)[1:] == ["a"]
    progress.close()


def test_the_live_view_leaves_no_trace() -> None:
    """After closing, even twice or by an exception, the view has erased itself and restored the cursor."""
    console, file = screen()

    def interrupted() -> None:
        with LiveProgress(console, Redactor()) as progress:
            progress.on_start(1)
            progress.on_case_start("a")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert file.getvalue().endswith("\x1b[?25h\r\x1b[1A\x1b[2K\x1b[1A\x1b[2K")
    LiveProgress(console, Redactor()).close()
