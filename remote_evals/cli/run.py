"""`remote-evals run`: the main job."""

import os
from collections.abc import Sequence
from contextlib import ExitStack

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
from ._interrupt import interruptible, leave, run_interruptibly
from ._options import Config, Only, OnlyList, Suites, Tags, split_commas
from ._output import Reports, annotate, note_left_out, open_listener, show_evals, show_rate, show_report, workflow_fence
from ._run_options import (
    Concurrency,
    FailFast,
    Json,
    Judge,
    Junit,
    Markdown,
    MinPassRate,
    Quiet,
    Retries,
    Runs,
    Save,
    Strict,
    StrictProtocol,
)
from ._settings import load_chosen
from ._target import parse_expected_headers, parse_limits, parse_target_options
from ._target_options import (
    CaBundle,
    ConnectTimeout,
    Env,
    ExpectHeaders,
    Fake,
    FirstEventTimeout,
    Headers,
    HeadersTimeout,
    Insecure,
    InsecureHttp,
    MaxTime,
    SecretHeaders,
    SilenceTimeout,
    Timeout,
    Token,
    TokenEnv,
    TokenFile,
    TurnTimeout,
    Url,
    Wait,
)


def run(
    suites: Suites = None,
    url: Url = None,
    env: Env = None,
    token_env: TokenEnv = None,
    token_file: TokenFile = None,
    token: Token = None,
    header: Headers = None,
    secret_header: SecretHeaders = None,
    ca_bundle: CaBundle = None,
    insecure: Insecure = False,
    insecure_http: InsecureHttp = False,
    fake: Fake = None,
    wait: Wait = None,
    expect_header: ExpectHeaders = None,
    tag: Tags = None,
    only: Only = None,
    list_: OnlyList = False,
    concurrency: Concurrency = None,
    runs: Runs = None,
    retries: Retries = None,
    fail_fast: FailFast = False,
    judge: Judge = False,
    strict: Strict = False,
    strict_protocol: StrictProtocol = False,
    min_pass_rate: MinPassRate = None,
    connect_timeout: ConnectTimeout = None,
    headers_timeout: HeadersTimeout = None,
    first_event_timeout: FirstEventTimeout = None,
    silence_timeout: SilenceTimeout = None,
    turn_timeout: TurnTimeout = None,
    timeout: Timeout = None,
    max_time: MaxTime = None,
    json: Json = None,
    junit: Junit = None,
    markdown: Markdown = None,
    save: Save = None,
    quiet: Quiet = False,
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
            chosen = load_chosen(config, env)
            reports = Reports(chosen.settings.reports, json=json, junit=junit, markdown=markdown, save=save)
            timeout_s, max_time_s = chosen.timeout_s(timeout), chosen.max_time_s(max_time)
            readiness = chosen.readiness(wait, parse_expected_headers(expect_header))
            options = parse_target_options(
                url=url,
                token=token,
                token_env=token_env,
                token_file=token_file,
                headers=header,
                secret_headers=secret_header,
                ca_bundle=ca_bundle,
                insecure=insecure,
                insecure_http=insecure_http,
                limits=parse_limits(
                    connect_timeout=connect_timeout,
                    headers_timeout=headers_timeout,
                    first_event_timeout=first_event_timeout,
                    silence_timeout=silence_timeout,
                    turn_timeout=turn_timeout,
                ),
                retries=chosen.retries(retries),
                fake=fake,
            )
            options = chosen.target(options, has_url=url is not None or fake is not None)
            needs_target = options.url is None and fake is None and not list_
            loaded = load_suites(chosen.suites(suites), os.environ, needs_target=needs_target, judging=judge)
            fake_judge = None
            if not judge:
                note_left_out(chosen.suites(suites))
            if fake:
                options, fake_judge = stack.enter_context(open_fake(fake, options))
            judges = fake_judge or judge_builder(redactor, insecure_http=options.insecure_http)
            targets = None if list_ else target_builder(options, redactor)
            evals = make_evals(loaded, targets, judges if judge and not list_ else None)
            evals = _select(evals, chosen.tags(split_commas(tag)), only or [])
            if list_:
                raise typer.Exit(show_evals(evals))
            runner = EvalRunner(
                concurrency=chosen.concurrency(concurrency),
                timeout_s=timeout_s,
                max_time_s=max_time_s,
                readiness=readiness,
                strict=strict,
                strict_protocol=strict_protocol,
                judging=judge,
                runs=runs,
                fail_fast=fail_fast,
                listener=stack.enter_context(open_listener(redactor, quiet=quiet)),
            )
            report = run_interruptibly(runner, evals, interrupts)
        with workflow_fence():
            show_report(report, redactor, quiet=quiet)
            written = reports.write(report, redactor)
            if min_pass_rate is not None:
                show_rate(report, min_pass_rate, reached=is_rate_reached(report, min_pass_rate))
        annotate(report, redactor)
    leave(
        decide_exit_code(report, reports_written=written, min_pass_rate=min_pass_rate, interrupted_by=interrupts.first)
    )


def _select(evals: Sequence[Eval], tags: Sequence[str], only: Sequence[str]) -> list[Eval]:
    """Return the chosen evals, none of them where any part of the choice chooses nothing: it may be a typo."""
    unmatched = find_unmatched(evals, tags=tags, only=only)
    tell(*unmatched)
    return [] if unmatched else select_evals(evals, tags=tags, only=only)
