"""How this pytest session makes targets and judges, and the keys of what its hooks share. Imports nothing heavy."""

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
class EvalConfiguration:
    """The deployment of the session, if any, and how targets and judges are made; `redactor` knows every secret.

    Targets that `refused` the token are sent no more cases.
    """

    url: str | None
    judging: bool
    redactor: "Redactor"
    target_for: "Callable[[TargetSettings], RemoteTarget | None]"
    judge_for: "Callable[[JudgeSettings | None], Judge | None]"
    refused: "RefusedTargets"

    def hide_secrets(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        """Redact secrets in a report, including tracebacks with locals and captured output."""
        scrub = self.redactor.scrub
        report.sections = [(name, scrub(text)) for name, text in report.sections]
        if isinstance(report.longrepr, tuple):
            path, line, reason = report.longrepr
            report.longrepr = (path, line, scrub(reason))
        # A representation without secrets is kept, with its structure.
        elif report.longrepr and scrub(report.longreprtext) != report.longreprtext:
            report.longrepr = scrub(report.longreprtext)


_CONFIGURATION = pytest.StashKey[EvalConfiguration]()


def open_configuration(config: pytest.Config) -> EvalConfiguration:
    """Return the configuration of the session, made on first use. Raises `pytest.UsageError` for invalid options."""
    if configuration := find_configuration(config):
        return configuration
    from ..errors import UsageError

    try:
        configuration = config.stash[_CONFIGURATION] = _make_configuration(config)
    except UsageError as error:
        problem = str(error)
    else:
        return configuration
    # Raised here, so that pytest does not show the original error, whose frames may hold a token.
    raise pytest.UsageError(problem)


def find_configuration(config: pytest.Config) -> EvalConfiguration | None:
    """Return the configuration of the session, or None if it has not been needed yet."""
    return config.stash.get(_CONFIGURATION, None)


def _make_configuration(config: pytest.Config) -> EvalConfiguration:
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
    return EvalConfiguration(options.url, config.getoption("remote_judge"), redactor, targets, judges, RefusedTargets())


def is_eval_file(path: Path) -> bool:
    """Return whether a file is a suite or holds evals in code.

    Code must contain `define_eval`: pytest must not run an unrelated script that only has such a name.
    """
    if path.suffix != ".py":
        return path.name.endswith(SUITE_ENDINGS)
    is_named_so = path.stem.endswith("_eval") or path.stem.startswith("eval_")
    return is_named_so and b"define_eval" in path.read_bytes()


def collect_warnings(reports: Iterable[Any]) -> list[str]:
    """Return the lines of all warnings about cases that passed, each once, with the names of some of its cases."""
    cases: dict[str, list[str]] = {}
    for report in reports:
        for name, text in getattr(report, "sections", ()):
            if name == WARNINGS:
                for line in text.splitlines():
                    cases.setdefault(line, []).append(report.nodeid)
    return [line for warning, ids in cases.items() for line in (warning, *_list_some(ids))]


def _list_some(ids: list[str]) -> list[str]:
    more = len(ids) - _MOST_NAMES
    return [f"  {one}" for one in ids[:_MOST_NAMES]] + ([f"  … and {more} more"] if more > 0 else [])
