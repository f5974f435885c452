"""Checks whether the deployment refuses requests without a token, and requests with a wrong one.

The requests are sent by up to three identities: one with every given credential, and two that should be refused.
"""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from ..config.deployments import TargetOptions, TargetSettings, find_token, target_builder
from ..errors import RemoteError, RemoteStatusError, RemoteStreamError, RemoteUnauthorizedError, UsageError
from ..redaction import Redactor, Secret
from ..redaction.credentials import is_credential_name, is_credential_parameter
from ..targets import RemoteTarget
from .findings import Finding, FindingLog, failed, not_checked, passed, warned

_OPEN_TO_ALL = "anyone who knows the URL can run the agent, at your cost"
_WANT_401 = "Answer 401, so that callers can tell a wrong token from a broken deployment"
_TOO_MANY_REQUESTS = 429
_ACCEPTED = {
    "no_token": (
        "a request without any credential was answered like any other",
        f"Make the deployment refuse it with 401: {_OPEN_TO_ALL}",
    ),
    "wrong_token": (
        "a made-up token was accepted",
        f"Make the deployment compare the token, and not only check that there is one: {_OPEN_TO_ALL}",
    ),
}


@dataclass(frozen=True, slots=True)
class Identities:
    """The deployment as seen with every given credential, with none, and with a made-up token.

    `no_token` is None if no credential was given, `wrong_token` if no token was given.
    """

    as_given: RemoteTarget
    no_token: RemoteTarget | None
    wrong_token: RemoteTarget | None


def make_identities(options: TargetOptions, redactor: Redactor) -> Identities:
    """Return the identities for a deployment; the token is the one that `find_token` finds.

    They never resend a request. Raises `UsageError` as `target_builder` does, and if there is no URL.
    """
    if options.url is None:
        raise UsageError("there is no deployment to examine; give --url URL, --env NAME or REMOTE_EVALS_URL")
    token = find_token(options)
    # An identity without a token must not find one in the environment.
    given = replace(options, token=token, retries=0, reads_environment=False)
    bare = _strip_credentials(given)
    made_up = Secret(secrets.token_urlsafe(24))
    return Identities(
        as_given=_build(given, redactor),
        no_token=_build(bare, redactor) if bare != given else None,
        wrong_token=_build(replace(given, token=made_up), redactor) if token else None,
    )


def _build(options: TargetOptions, redactor: Redactor) -> RemoteTarget:
    target = target_builder(options, redactor)(TargetSettings())
    assert target  # noqa: S101 - the options have a URL
    return target


def _strip_credentials(options: TargetOptions) -> TargetOptions:
    """Return the options without the token, and without headers and query parameters that hold a credential."""
    assert options.url  # noqa: S101 - checked by the caller
    parts = urlsplit(options.url)
    query = [(name, value) for name, value in parse_qsl(parts.query, True) if not is_credential_parameter(name)]
    is_bare = len(query) == len(parse_qsl(parts.query, True))
    url = options.url if is_bare else urlunsplit(parts._replace(query=urlencode(query)))
    headers = _strip_headers(options.headers, options.secret_headers)
    return replace(options, url=url, token=None, headers=headers, secret_headers=())


def _strip_headers(headers: Mapping[str, str], secret: tuple[str, ...]) -> dict[str, str]:
    hidden = {name.lower() for name in secret}
    return {
        name: value for name, value in headers.items() if not is_credential_name(name) and name.lower() not in hidden
    }


async def try_access(identities: Identities, prompt: str, log: FindingLog) -> None:
    """Send the prompt as each identity that should be refused, to a deployment that has answered it."""
    if identities.no_token is None:
        happened = "the deployment is open: it answered, and no credential was given"
        log.add(warned("no_token", happened, f"If it is not meant for everyone, require a token: {_OPEN_TO_ALL}"))
        log.add(not_checked("wrong_token", "no token is needed"))
        return
    found = check_access("no_token", await _send(identities.no_token, prompt))
    log.add(found)
    if identities.wrong_token is None:
        log.add(not_checked("wrong_token", "no token was given"))
    elif found.status == "fail":
        log.add(not_checked("wrong_token", "no token is needed"))
    elif found.status == "not_checked":
        log.add(not_checked("wrong_token", found.happened))
    else:
        log.add(check_access("wrong_token", await _send(identities.wrong_token, prompt)))


def check_access(check: str, failure: RemoteError | None) -> Finding:
    """Return the finding on a turn that should have been refused; `failure` is None if it succeeded."""
    if failure is None or _has_begun(failure):
        return failed(check, *_ACCEPTED[check])
    match failure:
        case RemoteUnauthorizedError():
            return passed(check, f"refused with {failure.status}", status=failure.status)
        case RemoteStatusError(status=status) if status != _TOO_MANY_REQUESTS:
            return warned(check, f"refused, but not with 401: {failure.happened}", _WANT_401, status=status)
        case RemoteStreamError():
            return warned(check, f"refused, but not with 401: {failure.happened}", _WANT_401)
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
