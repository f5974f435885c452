"""How `${VAR}` is filled in."""

from typing import Any

import pytest

from remote_evals.config.problems import Problem, interpolate

VARIABLES = {"A": "one", "EMPTY": "", "NESTED": "${A}", "_x1": "low"}


def fill(value: Any) -> tuple[Any, list[Problem]]:
    reported: list[Problem] = []
    return interpolate(value, VARIABLES, lambda path, text: reported.append((path, text))), reported


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("${A}", "one"),
        ("a ${A} b ${A}", "a one b one"),
        ("${A}${_x1}", "onelow"),
        ("${NO:-other}", "other"),
        ("${NO:-}", ""),
        ("${NO:-a:-b $ c}", "a:-b $ c"),
        ("${A:-other}", "one"),
        ("${EMPTY:-other}", "other"),
        ("${EMPTY}", ""),
        ("$${A}", "${A}"),
        ("$${NO}", "${NO}"),
        ("${NESTED}", "${A}"),
        ("$A and {A} and $ {A}", "$A and {A} and $ {A}"),
        ("costs $5", "costs $5"),
        ("", ""),
    ],
)
def test_variables_are_filled_in_as_in_a_shell(text: str, filled: str) -> None:
    """A variable is replaced once, by its value or its default; `$${` becomes `${`, and all other text stays."""
    assert fill(text) == (filled, [])


def test_an_unset_variable_is_reported_where_it_stands() -> None:
    """Each unset variable is reported with the path of its string and the two ways to fix it."""
    _, reported = fill({"cases": [{"prompt": "${NO} ${A} ${NEITHER}"}]})
    assert reported == [
        (("cases", 0, "prompt"), "the variable NO is not set; set it, or write ${NO:-a default}"),
        (("cases", 0, "prompt"), "the variable NEITHER is not set; set it, or write ${NEITHER:-a default}"),
    ]


def test_only_strings_are_filled_in() -> None:
    """Strings at any depth are filled in; keys, numbers, booleans and nulls stay as they are."""
    assert fill({"${A}": [1, True, None, 1.5, {"x": ["${A}"]}], 7: "${A}"}) == (
        {"${A}": [1, True, None, 1.5, {"x": ["one"]}], 7: "one"},
        [],
    )


@pytest.mark.parametrize("text", ["${", "${}", "${1}", "${a.b}", "${NO-x}", "${NO:?x}", "${NO:-${A}}", "a ${ b"])
def test_what_only_looks_like_a_variable_is_reported(text: str) -> None:
    """A `${` that starts no valid variable is reported, since it may be a typo."""
    _, reported = fill(text)
    assert reported
    assert all("write `$${` for a literal `${`" in message for _, message in reported)
