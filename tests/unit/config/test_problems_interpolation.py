from typing import Any

import pytest

from remote_evals.config.problems import interpolate

VARIABLES = {"A": "one", "EMPTY": "", "NESTED": "${A}", "_x1": "low"}


def fill(value: Any) -> tuple[Any, list[tuple[tuple[str | int, ...], str]]]:
    reported: list[tuple[tuple[str | int, ...], str]] = []
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
    """A variable or its default stands in for its name, once; `$${` is a literal, and anything else stays."""
    assert fill(text) == (filled, [])


def test_an_unset_variable_is_reported_where_it_stands() -> None:
    """Each unset variable is reported with the path of its string and the two ways to mend it."""
    _, reported = fill({"cases": [{"prompt": "${NO} ${A} ${NEITHER}"}]})
    assert reported == [
        (("cases", 0, "prompt"), "the variable NO is not set; set it, or write ${NO:-a default}"),
        (("cases", 0, "prompt"), "the variable NEITHER is not set; set it, or write ${NEITHER:-a default}"),
    ]


def test_only_strings_are_filled_in() -> None:
    """Keys, numbers, booleans and nulls stay as they are, at any depth."""
    assert fill({"${A}": [1, True, None, 1.5, {"x": ["${A}"]}], 7: "${A}"}) == (
        {"${A}": [1, True, None, 1.5, {"x": ["one"]}], 7: "one"},
        [],
    )


@pytest.mark.parametrize("text", ["${", "${}", "${1}", "${a.b}", "${NO-x}", "${NO:?x}", "${NO:-${A}}", "a ${ b"])
def test_what_looks_like_a_variable_and_is_none_is_told(text: str) -> None:
    """A `${` that starts no variable is a mistake: whoever wrote it expected something to be filled in."""
    told: list[str] = []
    interpolate(text, {"A": "one"}, lambda _, problem: told.append(problem))
    assert told
    assert all("write `$${` for the text itself" in problem for problem in told)
