"""What is run, and how often: any mixture of evals, with one row per run."""

from collections.abc import Mapping
from typing import Any

import pytest

from remote_evals import Eval, EvalCase, EvalContext, define_eval
from remote_evals.running.plan import as_evals, plan_runs


async def nothing(t: EvalContext) -> None:
    """Do nothing."""


def planned(eval_: Eval, runs: int | None = None) -> list[tuple[str, int | None]]:
    return [(run.name, run.pass_at) for run in plan_runs([eval_], runs)]


def test_evals_cases_and_definitions_mix() -> None:
    """Evals, cases as data and evals in code can be mixed in one list, nested in any way, and keep their order."""

    @define_eval(name="in code", cases=[{"input": "a"}, {"input": "b"}])
    def in_code(t: Any, case: Mapping[str, Any]) -> None:
        """Do nothing."""

    data = EvalCase(name="data", prompt="hi")
    names = [eval_.name for eval_ in as_evals([data, in_code, Eval("eval", nothing)])]
    assert names == ["data", "in code / a", "in code / b", "eval"]
    assert [eval_.name for eval_ in as_evals(data)] == ["data"]


@pytest.mark.parametrize(
    ("repeat", "pass_at", "runs", "rows"),
    [
        (None, None, None, [("flow", None)]),
        (3, None, None, [("flow #1", None), ("flow #2", None), ("flow #3", None)]),
        (3, 2, None, [("flow #1", 2), ("flow #2", 2), ("flow #3", 2)]),
        (None, None, 2, [("flow #1", None), ("flow #2", None)]),
        (3, 2, 1, [("flow", None)]),
        (5, 4, 2, [("flow #1", 2), ("flow #2", 2)]),
    ],
)
def test_each_run_is_a_row(
    repeat: int | None, pass_at: int | None, runs: int | None, rows: list[tuple[str, int | None]]
) -> None:
    """Each of several runs has a numbered row; `runs` overrides `repeat`, and `pass_at` stays reachable."""
    assert planned(Eval("flow", nothing, repeat=repeat, pass_at=pass_at), runs) == rows


def test_a_case_as_data_keeps_what_it_says() -> None:
    """The eval of a case as data has the case's repeats, limits, tags and metadata."""
    case = EvalCase.model_validate(
        {"name": "a", "prompt": "hi", "repeat": 3, "pass_at": 2, "timeout": "30s", "tags": "x", "metadata": {"k": 1}}
    )
    [eval_] = as_evals([case])
    assert (eval_.repeat, eval_.pass_at, eval_.timeout_s, eval_.tags) == (3, 2, 30.0, ("x",))
    assert eval_.metadata == {"k": 1}
