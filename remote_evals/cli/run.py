"""`remote-evals run`: the main job."""

import os
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from ..deployments import target_builder
from ..durations import parse_duration
from ..errors import UsageError
from ..evals import Eval
from ..loading import load_suites, make_evals
from ..redaction import Redactor
from ..runner import EvalRunner
from ..selection import find_unmatched, select_evals
from ._exit import decide_exit_code, tell, usage_errors
from ._fake import open_fake
from ._interrupt import run_interruptibly
from ._options import Only, Suites, Tags, split_commas
from ._output import Reports, open_listener, show_report
from ._target import parse_target_options


def run(
    suites: Suites = None,
    url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Base URL of the deployment, before what suites say. Or REMOTE_EVALS_URL."),
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
    tag: Tags = None,
    only: Only = None,
    concurrency: Annotated[int, typer.Option(min=1, help="How many cases run at a time.")] = 4,
    timeout: Annotated[
        str, typer.Option(metavar="DURATION", help="Limit of a case: 500ms, 30s, 10m; 0 for none.")
    ] = "10m",
    strict: Annotated[bool, typer.Option("--strict", help="Fail a case on soft assertions too.")] = False,
    json: Annotated[Path | None, typer.Option(metavar="PATH", help="Write the results as JSON.")] = None,
    junit: Annotated[Path | None, typer.Option(metavar="PATH", help="Write the results as JUnit XML.")] = None,
    fake: Annotated[
        Path | None, typer.Option(metavar="SCRIPT", help="Run against the bundled fake server, answering from SCRIPT.")
    ] = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", help="Show only the totals, and the cases of which there is something to say.")
    ] = False,
) -> None:
    """Run suites against a deployment and say whether it still works.

    Exit codes: 0 all passed; 1 a gate failed, no case ran, or a report could not be written; 2 bad usage or suite;
    3 the deployment refused the token; 4 a case could not be judged; 130 interrupted.
    """
    redactor = Redactor()
    with usage_errors(), ExitStack() as stack:
        timeout_s = _parse_timeout(timeout)
        reports = Reports(json=json, junit=junit)
        options = parse_target_options(
            url=url, token=token, token_env=token_env, token_file=token_file, headers=header or [], fake=fake
        )
        loaded = load_suites(suites or [], os.environ, needs_target=options.url is None and fake is None)
        if fake:
            options = stack.enter_context(open_fake(fake, options))
        evals = _select(make_evals(loaded, target_builder(options, redactor)), split_commas(tag), only or [])
        listener = stack.enter_context(open_listener(redactor, quiet=quiet))
        runner = EvalRunner(concurrency=concurrency, timeout_s=timeout_s, strict=strict, listener=listener)
        report = run_interruptibly(runner, evals)
    show_report(report, redactor, quiet=quiet)
    written = reports.write(report, redactor)
    raise typer.Exit(decide_exit_code(report, reports_written=written))


def _parse_timeout(text: str) -> float:
    try:
        return parse_duration(text)
    except ValueError as error:
        raise UsageError(f"--timeout: {error}") from None


def _select(evals: Sequence[Eval], tags: Sequence[str], only: Sequence[str]) -> list[Eval]:
    """Return the chosen evals, none of them where any part of the choice chooses nothing: it may be a typo."""
    unmatched = find_unmatched(evals, tags=tags, only=only)
    tell(*unmatched)
    return [] if unmatched else select_evals(evals, tags=tags, only=only)
