"""Whether a caller without the token is refused, and one with a wrong token."""

from ..errors import RemoteError, RemoteStatusError, RemoteStreamError, RemoteUnauthorizedError
from ..targets import RemoteTarget
from ._callers import Callers
from ._finding import Finding, failed, not_checked, passed, warned
from ._journal import Journal

_BILL = "whoever knows the URL can run the agent, at your cost"
_WANT_401 = "Answer 401, so that callers can tell a wrong token from a broken deployment"
_TOO_MANY_REQUESTS = 429

_LET_IN = {
    "no_token": (
        "a request without any credential was answered like any other",
        f"Let the deployment refuse it with 401: {_BILL}",
    ),
    "wrong_token": (
        "a made-up token was let in",
        f"Let the deployment compare the token, and not just look whether there is one: {_BILL}",
    ),
}


async def try_access(callers: Callers, prompt: str, journal: Journal) -> None:
    """Send the prompt as the callers that should be refused, to a deployment that has answered it."""
    if callers.no_token is None:
        happened = "the deployment is open: it answered, and no credential was given"
        journal.add(warned("no_token", happened, f"If it is not meant for everyone, let it ask for a token: {_BILL}"))
        journal.add(not_checked("wrong_token", "no token is needed"))
        return
    found = check_access("no_token", await _send(callers.no_token, prompt))
    journal.add(found)
    if callers.wrong_token is None:
        journal.add(not_checked("wrong_token", "no token was given"))
    elif found.status == "fail":
        journal.add(not_checked("wrong_token", "no token is needed"))
    elif found.status == "not_checked":
        journal.add(not_checked("wrong_token", found.happened))
    else:
        journal.add(check_access("wrong_token", await _send(callers.wrong_token, prompt)))


def check_access(check: str, failure: RemoteError | None) -> Finding:
    """Say what it means how a turn failed that should have been refused; None when it did not fail."""
    if failure is None or _has_begun(failure):
        return failed(check, *_LET_IN[check])
    match failure:
        case RemoteUnauthorizedError():
            return passed(check, f"refused with {failure.status}", status=failure.status)
        case RemoteStatusError(status=status) if status != _TOO_MANY_REQUESTS:
            return warned(check, f"not let in, though not with 401: {failure.happened}", _WANT_401, status=status)
        case RemoteStreamError():
            return warned(check, f"not let in, though not with 401: {failure.happened}", _WANT_401)
    return not_checked(check, failure.happened)


async def _send(target: RemoteTarget, prompt: str) -> RemoteError | None:
    async with target, target.open_session() as session:
        try:
            await session.send(prompt, 1)
        except RemoteError as failure:
            return failure
    return None


def _has_begun(failure: RemoteError) -> bool:
    return failure.partial is not None and failure.partial.last_event is not None
