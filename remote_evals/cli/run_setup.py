"""Combines options and settings: an option overrides the environment that `--env` names, which overrides the rest."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from ..config.deployments import TargetOptions, judge_builder, target_builder
from ..config.settings import EnvironmentSettings, Settings, load_settings
from ..evals.eval import Eval
from ..redaction import Redactor
from ..results.report import Listener
from ..running.runner import EvalRunner
from ..running.workers import Readiness
from ..suites.loading import load_suites, make_evals
from .exits import print_warning
from .run_options import RunLimitOptions, RunningOptions, TurnLimitOptions
from .target_options import DeploymentOptions, JudgeSource, ReadinessOptions, open_fake

DEFAULT_CONCURRENCY = 4
DEFAULT_TIMEOUT_S = 600.0
DEFAULT_WAIT_S = 60.0

_INSECURE = "--insecure: certificates are not verified; anyone on the network path can read the token and forge replies"


@dataclass(frozen=True, slots=True)
class CommandSettings:
    """The settings of the project, and the environment in them that `--env` names, if any.

    Each method takes what the options give, None for nothing, and returns what applies.
    """

    project: Settings
    environment: EnvironmentSettings | None

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags that select cases when no option does."""
        return self.environment.tags if self.environment else ()

    def choose_suites(self, given: list[str] | None) -> list[str]:
        """Return the patterns of the suites."""
        return given or list(self.project.suites)

    def choose_concurrency(self, given: int | None) -> int:
        """Return the maximum number of runs at the same time."""
        return given if given is not None else self.project.concurrency or DEFAULT_CONCURRENCY

    def choose_retries(self, given: int | None) -> int:
        """Return how often to resend a request that the deployment never started."""
        retries = self.project.retries if given is None else given
        return TargetOptions().retries if retries is None else retries

    def choose_timeout_s(self, given_s: float | None) -> float:
        """Return the time limit of a case in seconds, 0 for none."""
        limit_s = self.project.timeout if given_s is None else given_s
        return DEFAULT_TIMEOUT_S if limit_s is None else limit_s

    def choose_max_time_s(self, given_s: float | None) -> float:
        """Return the time limit of the whole run in seconds, 0 for none."""
        return (self.project.max_time if given_s is None else given_s) or 0.0

    def choose_readiness(self, wait_s: float | None, headers: Mapping[str, str]) -> Readiness | None:
        """Return what to wait for before the first case, or None for nothing."""
        environment = self.environment
        expected = {**(environment.expect_headers if environment else {}), **headers}
        if wait_s is None and environment:
            wait_s = environment.wait
        if wait_s is None and not expected:
            return None
        return Readiness(DEFAULT_WAIT_S if wait_s is None else wait_s, expected)

    def complete_target(self, options: TargetOptions) -> TargetOptions:
        """Return the options, completed by the environment."""
        environment = self.environment
        if environment is None:
            return options
        return replace(
            options.over(environment, "the environment's token_env"),
            ca_bundle=options.ca_bundle or environment.ca_bundle,
            insecure_http=options.insecure_http or environment.insecure_http,
        )


def load_command_settings(config: Path | None, environment: str | None) -> CommandSettings:
    """Return the settings in a file, or those of the project around the working directory. Raises `UsageError`."""
    settings = load_settings(config, Path(), os.environ)
    return CommandSettings(settings, settings.environment(environment) if environment else None)


@contextmanager
def open_deployment(
    settings: CommandSettings, deployment: DeploymentOptions, limits: TurnLimitOptions, retries: int | None = None
) -> Iterator[tuple[TargetOptions, JudgeSource | None]]:
    """Yield the target that options and settings name, and the judge of a fake server, if any.

    `--fake` is served within the block, and `--insecure` is warned about. Raises `UsageError`.
    """
    if deployment.insecure:
        print_warning(_INSECURE)
    given = replace(deployment.parse(), limits=limits.parse(), retries=settings.choose_retries(retries))
    with open_fake(deployment.fake, settings.complete_target(given)) as opened:
        yield opened


def build_runner(
    settings: CommandSettings,
    running: RunningOptions,
    limits: RunLimitOptions,
    readiness: ReadinessOptions,
    listener: Listener,
) -> EvalRunner:
    """Return the runner that options and settings ask for. Raises `UsageError`."""
    timeout_s, max_time_s = limits.parse()
    return EvalRunner(
        concurrency=settings.choose_concurrency(running.concurrency),
        timeout_s=settings.choose_timeout_s(timeout_s),
        max_time_s=settings.choose_max_time_s(max_time_s),
        readiness=settings.choose_readiness(*readiness.parse()),
        strict=running.strict,
        strict_protocol=running.strict_protocol,
        judging=running.judge,
        runs=running.runs,
        fail_fast=running.fail_fast,
        listener=listener,
    )


def build_evals(
    patterns: Sequence[str],
    options: TargetOptions,
    redactor: Redactor,
    fake_judge: JudgeSource | None,
    *,
    judging: bool,
) -> list[Eval]:
    """Return the evals in suites, each with its target, and with its judge if `judging`. Raises `UsageError`."""
    loaded = load_suites(patterns, os.environ, needs_target=options.url is None, judging=judging)
    judges = fake_judge or judge_builder(redactor, insecure_http=options.insecure_http)
    return make_evals(loaded, target_builder(options, redactor), judges if judging else None)


def load_evals(patterns: Sequence[str], *, judging: bool = True) -> list[Eval]:
    """Return the evals in suites without targets, to be listed only. Raises `UsageError`."""
    return make_evals(load_suites(patterns, os.environ, judging=judging))
