"""`remote-evals run`: the main job."""

import os
from contextlib import ExitStack
from dataclasses import replace

import typer

from ..config.deployments import resolve
from ..redaction import Redactor
from ..results import EvalReport
from ..suites.loading import load_suites, make_evals
from .exits import decide_exit_code, decide_list_exit_code, is_rate_reached, usage_errors, warn
from .interrupts import interruptible, leave, run_interruptibly
from .options import ChoiceOptions, Config, OnlyList, Suites, grouped
from .output import Reports, annotate, note_left_out, open_listener, show_evals, show_rate, show_report, workflow_fence
from .run_options import OutputOptions, RunLimitOptions, RunningOptions, TurnLimitOptions
from .setup import build_evals, build_runner, load_chosen
from .target_options import INSECURE, DeploymentOptions, ReadinessOptions, open_fake


@grouped
def run(
    *,
    suites: Suites = None,
    deployment: DeploymentOptions,
    readiness: ReadinessOptions,
    choice: ChoiceOptions,
    list_: OnlyList = False,
    running: RunningOptions,
    turn_limits: TurnLimitOptions,
    run_limits: RunLimitOptions,
    output: OutputOptions,
    config: Config = None,
) -> None:
    """Run suites against a deployment and say whether it still works.

    Exit codes:
    0 all passed
    1 a gate failed, no case ran, or a report could not be written
    2 bad usage, suite or settings: nothing was sent
    3 no gate failed, but the deployment refused the token
    4 no gate failed, but a case could not be judged
    130 interrupted by Ctrl-C, 143 by SIGTERM: what was done by then is reported
    """
    redactor = Redactor()
    with interruptible() as interrupts:
        with usage_errors(), ExitStack() as stack, workflow_fence():
            chosen = load_chosen(config, deployment.env)
            reports = Reports(output, chosen.settings.reports)
            listener = open_listener(redactor, quiet=output.quiet)
            runner = build_runner(chosen, running, run_limits, readiness, listener)
            if deployment.insecure:
                warn(INSECURE)
            asked = replace(deployment.parse(), limits=turn_limits.parse(), retries=chosen.retries(running.retries))
            options, fake_judge = stack.enter_context(open_fake(deployment.fake, chosen.target(asked)))
            patterns = chosen.suites(suites)
            if list_:
                evals = make_evals(load_suites(patterns, os.environ, judging=running.judge))
            else:
                evals = build_evals(patterns, resolve(options), redactor, fake_judge, judging=running.judge)
            if not running.judge:
                note_left_out(patterns)
            evals = choice.select(evals, chosen.tags)
            if list_:
                show_evals(evals)
                raise typer.Exit(decide_list_exit_code(evals))
            with listener:
                report = run_interruptibly(runner, evals, interrupts)
        is_written = _tell(report, reports, redactor, quiet=output.quiet, min_pass_rate=running.min_pass_rate)
    leave(
        decide_exit_code(
            report,
            reports_written=is_written,
            min_pass_rate=running.min_pass_rate,
            interrupted_by=interrupts.first,
        )
    )


def _tell(
    report: EvalReport, reports: Reports, redactor: Redactor, *, quiet: bool, min_pass_rate: float | None
) -> bool:
    """Show and write a report; say whether all is written."""
    with workflow_fence():
        show_report(report, redactor, quiet=quiet)
        is_written = reports.write(report, redactor)
        if min_pass_rate is not None:
            show_rate(report, min_pass_rate, reached=is_rate_reached(report, min_pass_rate))
    annotate(report, redactor)
    return is_written
