"""What a session of pytest was told of the deployment, and what lies between the hooks; imports nothing heavy."""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ..suites.discovery import SUITE_ENDINGS

if TYPE_CHECKING:
    from ..config.deployments import JudgeSettings, TargetSettings
    from ..judging import Judge
    from ..redaction import Redactor
    from ..running.stopping import RefusedTargets
    from ..targets import RemoteTarget

Sections = list[tuple[str, str]]

WARNINGS = "remote-evals warnings"
SECTIONS = pytest.StashKey[Iterable[tuple[str, str]]]()
AGENT = pytest.StashKey[Any]()
_MOST_NAMES = 5


@dataclass(frozen=True)
class EvalPlan:
    """The deployment of this session, if any, and how targets and judges are made; `redactor` knows every secret.

    No more cases are sent to targets that `refused` the token.
    """

    url: str | None
    judging: bool
    redactor: "Redactor"
    target_for: "Callable[[TargetSettings], RemoteTarget | None]"
    judge_for: "Callable[[JudgeSettings | None], Judge | None]"
    refused: "RefusedTargets"

    def hide_secrets(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        """Scrub a report, tracebacks with locals and captured output too; one without secrets stays as it is."""
        scrub = self.redactor.scrub
        report.sections = [(name, scrub(text)) for name, text in report.sections]
        if isinstance(report.longrepr, tuple):
            path, line, reason = report.longrepr
            report.longrepr = (path, line, scrub(reason))
        elif report.longrepr and scrub(report.longreprtext) != report.longreprtext:
            report.longrepr = scrub(report.longreprtext)


_PLAN = pytest.StashKey[EvalPlan]()


def is_eval_file(path: Path) -> bool:
    """Say whether a file holds a suite or evals in code.

    Code must name `define_eval`: a script of this name that is none of ours is never run by a session of pytest.
    """
    if path.suffix != ".py":
        return path.name.endswith(SUITE_ENDINGS)
    is_named_so = path.stem.endswith("_eval") or path.stem.startswith("eval_")
    return is_named_so and b"define_eval" in path.read_bytes()


def find_plan(config: pytest.Config) -> EvalPlan | None:
    """Return the plan of the session, None as long as nobody needed one."""
    return config.stash.get(_PLAN, None)


def open_plan(config: pytest.Config) -> EvalPlan:
    """Return the plan of the session, made on first use. Raises `pytest.UsageError` for what cannot be used."""
    if plan := find_plan(config):
        return plan
    from ..errors import UsageError

    try:
        plan = config.stash[_PLAN] = _make_plan(config)
    except UsageError as error:
        mistake = str(error)
    else:
        return plan
    raise pytest.UsageError(mistake)


def list_warnings(reports: Iterable[Any]) -> list[str]:
    """Return the lines of all remarks on cases that passed: each once, with the names of some of its cases."""
    cases: dict[str, list[str]] = {}
    for report in reports:
        for name, text in getattr(report, "sections", ()):
            if name == WARNINGS:
                for line in text.splitlines():
                    cases.setdefault(line, []).append(report.nodeid)
    return [line for remark, ids in cases.items() for line in (remark, *_list_some(ids))]


def _list_some(ids: list[str]) -> list[str]:
    more = len(ids) - _MOST_NAMES
    return [f"  {one}" for one in ids[:_MOST_NAMES]] + ([f"  … and {more} more"] if more > 0 else [])


def _make_plan(config: pytest.Config) -> EvalPlan:
    from ..config.deployments import (
        TOKEN_VARIABLE,
        TargetOptions,
        judge_builder,
        parse_url,
        read_token_variable,
        resolve,
        target_builder,
    )
    from ..redaction import Redactor, Secret
    from ..running.stopping import RefusedTargets
    from ..transport.auth import check_token

    redactor, variable = Redactor(), config.getoption("remote_token_env")
    token = None if variable is None else check_token(read_token_variable(variable, "--remote-token-env"))
    redactor.add(token or Secret(os.environ.get(TOKEN_VARIABLE, "").strip()))
    options = resolve(
        TargetOptions(
            parse_url(config.getoption("remote_url"), "--remote-url"),
            token,
            ca_bundle=config.getoption("remote_ca_bundle"),
            insecure_http=config.getoption("remote_insecure_http"),
        )
    )
    targets, judges = target_builder(options, redactor), judge_builder(redactor, insecure_http=options.insecure_http)
    return EvalPlan(options.url, config.getoption("remote_judge"), redactor, targets, judges, RefusedTargets())
