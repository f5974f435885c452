"""The pytest plugin: runs suites and evals in code as test items, and gives plain tests the fixture `remote_agent`.

In: the options of pytest, suite files and evals in code.
Out: the outcome of each item, and the warnings at the end of the session.

pytest imports this module in every project that has it installed, so heavy imports are made only when needed.
"""

from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from .configuration import (
    AGENT,
    SECTIONS,
    collect_warnings,
    find_configuration,
    is_eval_file,
    open_configuration,
)

if TYPE_CHECKING:
    from .agent import RemoteAgent


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("remote-evals", "evals of AI agents")
    group.addoption(
        "--remote-url",
        metavar="URL",
        help="Base URL of the deployment for evals and `remote_agent`; overrides the URL in suites, and agents in this "
        "process. Default: the environment variable REMOTE_EVALS_URL.",
    )
    group.addoption(
        "--remote-token-env",
        metavar="NAME",
        help="Environment variable that holds the bearer token. Default: the one that the suite names, or "
        "REMOTE_EVALS_TOKEN.",
    )
    group.addoption(
        "--remote-ca-bundle",
        metavar="PATH",
        type=Path,
        help="PEM file of more CA certificates to trust, such as those of a private CA.",
    )
    group.addoption(
        "--remote-insecure-http",
        action="store_true",
        help="Allow sending credentials over plain HTTP to another machine. Anyone on the network path can read them.",
    )
    group.addoption(
        "--remote-judge",
        action="store_true",
        help="Ask the judge, which costs money: grade rubrics, and run *.judge.eval.* and *_judge_eval.py files. "
        "Default: skip both.",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Reject invalid options before anything runs. The environment is read only when it is needed."""
    given = (config.getoption("remote_url"), config.getoption("remote_token_env"))
    if any(option is not None for option in given):
        open_configuration(config)


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(
    file_path: Path, parent: pytest.Collector
) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Collect each suite and each file of evals in code once, even if other collectors claim the file."""
    others = yield
    if not is_eval_file(file_path):
        return others
    from .items import EvalFile

    return [EvalFile.from_parent(parent, path=file_path)]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """Fail a plain test with a failed gate in its `remote_agent`, after the test function has returned."""
    try:
        yield
    except BaseException:
        if agent := item.stash.get(AGENT, None):
            item.stash[SECTIONS] = agent.make_evidence_sections()
        raise
    if agent := item.stash.get(AGENT, None):
        item.stash[SECTIONS] = agent.make_warning_sections()
        if agent.has_failed:
            pytest.fail(agent.explain(), pytrace=False)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the sections of a case to its report, and remove secrets from it."""
    report = yield
    if call.when == "call":
        report.sections.extend(item.stash.get(SECTIONS, ()))
        if call.excinfo and getattr(call.excinfo.value, "could_not_be_judged", False):
            # pytest reports an error, rather than a failure, if it occurs outside the call phase.
            report.when = "setup"
    if configuration := find_configuration(item.config):
        configuration.hide_secrets(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Remove secrets from the report on a file."""
    report = yield
    if configuration := find_configuration(collector.config):
        configuration.hide_secrets(report)
    return report


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print the warnings about cases that passed, each once."""
    warnings = collect_warnings(report for reports in terminalreporter.stats.values() for report in reports)
    if warnings:
        terminalreporter.section("remote-evals warnings", yellow=True)
        for line in warnings:
            terminalreporter.line(line)


@pytest.fixture
def remote_agent(request: pytest.FixtureRequest) -> "Iterator[RemoteAgent]":
    """Open a new session with the deployment at `--remote-url`: the `t` of an eval, without `await`.

    `remote_agent.send("…")` returns a `RunResult`. `called_tool(…)`, `check(…)` and the other assertions record their
    results and never raise; a test with a failed gate fails after it returns, with all messages. A deployment that
    does not answer raises `RemoteError` at once. The test is skipped if no URL is given.
    """
    from .agent import open_agent
    from .outcomes import in_pytest_words

    configuration = open_configuration(request.config)
    if configuration.url is None:
        pytest.skip("no deployment to ask: pass --remote-url URL, or set REMOTE_EVALS_URL")
    with in_pytest_words(), open_agent(configuration, request.node.name) as agent:
        request.node.stash[AGENT] = agent
        yield agent
