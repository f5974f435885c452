"""The same evals under pytest: suites and evals in code as items, and `remote_agent` for plain tests.

pytest imports this at the start of every run of every project that has it installed: what is heavy is imported where
there is something to do.
"""

from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from .configuration import AGENT, SECTIONS, find_plan, is_eval_file, list_warnings, open_plan

if TYPE_CHECKING:
    from .agent import RemoteAgent


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("remote-evals", "evals of AI agents")
    group.addoption(
        "--remote-url",
        metavar="URL",
        help="Base URL of the deployment that evals and `remote_agent` ask, before what suites say and before agents "
        "in process. Or REMOTE_EVALS_URL.",
    )
    group.addoption(
        "--remote-token-env",
        metavar="NAME",
        help="Environment variable that holds the bearer token. Without it, what suites say, or REMOTE_EVALS_TOKEN.",
    )
    group.addoption(
        "--remote-ca-bundle",
        metavar="PATH",
        type=Path,
        help="Certificates to trust besides the usual ones, as PEM: those of a private CA.",
    )
    group.addoption(
        "--remote-insecure-http",
        action="store_true",
        help="Let secrets go over plain http to another machine, readable on the way.",
    )
    group.addoption(
        "--remote-judge",
        action="store_true",
        help="Ask the judge, which costs money: grade rubrics, collect *_judge_eval.py and *.judge.eval.*.",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Refuse options that cannot be used before anything is run. What the environment says waits for its use."""
    given = (config.getoption("remote_url"), config.getoption("remote_token_env"))
    if any(option is not None for option in given):
        open_plan(config)


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(
    file_path: Path, parent: pytest.Collector
) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Collect suites and evals in code, each once, whatever else would take the file for its own."""
    others = yield
    if not is_eval_file(file_path):
        return others
    from .items import EvalFile

    return [EvalFile.from_parent(parent, path=file_path)]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """Fail a plain test whose `remote_agent` failed a gate, once the test has come to its end."""
    try:
        yield
    except BaseException:
        if agent := item.stash.get(AGENT, None):
            item.stash[SECTIONS] = agent.sections()
        raise
    if agent := item.stash.get(AGENT, None):
        item.stash[SECTIONS] = agent.warnings()
        if agent.has_failed:
            pytest.fail(agent.explain(), pytrace=False)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add what there is to say of a case, and keep secrets out of what is said."""
    report = yield
    if call.when == "call":
        report.sections.extend(item.stash.get(SECTIONS, ()))
        if call.excinfo and getattr(call.excinfo.value, "could_not_be_judged", False):
            # An error, as it is elsewhere: pytest knows errors by the phase in which they arise.
            report.when = "setup"
    if plan := find_plan(item.config):
        plan.hide_secrets(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Keep secrets out of what is said of a file."""
    report = yield
    if plan := find_plan(collector.config):
        plan.hide_secrets(report)
    return report


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say what went unchecked in cases that passed, each remark once."""
    remarks = list_warnings(report for reports in terminalreporter.stats.values() for report in reports)
    if remarks:
        terminalreporter.section("remote-evals warnings", yellow=True)
        for line in remarks:
            terminalreporter.line(line)


@pytest.fixture
def remote_agent(request: pytest.FixtureRequest) -> "Iterator[RemoteAgent]":
    """Open a fresh session with the deployment at `--remote-url`: the `t` of an eval, without any `await`.

    `remote_agent.send("…")` returns a `RunResult`; `called_tool(…)`, `check(…)` and the others record what they find
    and never raise, so that a test shows everything that is wrong: one whose gates failed fails at its end, with all
    the messages. A deployment that gives no answer raises `RemoteError` at once. Skips when no URL is given.
    """
    from .agent import open_agent
    from .outcomes import in_pytest_words

    plan = open_plan(request.config)
    if plan.url is None:
        pytest.skip("no deployment to ask: pass --remote-url URL, or set REMOTE_EVALS_URL")
    with in_pytest_words(), open_agent(plan, request.node.name) as agent:
        request.node.stash[AGENT] = agent
        yield agent
