"""Options and settings put together: an option comes before the environment it names, and that before the settings."""

import os
from collections.abc import Mapping, Sequence
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
from .run_options import RunLimitOptions, RunningOptions
from .target_options import JudgeSource, ReadinessOptions

DEFAULT_CONCURRENCY = 4
DEFAULT_TIMEOUT_S = 600.0
DEFAULT_WAIT_S = 60.0


@dataclass(frozen=True, slots=True)
class Chosen:
    """The settings of a run, and the environment that `--env` names, if any."""

    settings: Settings
    environment: EnvironmentSettings | None

    def suites(self, given: list[str] | None) -> list[str]:
        """Return which suites are meant."""
        return given or list(self.settings.suites)

    @property
    def tags(self) -> tuple[str, ...]:
        """Which tags select the cases, where no option does."""
        return self.environment.tags if self.environment else ()

    def concurrency(self, given: int | None) -> int:
        """Return how many runs go on at a time."""
        return given if given is not None else self.settings.concurrency or DEFAULT_CONCURRENCY

    def retries(self, given: int | None) -> int:
        """Return how often a request that was not begun on is sent again."""
        known = self.settings.retries if given is None else given
        return TargetOptions().retries if known is None else known

    def timeout_s(self, given_s: float | None) -> float:
        """Return the limit of a run of a case in seconds, 0 for none."""
        limit_s = self.settings.timeout if given_s is None else given_s
        return DEFAULT_TIMEOUT_S if limit_s is None else limit_s

    def max_time_s(self, given_s: float | None) -> float:
        """Return the limit of the whole run in seconds, 0 for none."""
        return (self.settings.max_time if given_s is None else given_s) or 0.0

    def readiness(self, wait_s: float | None, headers: Mapping[str, str]) -> Readiness | None:
        """Return what to wait for before the first case, None for nothing."""
        environment = self.environment
        expected = {**(environment.expect_headers if environment else {}), **headers}
        if wait_s is None and environment:
            wait_s = environment.wait
        if wait_s is None and not expected:
            return None
        return Readiness(DEFAULT_WAIT_S if wait_s is None else wait_s, expected)

    def target(self, options: TargetOptions) -> TargetOptions:
        """Return the options with what the environment says where they say nothing themselves."""
        environment = self.environment
        if environment is None:
            return options
        return replace(
            options.over(environment, "the environment's token_env"),
            ca_bundle=options.ca_bundle or environment.ca_bundle,
            insecure_http=options.insecure_http or environment.insecure_http,
        )


def load_chosen(config: Path | None, environment: str | None) -> Chosen:
    """Return the settings of a file, or of the project around the working directory. Raises `UsageError`."""
    settings = load_settings(config, Path(), os.environ)
    return Chosen(settings, settings.environment(environment) if environment else None)


def build_runner(
    chosen: Chosen,
    running: RunningOptions,
    limits: RunLimitOptions,
    readiness: ReadinessOptions,
    listener: Listener,
) -> EvalRunner:
    """Return the runner that options and settings ask for."""
    timeout_s, max_time_s = limits.parse()
    return EvalRunner(
        concurrency=chosen.concurrency(running.concurrency),
        timeout_s=chosen.timeout_s(timeout_s),
        max_time_s=chosen.max_time_s(max_time_s),
        readiness=chosen.readiness(*readiness.parse()),
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
    """Return the evals of suites, each with its target, and with its judge where one is asked."""
    loaded = load_suites(patterns, os.environ, needs_target=options.url is None, judging=judging)
    judges = fake_judge or judge_builder(redactor, insecure_http=options.insecure_http)
    return make_evals(loaded, target_builder(options, redactor), judges if judging else None)
