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
    """Machines tell errors apart by their code, and every one of them can be caught by the root of the tree."""
    assert error.code == code
    assert isinstance(error, RemoteEvalsError)


def test_codes_are_unique() -> None:
    """No two classes of the tree share a code."""
    classes = [RemoteEvalsError]
    for parent in classes:
        classes += parent.__subclasses__()
    assert len({one.code for one in classes}) == len(classes) > 9


@pytest.mark.parametrize(("error", "code"), REMOTE, ids=[code for _, code in REMOTE])
def test_the_far_side_is_told_from_a_refused_token(error: RemoteError, code: str) -> None:
    """Every failure of the far side is a request that failed, but for the refusal of the token."""
    assert isinstance(error, errors.RemoteRequestFailedError) is (code != "REMOTE_UNAUTHORIZED")


def test_a_mistake_of_the_user_is_no_failure_of_the_far_side() -> None:
    """The two branches of the tree are apart: one says edit something, the other that the deployment failed."""
    assert issubclass(SuiteError, errors.UsageError)
    assert issubclass(SettingsError, errors.UsageError)
    assert not issubclass(errors.UsageError, RemoteError)


@pytest.mark.parametrize(("error", "code"), REMOTE, ids=[code for _, code in REMOTE])
def test_a_message_says_where_what_and_what_to_try(error: RemoteError, code: str) -> None:
    """A remote error names the URL, what happened and what to try, and nothing of its class's inner fields."""
    assert str(error) == f"{URL}: {HAPPENED}. {ADVICE}."


@pytest.mark.parametrize(("error", "code"), REMOTE, ids=[code for _, code in REMOTE])
def test_what_happened_can_be_rewritten(error: RemoteError, code: str) -> None:
    """What quotes the far side can be scrubbed before anybody sees it, in the message, the args and the pickle."""
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
    """A pickled error comes back with the same message and fields, as worker processes need it."""
    if isinstance(error, RemoteError):
        error.partial = run(reply="Half a")
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 - pickled a moment ago
    assert type(again) is type(error)
    assert (str(again), vars(again)) == (str(error), vars(error))


def test_a_suite_error_holds_every_mistake() -> None:
    """All mistakes are in the message, a line each, and can be had apart."""
    error = SuiteError(["a:1: x", "b:2: y"])
    assert (str(error), error.problems) == ("a:1: x\nb:2: y", ("a:1: x", "b:2: y"))
