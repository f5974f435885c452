"""What it means how a turn was refused, or was not."""

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


def begun(error: RemoteError) -> RemoteError:
    error.partial = RunResult(last_event="run.start")
    return error


@pytest.mark.parametrize("status", [401, 403])
def test_a_refusal_passes(status: int) -> None:
    """Whoever should not be let in is refused, by either status."""
    found = check_access("no_token", RemoteUnauthorizedError(URL, "a token is needed", "x", status))
    assert (found.status, found.happened) == ("pass", f"refused with {status}")


@pytest.mark.parametrize(
    "failure", [None, begun(RemoteStreamError(URL, "the stream ended", "x"))], ids=["whole run", "broken run"]
)
@pytest.mark.parametrize(
    ("check", "happened"),
    [
        ("no_token", "a request without any credential was answered like any other"),
        ("wrong_token", "a made-up token was let in"),
    ],
)
def test_a_run_that_began_fails(failure: RemoteError | None, check: str, happened: str) -> None:
    """A run that was begun without a right to it has cost something, whether or not it came to its end."""
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
    """Who is kept out otherwise than by 401 cannot tell a wrong token from a broken deployment."""
    found = check_access("wrong_token", failure)
    assert (found.status, found.happened) == ("warn", f"not let in, though not with 401: {failure.happened}")
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
    """Limits of rate and time strike anyone."""
    found = check_access("no_token", failure)
    assert (found.status, found.happened) == ("not_checked", failure.happened)
