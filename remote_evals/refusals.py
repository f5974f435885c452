"""Deployments that refused the token, so that knocking again is of no use."""

from .errors import RemoteUnauthorizedError
from .results import CaseError, EvalResult
from .targets import Target

_REFUSED = CaseError(code="TOKEN_REFUSED", message="not run, since the deployment refused the token")


class RefusedTargets:
    """The targets that refused the token."""

    def __init__(self) -> None:
        self._targets: set[Target] = set()

    def note(self, target: Target, result: EvalResult) -> None:
        """Take a result of a target: any other case would meet the same 401; a 403 may be for one prompt alone."""
        if result.error and (result.error.code, result.error.status) == (RemoteUnauthorizedError.code, 401):
            self._targets.add(target)

    def find(self, target: Target) -> CaseError | None:
        """Return why no more cases are sent to a target, None for one that has not refused the token."""
        return _REFUSED if target in self._targets else None
