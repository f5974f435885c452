"""Who asks in a check-up: the caller with all that it was given, and two who should not be let in."""

import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from ..deployments import TOKEN_VARIABLE, TargetOptions, read_token_variable, target_builder
from ..errors import UsageError
from ..headers import is_credential_name
from ..redaction import Redactor, Secret
from ..suites import TargetSettings
from ..targets import RemoteTarget
from ..targets._tls import Tls


@dataclass(frozen=True, slots=True)
class Callers:
    """`owner` has every credential that was given, `stranger` none, `impostor` a token that was made up.

    The stranger is None where no credential was given, the impostor where no token was. `tls` is how they all connect.
    """

    owner: RemoteTarget
    stranger: RemoteTarget | None
    impostor: RemoteTarget | None
    tls: Tls


def make_callers(options: TargetOptions, redactor: Redactor) -> Callers:
    """Return the callers of a deployment; the token is the given one, or REMOTE_EVALS_TOKEN.

    Nothing that they send is ever sent again. Raises `UsageError` as `target_builder` does, and when there is no URL.
    """
    if options.url is None:
        raise UsageError("there is no deployment to look at; give --url URL, --env NAME or REMOTE_EVALS_URL")
    token = options.token or _read_default_token(options)
    # No token is left to be found in the environment.
    given = replace(options, token=token, retries=0, is_fake=True)
    bare = _strip(given)
    return Callers(
        owner=_build(given, redactor),
        stranger=_build(bare, redactor) if bare != given else None,
        impostor=_build(replace(given, token=Secret(secrets.token_urlsafe(24))), redactor) if token else None,
        tls=Tls(options.ca_bundle, options.insecure),
    )


def _build(options: TargetOptions, redactor: Redactor) -> RemoteTarget:
    target = target_builder(options, redactor)(TargetSettings())
    assert target  # noqa: S101 - the options have a URL
    return target


def _read_default_token(options: TargetOptions) -> Secret | None:
    if options.is_fake or not os.environ.get(TOKEN_VARIABLE):
        return None
    return read_token_variable(TOKEN_VARIABLE, "the environment")


def _strip(options: TargetOptions) -> TargetOptions:
    """Return the options without the token, and without the headers and parameters that hold a credential."""
    assert options.url  # noqa: S101 - checked by the caller
    parts = urlsplit(options.url)
    query = [(name, value) for name, value in parse_qsl(parts.query, True) if not is_credential_name(name)]
    is_bare = len(query) == len(parse_qsl(parts.query, True))
    url = options.url if is_bare else urlunsplit(parts._replace(query=urlencode(query)))
    headers = _keep_open(options.headers, options.secret_headers)
    return replace(options, url=url, token=None, headers=headers, secret_headers=())


def _keep_open(headers: Mapping[str, str], secret: tuple[str, ...]) -> dict[str, str]:
    hidden = {name.lower() for name in secret}
    return {
        name: value for name, value in headers.items() if not is_credential_name(name) and name.lower() not in hidden
    }
