"""How tool calls are selected, and how their arguments and their order are compared."""

import pytest

from remote_evals.evals.assertions import tools
from tests.builders import call


def test_alternatives_are_split_and_trimmed() -> None:
    """The name "a|b" allows either tool, with or without spaces."""
    assert tools.split_alternatives("a | b|c") == ["a", "b", "c"]


CALLS = [
    call("search"),
    call("search", subagent_path=("researcher",)),
    call("fetch", subagent_path=("researcher", "browser")),
    call("fetch", subagent_path=("writer",)),
]


@pytest.mark.parametrize(
    ("names", "subagent", "indexes"),
    [
        (None, None, [0, 1, 2, 3]),
        (["search"], None, [0, 1]),
        ([], None, []),
        (None, "researcher", [1, 2]),
        (None, "browser", [2]),
        (["fetch"], "researcher", [2]),
        (None, "nobody", []),
        (None, "research", []),
    ],
)
def test_calls_are_selected_by_name_and_by_subagent(
    names: list[str] | None, subagent: str | None, indexes: list[int]
) -> None:
    """The whole name of a sub-agent selects its calls and those of the agents below it; None selects every call."""
    assert tools.select_calls(CALLS, names, subagent) == [CALLS[index] for index in indexes]


def test_the_closest_call_is_the_one_with_fewest_differences() -> None:
    """Of several calls, the one that differs least explains the failure."""
    calls = [call(args={"a": 0, "b": 0}), call(args={"a": 1, "b": 0}), call()]
    assert [found.path for found in tools.find_closest(calls, {"a": 1, "b": 1})] == ["b"]


@pytest.mark.parametrize(
    ("actual", "expected", "broken_at", "exact"),
    [
        (["a", "b"], ["a", "b"], None, True),
        (["a", "x", "b"], ["a", "b"], None, False),
        (["b", "a"], ["a", "b"], "b", False),
        (["a"], ["a", "a"], "a", False),
        (["a", "a"], ["a", "a"], None, True),
        (["c", "b"], ["a|c", "b"], None, True),
        ([], ["a"], "a", False),
        (["a"], [], None, False),
        ([], [], None, True),
    ],
)
def test_an_order_is_followed_or_broken(
    actual: list[str], expected: list[str], broken_at: str | None, exact: bool
) -> None:
    """Other calls may come between those of an order, unless it is exact; the first call out of order is named."""
    assert tools.find_order_break(actual, expected) == broken_at
    assert tools.is_exact_order(actual, expected) is exact
