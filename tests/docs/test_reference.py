"""The numbers and names in the README are those of the code."""

import re
from datetime import UTC, datetime

import pytest

from remote_evals import EvalCase, Limits, RemoteEvalsError, RemoteTarget, TargetOptions
from remote_evals.cli.run_setup import DEFAULT_CONCURRENCY, DEFAULT_TIMEOUT_S
from remote_evals.core.durations import parse_duration
from remote_evals.suites.expectations import Expectations
from remote_evals.transport.limits import SizeLimits
from remote_evals.transport.responses import MAX_TEXT_CHARS, parse_retry_after
from tests.serving.command import ROOT

README = " ".join((ROOT / "README.md").read_text("utf-8").split())

WAITS = {
    "--connect-timeout": Limits().connect_s,
    "--headers-timeout": Limits().headers_s,
    "--first-event-timeout": Limits().first_event_s,
    "--silence-timeout": Limits().silence_s,
    "--turn-timeout": Limits().turn_s,
    "--timeout": DEFAULT_TIMEOUT_S,
}


@pytest.mark.parametrize("option", WAITS)
def test_the_limits_of_waits_are_as_told(option: str) -> None:
    """The README's time limits are the defaults of the code, each beside its option."""
    row = re.search(rf"\| (\d+ [sm]) \| `{option}`", README)
    assert row
    assert parse_duration(row[1].replace(" ", "")) == WAITS[option]


def test_the_bounds_of_answers_are_as_told() -> None:
    """The README's sizes are those of the code."""
    sizes = SizeLimits()
    frame, answer = sizes.frame_bytes // 2**20, sizes.stream_bytes // 2**20
    assert f"| {frame} MiB; {answer} MiB; {sizes.events:,} |" in README
    assert f"{sizes.quote_bytes // 2**10} KiB read, {MAX_TEXT_CHARS} characters shown" in README
    assert f"{sizes.header_bytes // 2**10} KiB each, 128 of them" in README


def test_the_retries_are_as_told() -> None:
    """The README's number of retries and longest wait are those of the code."""
    assert RemoteTarget("http://127.0.0.1:1").retries == TargetOptions().retries == 2
    assert "twice more by default" in README
    assert parse_retry_after("999999", datetime.now(UTC)) == 60
    assert "`Retry-After` says, up to 60 s" in README


def test_every_exit_code_is_told() -> None:
    """The README's table has each exit code once, with the words that distinguish it from the others."""
    words = {
        0: "all passed",
        1: "a check failed",
        2: "nothing was sent",
        3: "refused the token",
        4: "could not be judged",
    }
    assert all(re.search(rf"\| {code} \| [^|]*{word}", README) for code, word in words.items())
    assert re.search(r"\| 130, 143 \| interrupted by Ctrl-C, by SIGTERM", README)


def test_the_defaults_of_the_command_are_as_told() -> None:
    """The README's concurrency and time limit are those of the command."""
    assert f"--concurrency {DEFAULT_CONCURRENCY} --timeout {DEFAULT_TIMEOUT_S / 60:.0f}m" in README


def test_every_code_of_a_deployments_error_is_told() -> None:
    """Each error code of a failing deployment is in the README's table."""
    codes, classes = set(), [RemoteEvalsError]
    while classes:
        one = classes.pop()
        classes += one.__subclasses__()
        if not one.__subclasses__() and one.code.startswith("REMOTE_"):
            codes.add(one.code)
    assert len(codes) == 5
    assert [code for code in sorted(codes) if f"`{code}`" not in README] == []


def test_every_key_of_a_case_is_told() -> None:
    """Each key that a case may have, and each alias of it, is in the README."""
    keys = {*EvalCase.valid_keys(), *Expectations.valid_keys()}
    assert [key for key in sorted(keys) if not re.search(rf"`[^`]*\b{key}\b[^`]*`", README)] == []
