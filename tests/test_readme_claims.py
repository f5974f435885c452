"""What the README promises in numbers and names is what the code has."""

import re

from remote_evals import EvalCase, Limits, RemoteEvalsError
from remote_evals.cli._settings import DEFAULT_CONCURRENCY, DEFAULT_TIMEOUT_S
from remote_evals.expectations import Expectations
from tests.integration.command import ROOT

README = " ".join((ROOT / "README.md").read_text("utf-8").split())


def test_the_limits_of_waits_are_as_told() -> None:
    """The README's seconds are the defaults of the clocks."""
    told = re.search(
        r"(\d+) s to connect, (\d+) s to the headers, (\d+) s to the first event and (\d+) s between", README
    )
    assert told
    limits = Limits()
    assert [float(number) for number in told.groups()] == [
        limits.connect_s,
        limits.headers_s,
        limits.first_event_s,
        limits.silence_s,
    ]


def test_the_defaults_of_the_command_are_as_told() -> None:
    """The README's concurrency and time limit are the command's."""
    assert f"--concurrency {DEFAULT_CONCURRENCY} --timeout {DEFAULT_TIMEOUT_S / 60:.0f}m" in README


def test_every_code_of_a_deployments_error_is_told() -> None:
    """Each code that a failing deployment can give stands in the README's table."""
    codes, classes = set(), [RemoteEvalsError]
    while classes:
        one = classes.pop()
        classes += one.__subclasses__()
        if not one.__subclasses__() and one.code.startswith("REMOTE_"):
            codes.add(one.code)
    assert len(codes) == 5
    assert [code for code in sorted(codes) if f"`{code}`" not in README] == []


def test_every_key_of_a_case_is_told() -> None:
    """Each key that a case may have, and each other spelling of it, stands in the README."""
    keys = {*EvalCase.valid_keys(), *Expectations.valid_keys()}
    assert [key for key in sorted(keys) if not re.search(rf"`[^`]*\b{key}\b[^`]*`", README)] == []
