"""`remote-evals run`: runs suites against a deployment, and reports."""

from contextlib import ExitStack

import typer

from ..config.deployments import resolve
from ..redaction import Redactor
from ..results import EvalReport
from .exits import decide_exit_code, decide_list_exit_code, exit_on_usage_error, is_rate_reached
from .interrupts import catch_signals, exit_process, run_interruptibly
from .options import Config, OnlyList, SelectionOptions, Suites, expand_groups
from .output import (
    Reports,
    open_listener,
    print_annotations,
    print_evals,
    print_rate,
    print_report,
    print_skipped_suites,
    workflow_fence,
)
from .run_options import OutputOptions, RunLimitOptions, RunningOptions, TurnLimitOptions
from .run_setup import build_evals, build_runner, load_command_settings, load_evals, open_deployment
from .target_options import DeploymentOptions, ReadinessOptions


@expand_groups
def run(
    *,
    suites: Suites = None,
    deployment: DeploymentOptions,
    readiness: ReadinessOptions,
    selection: SelectionOptions,
    only_list: OnlyList = False,
    running: RunningOptions,
    turn_limits: TurnLimitOptions,
    run_limits: RunLimitOptions,
    output: OutputOptions,
    config: Config = None,
) -> None:
    """Run suites against a deployment and report whether it still works.

    Exit codes:
    0 all passed
    1 a check failed, no case ran, or a report could not be written
    2 bad usage, suite or settings: nothing was sent
    3 no check failed, but the deployment refused the token
    4 no check failed, but a case could not be judged
    130 interrupted by Ctrl-C, 143 by SIGTERM: what was done is reported
    """
    redactor = Redactor()
    with catch_signals() as interrupts:
        with exit_on_usage_error(), ExitStack() as stack, workflow_fence():
            settings = load_command_settings(config, deployment.env)
            reports = Reports(output, settings.project.reports)
            listener = open_listener(redactor, quiet=output.quiet)
            runner = build_runner(settings, running, run_limits, readiness, listener)
            opened = open_deployment(settings, deployment, turn_limits, running.retries)
            options, fake_judge = stack.enter_context(opened)
            patterns = settings.choose_suites(suites)
            if only_list:
                evals = load_evals(patterns, judging=running.judge)
            else:
                evals = build_evals(patterns, resolve(options), redactor, fake_judge, judging=running.judge)
            if not running.judge:
                print_skipped_suites(patterns)
            evals = selection.select(evals, settings.tags)
            if only_list:
                print_evals(evals)
                raise typer.Exit(decide_list_exit_code(evals))
            with listener:
                report = run_interruptibly(runner, evals, interrupts)
        min_pass_rate = running.min_pass_rate
        is_written = _report(report, reports, redactor, quiet=output.quiet, min_pass_rate=min_pass_rate)
    interrupted_by = interrupts.first
    exit_process(
        decide_exit_code(report, reports_written=is_written, min_pass_rate=min_pass_rate, interrupted_by=interrupted_by)
    )


def _report(
    report: EvalReport, reports: Reports, redactor: Redactor, *, quiet: bool, min_pass_rate: float | None
) -> bool:
    """Print and write a report; return whether all files are written."""
    with workflow_fence():
        print_report(report, redactor, quiet=quiet)
        is_written = reports.write(report, redactor)
        if min_pass_rate is not None:
            print_rate(report, min_pass_rate, reached=is_rate_reached(report, min_pass_rate))
    print_annotations(report, redactor)
    return is_written
