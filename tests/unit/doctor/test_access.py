"""The findings on turns that should have been refused."""

import pytest

from remote_evals import (
    RemoteError,
    RemoteStatusError,
    RemoteStreamError,
    RemoteTimeoutError,
    RemoteUnauthorizedError,
    RunResult,
)
from remote_evals.doctor.access import check_access

URL = "https://agent.test/chat"


def make_begun(error: RemoteError) -> RemoteError:
    error.partial = RunResult(last_event="run.start")
    return error


@pytest.mark.parametrize("status", [401, 403])
def test_a_refusal_passes(status: int) -> None:
    """A turn refused with 401 or 403 passes."""
    found = check_access("no_token", RemoteUnauthorizedError(URL, "a token is needed", "x", status))
    assert (found.status, found.happened) == ("pass", f"refused with {status}")


@pytest.mark.parametrize(
    "failure", [None, make_begun(RemoteStreamError(URL, "the stream ended", "x"))], ids=["whole run", "broken run"]
)
@pytest.mark.parametrize(
    ("check", "happened"),
    [
        ("no_token", "a request without any credential was answered like any other"),
        ("wrong_token", "a made-up token was accepted"),
    ],
)
def test_a_run_that_began_fails(failure: RemoteError | None, check: str, happened: str) -> None:
    """A run that began without permission fails the check, even if it broke, because it has cost something."""
    found = check_access(check, failure)
    assert (found.status, found.happened) == ("fail", happened)
    assert "at your cost" in found.advice


@pytest.mark.parametrize(
    "failure",
    [
        RemoteStatusError(URL, "the answer was 302, a redirect to https://login.test", "x", 302),
        RemoteStatusError(URL, "the answer was 500", "x", 500),
        RemoteStreamError(URL, "the answer is text/html, not an event stream", "x"),
    ],
    ids=str,
)
def test_a_refusal_by_another_answer_is_a_warning(failure: RemoteError) -> None:
    """A refusal without 401 is a warning, because callers cannot tell it from a broken deployment."""
    found = check_access("wrong_token", failure)
    assert (found.status, found.happened) == ("warn", f"refused, but not with 401: {failure.happened}")
    assert "401" in found.advice


@pytest.mark.parametrize(
    "failure",
    [
        RemoteStatusError(URL, "the answer was 429", "x", 429),
        RemoteTimeoutError(URL, "timed out: no response headers within 1.0s", "x", "headers", None),
    ],
    ids=str,
)
def test_an_answer_that_says_nothing_about_tokens(failure: RemoteError) -> None:
    """A rate limit or a timeout leaves the check undecided, because it can affect any caller."""
    found = check_access("no_token", failure)
    assert (found.status, found.happened) == ("not_checked", failure.happened)
