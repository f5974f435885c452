"""The exception tree: its codes, its branches and its messages."""

import copy
import pickle

import pytest

from remote_evals import errors
from remote_evals.config.problems import DocumentError
from remote_evals.errors import RemoteError, RemoteEvalsError, SettingsError, SuiteError
from tests.builders import run

URL, HAPPENED, ADVICE = "https://agent/chat", "the connection was refused", "Check that it runs"

REMOTE: list[tuple[RemoteError, str]] = [
    (errors.RemoteUnauthorizedError(URL, HAPPENED, ADVICE, 401), "REMOTE_UNAUTHORIZED"),
    (errors.RemoteUnreachableError(URL, HAPPENED, ADVICE), "REMOTE_UNREACHABLE"),
    (errors.RemoteStatusError(URL, HAPPENED, ADVICE, 503), "REMOTE_STATUS"),
    (errors.RemoteStreamError(URL, HAPPENED, ADVICE), "REMOTE_STREAM"),
    (errors.RemoteTimeoutError(URL, HAPPENED, ADVICE, "silence", "text.delta"), "REMOTE_TIMEOUT"),
]
OTHERS: list[tuple[RemoteEvalsError, str]] = [
    (errors.UsageError("x"), "USAGE"),
    (SuiteError(["a:1: x", "b:2: y"]), "SUITE"),
    (SettingsError(["a:1: x", "b: y"]), "SETTINGS"),
    (errors.TokenSourceError("x"), "TOKEN_SOURCE"),
]


@pytest.mark.parametrize(("error", "code"), [*REMOTE, *OTHERS], ids=[code for _, code in [*REMOTE, *OTHERS]])
def test_every_error_has_its_stable_code(error: RemoteEvalsError, code: str) -> None:
    """Every error has a code for machines and can be caught as the root of the tree."""
    assert error.code == code
    assert isinstance(error, RemoteEvalsError)


def test_codes_are_unique() -> None:
    """No two classes of the tree share a code."""
    classes = [RemoteEvalsError]
    for parent in classes:
        classes += parent.__subclasses__()
    assert len({one.code for one in classes}) == len(classes) > 9


@pytest.mark.parametrize(("error", "code"), REMOTE, ids=[code for _, code in REMOTE])
def test_a_failed_request_is_told_from_a_rejected_token(error: RemoteError, code: str) -> None:
    """Every remote failure except a rejected token is a failed request."""
    assert isinstance(error, errors.RemoteRequestFailedError) is (code != "REMOTE_UNAUTHORIZED")


def test_a_problem_of_the_user_is_no_failure_of_the_deployment() -> None:
    """The two branches of the tree are separate: the user must edit something, or the deployment failed."""
    assert issubclass(SuiteError, errors.UsageError)
    assert issubclass(SettingsError, errors.UsageError)
    assert not issubclass(errors.UsageError, RemoteError)


@pytest.mark.parametrize(("error", "code"), REMOTE, ids=[code for _, code in REMOTE])
def test_a_message_says_where_what_and_what_to_try(error: RemoteError, code: str) -> None:
    """The message of a remote error gives the URL, what happened and what to try, and no other field."""
    assert str(error) == f"{URL}: {HAPPENED}. {ADVICE}."


@pytest.mark.parametrize(("error", "code"), REMOTE, ids=[code for _, code in REMOTE])
def test_what_happened_can_be_rewritten(error: RemoteError, code: str) -> None:
    """Rewriting what happened changes the message, the args and the pickle, so that a quoted secret can be scrubbed."""
    scrubbed = copy.deepcopy(error)
    scrubbed.rewrite(lambda text: text.replace("refused", "[redacted]"))
    assert str(scrubbed) == f"{URL}: the connection was [redacted]. {ADVICE}."
    assert "refused" not in repr(scrubbed)
    assert b"refused" not in pickle.dumps(scrubbed)
    assert vars(scrubbed).keys() == vars(error).keys()


@pytest.mark.parametrize(
    "error",
    [*(error for error, _ in [*REMOTE, *OTHERS]), DocumentError("not YAML", 3)],
    ids=lambda error: type(error).__name__,
)
def test_an_error_survives_another_process(error: Exception) -> None:
    """A pickled error is restored with the same message and fields, as worker processes need."""
    if isinstance(error, RemoteError):
        error.partial = run(reply="Half a")
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 - pickled a moment ago
    assert type(again) is type(error)
    assert (str(again), vars(again)) == (str(error), vars(error))


def test_a_suite_error_holds_every_problem() -> None:
    """The message holds every problem on a line of its own, and `problems` holds them separately."""
    error = SuiteError(["a:1: x", "b:2: y"])
    assert (str(error), error.problems) == ("a:1: x\nb:2: y", ("a:1: x", "b:2: y"))
