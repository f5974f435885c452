"""`remote-evals run`: the main job."""

import os
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from ..deployments import target_builder
from ..evals import Eval
from ..judges import judge_builder
from ..loading import load_suites, make_evals
from ..redaction import Redactor
from ..runner import EvalRunner
from ..selection import find_unmatched, select_evals
from ._exit import decide_exit_code, is_rate_reached, tell, usage_errors
from ._fake import open_fake
from ._interrupt import run_interruptibly
from ._options import Config, Only, Suites, Tags, split_commas
from ._output import Reports, annotate, note_left_out, open_listener, show_evals, show_rate, show_report, workflow_fence
from ._settings import load_chosen
from ._target import parse_target_options


def run(
    suites: Suites = None,
    url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Base URL of the deployment, before what suites say. Or REMOTE_EVALS_URL."),
    ] = None,
    env: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The deployment of this name in the settings, such as production."),
    ] = None,
    token_env: Annotated[
        str | None, typer.Option(metavar="NAME", help="Environment variable that holds the bearer token.")
    ] = None,
    token_file: Annotated[Path | None, typer.Option(metavar="PATH", help="File that holds the bearer token.")] = None,
    token: Annotated[
        str | None,
        typer.Option(
            metavar="VALUE",
            help="The bearer token itself. The worst of the three ways: other users see it in the list of processes, "
            "and it stays in the shell's history. Without any, REMOTE_EVALS_TOKEN is used.",
        ),
    ] = None,
    header: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="A header to send with every request; repeat it.")
    ] = None,
    fake: Annotated[
        Path | None, typer.Option(metavar="SCRIPT", help="Run against the bundled fake server, answering from SCRIPT.")
    ] = None,
    tag: Tags = None,
    only: Only = None,
    list_: Annotated[bool, typer.Option("--list", help="Show which cases would run, and run none.")] = False,
    runs: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Run every case N times, before what suites say.")
    ] = None,
    min_pass_rate: Annotated[
        float | None,
        typer.Option(
            min=0, max=1, metavar="RATE", help="Pass when this share of all runs does, 0 to 1, not every gate."
        ),
    ] = None,
    fail_fast: Annotated[bool, typer.Option("--fail-fast", help="Start nothing more once a case cannot pass.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Fail a case on soft assertions too.")] = False,
    judge: Annotated[
        bool,
        typer.Option("--judge", help="Ask the judge, which costs money: grade rubrics, run *.judge.eval.* suites."),
    ] = False,
    concurrency: Annotated[
        int | None, typer.Option(min=1, help="How many cases run at a time; 4 by default.", show_default=False)
    ] = None,
    timeout: Annotated[
        str | None,
        typer.Option(metavar="DURATION", help="Limit of a case: 500ms, 30s; 0 for none; 10m by default."),
    ] = None,
    json: Annotated[Path | None, typer.Option(metavar="PATH", help="Write the results as JSON.")] = None,
    junit: Annotated[Path | None, typer.Option(metavar="PATH", help="Write the results as JUnit XML.")] = None,
    markdown: Annotated[
        Path | None, typer.Option(metavar="PATH", help="Write the results as Markdown, for a pull request.")
    ] = None,
    save: Annotated[
        Path | None,
        typer.Option(metavar="[DIR]", help="Keep the results as DIR/eval-<time>.json; without DIR, in results."),
    ] = None,
    config: Config = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", help="Show only the totals, and the cases of which there is something to say.")
    ] = False,
) -> None:
    """Run suites against a deployment and say whether it still works.

    Exit codes: 0 all passed; 1 a gate failed, no case ran, or a report could not be written; 2 bad usage or suite;
    3 the deployment refused the token; 4 a case could not be judged; 130 interrupted.
    """
    redactor = Redactor()
    with usage_errors(), ExitStack() as stack, workflow_fence():
        chosen = load_chosen(config, env)
        timeout_s = chosen.timeout_s(timeout)
        reports = Reports(chosen.settings.reports, json=json, junit=junit, markdown=markdown, save=save)
        options = parse_target_options(
            url=url, token=token, token_env=token_env, token_file=token_file, headers=header or [], fake=fake
        )
        options = chosen.target(options, has_url=url is not None or fake is not None)
        needs_target = options.url is None and fake is None and not list_
        loaded = load_suites(chosen.suites(suites), os.environ, needs_target=needs_target, judging=judge)
        fake_judge = None
        if not judge:
            note_left_out(chosen.suites(suites))
        if fake:
            options, fake_judge = stack.enter_context(open_fake(fake, options))
        judges = fake_judge or judge_builder(redactor)
        targets = None if list_ else target_builder(options, redactor)
        evals = make_evals(loaded, targets, judges if judge and not list_ else None)
        evals = _select(evals, chosen.tags(split_commas(tag)), only or [])
        if list_:
            raise typer.Exit(show_evals(evals))
        listener = stack.enter_context(open_listener(redactor, quiet=quiet))
        runner = EvalRunner(
            concurrency=chosen.concurrency(concurrency),
            timeout_s=timeout_s,
            strict=strict,
            judging=judge,
            runs=runs,
            fail_fast=fail_fast,
            listener=listener,
        )
        report = run_interruptibly(runner, evals)
    with workflow_fence():
        show_report(report, redactor, quiet=quiet)
        written = reports.write(report, redactor)
        if min_pass_rate is not None:
            show_rate(report, min_pass_rate, reached=is_rate_reached(report, min_pass_rate))
    annotate(report, redactor)
    raise typer.Exit(decide_exit_code(report, reports_written=written, min_pass_rate=min_pass_rate))


def _select(evals: Sequence[Eval], tags: Sequence[str], only: Sequence[str]) -> list[Eval]:
    """Return the chosen evals, none of them where any part of the choice chooses nothing: it may be a typo."""
    unmatched = find_unmatched(evals, tags=tags, only=only)
    tell(*unmatched)
    return [] if unmatched else select_evals(evals, tags=tags, only=only)
