"""Options and settings put together: an option comes before the environment it names, and that before the settings."""

import os
from dataclasses import dataclass, replace
from pathlib import Path

from ..deployments import TargetOptions, read_token_variable
from ..durations import parse_duration
from ..errors import UsageError
from ..settings import EnvironmentSettings, Settings, load_settings

DEFAULT_CONCURRENCY = 4
DEFAULT_TIMEOUT_S = 600.0


@dataclass(frozen=True, slots=True)
class Chosen:
    """The settings of a run, and the environment that `--env` names, if any."""

    settings: Settings
    environment: EnvironmentSettings | None

    def suites(self, given: list[str] | None) -> list[str]:
        """Return which suites are meant."""
        return given or list(self.settings.suites)

    def tags(self, given: list[str]) -> list[str]:
        """Return which tags select the cases."""
        return given or (list(self.environment.tags) if self.environment else [])

    def concurrency(self, given: int | None) -> int:
        """Return how many runs go on at a time."""
        return given if given is not None else self.settings.concurrency or DEFAULT_CONCURRENCY

    def timeout_s(self, given: str | None) -> float:
        """Return the limit of a run in seconds. Raises `UsageError`."""
        try:
            limit_s = self.settings.timeout if given is None else parse_duration(given)
        except ValueError as error:
            raise UsageError(f"--timeout: {error}") from None
        return DEFAULT_TIMEOUT_S if limit_s is None else limit_s

    def target(self, options: TargetOptions, *, has_url: bool) -> TargetOptions:
        """Return the options with what the environment says, whose URL comes before REMOTE_EVALS_URL.

        Raises `UsageError` when another option gives a URL too, and for a token variable that is not set.
        """
        if self.environment is None:
            return options
        if has_url:
            raise UsageError("--env names a deployment, and so does --url or --fake; leave one of them out")
        token_env = self.environment.token_env
        token = options.token or (read_token_variable(token_env, "the environment's token_env") if token_env else None)
        headers = {**self.environment.headers, **options.headers}
        return replace(options, url=self.environment.url, token=token, headers=headers)


def load_chosen(config: Path | None, environment: str | None) -> Chosen:
    """Return the settings of a file, or of the project around the working directory. Raises `UsageError`."""
    settings = load_settings(config, Path(), os.environ)
    return Chosen(settings, settings.environment(environment) if environment else None)
