"""How the runs of a conversation are combined into one."""

import pytest

from remote_evals.results import PendingApproval, RunError, RunResult, Timing
from remote_evals.results.run import combine_runs
from tests.builders import call, run, usage

PENDING = PendingApproval(approval_id="a", tool_call_id="c", tool="send")


def test_no_run_at_all_reports_nothing() -> None:
    """A conversation without runs has no finish reason, and all its numbers are missing."""
    whole = combine_runs([])
    assert (whole.finish_reason, whole.reply, whole.missing) == (None, "", ("usage", "steps", "cost"))


def test_a_single_run_is_itself() -> None:
    """A conversation of one turn is that turn, including its turn number."""
    only = run(call(), turn=3)
    assert combine_runs([only]) == only


def test_calls_steps_and_usage_add_up() -> None:
    """The calls, steps and usage of two turns add up."""
    whole = combine_runs(
        [run(call("a"), usage=usage(10, 0.5, model_calls=1)), run(call("b"), usage=usage(5, 0.25, estimated=True))]
    )
    assert ([one.name for one in whole.tool_calls], whole.steps) == (["a", "b"], 4)
    assert whole.usage == usage(15, 0.75, model_calls=1, estimated=True)


def test_what_was_said_is_what_was_said_last() -> None:
    """Reply, object and pending approval are those of the last turn."""
    first = run(reply="1", object={"a": 1}, pending_approval=PENDING)
    whole = combine_runs([first, run(reply="2")])
    assert (whole.reply, whole.object, whole.pending_approval) == ("2", None, None)


def test_one_broken_turn_breaks_the_conversation() -> None:
    """The finish reason is the first that was not normal, with its error, whatever follows."""
    error = RunError(name="Broken")
    whole = combine_runs([run(), run(finish_reason="error", error=error), run(finish_reason="length"), run()])
    assert (whole.finish_reason, whole.error) == ("error", error)


def test_a_conversation_of_normal_turns_ends_normally() -> None:
    """If every turn ended normally, so did the conversation."""
    assert combine_runs([run(), run()]).ended_normally


@pytest.mark.parametrize("reporting", [0, 1])
def test_a_number_that_one_turn_lacks_is_missing_from_the_whole(reporting: int) -> None:
    """A number that one turn does not report is missing, since a sum without it would be a guess."""
    silent = run(usage=None, missing=("usage", "cost"))
    runs = [silent, silent]
    runs[reporting] = run(usage=usage(10))
    whole = combine_runs(runs)
    assert (whole.missing, whole.usage) == (("usage", "cost"), usage(10))


def test_times_add_up_and_moments_are_the_latest() -> None:
    """Durations are summed; each other time is the latest of all turns."""
    first = Timing(headers_ms=1, first_event_ms=5, first_text_ms=9, total_ms=100, longest_gap_ms=60)
    second = Timing(headers_ms=2, first_event_ms=4, first_text_ms=None, total_ms=50, longest_gap_ms=40)
    whole = combine_runs([run(timing=first), run(timing=second)])
    assert whole.timing == Timing(headers_ms=2, first_event_ms=5, first_text_ms=9, total_ms=150, longest_gap_ms=60)


def test_the_runs_stay_as_they_were() -> None:
    """Combining makes a new run and changes none of the given ones."""
    runs = [run(call("a"), reply="1"), run(call("b"), reply="2")]
    copies = [RunResult.model_validate(one.model_dump()) for one in runs]
    combine_runs(runs)
    assert runs == copies
