"""How a problem in a file is described: its value, its place and its path."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from remote_evals.config.problems import explain_problem, render_path, render_place
from remote_evals.suites.eval_case import EvalCase


def find_error(case: dict[str, Any]) -> ErrorDetails:
    with pytest.raises(ValidationError) as caught:
        EvalCase.model_validate({"name": "a", "prompt": "hi", **case})
    (details,) = caught.value.errors()
    return details


@pytest.mark.parametrize(
    ("filled", "written", "got"),
    [
        ({"max_steps": "s3cret"}, {"max_steps": "${V}"}, '"${V}"'),
        ({"forbidden_tools": ["a", 1]}, {"forbidden_tools": ["${V}", 1]}, "1"),
        ({"metadata": ["s3cret"]}, {"metadata": ["${V}"]}, '["${V}"]'),
        ({"forbidden_tools": ""}, {"forbidden_tools": ""}, '""'),
    ],
    ids=["a value", "an item", "a part", "what a shorthand stands for"],
)
def test_what_was_got_is_what_is_written(filled: dict[str, Any], written: dict[str, Any], got: str) -> None:
    """A message shows the value as it is in the file, not what its variables hold."""
    assert explain_problem(find_error(filled), written).endswith(f", got {got}")


def test_what_a_message_says_is_not_said_twice() -> None:
    """A message that already shows what is wrong stays as it is."""
    assert explain_problem(find_error({"tag": 1}), {"tag": 1}) == "unknown key 'tag'; did you mean 'tags'?"


def test_a_place_is_a_file_and_its_line() -> None:
    """A place has the form that terminals make clickable; without a line it is the file."""
    assert [render_place(Path("a/b.yaml"), line) for line in (3, None)] == ["a/b.yaml:3", "a/b.yaml"]


def test_a_path_is_written_as_in_code() -> None:
    """Keys are separated by dots, and indices are in brackets."""
    assert render_path(("cases", 0, "turns", 1, "prompt")) == "cases[0].turns[1].prompt"
