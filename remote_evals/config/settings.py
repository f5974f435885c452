"""The settings of a project: default suites, limits, reports, and named deployments (environments).

They are read from `remote-evals.toml`, or from the table `[tool.remote-evals]` of `pyproject.toml`.
"""

import glob
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import Field, PrivateAttr, ValidationError

from ..core.text import suggest
from ..errors import SettingsError
from .deployments import TargetSettings
from .documents import Document, load_toml
from .fields import BaseUrl, Count, Seconds, Texts
from .problems import DocumentError, KeyPath, Problem, explain_problem, interpolate, render_path, render_place
from .strict_model import StrictModel

OWN_FILE, SHARED_FILE = "remote-evals.toml", "pyproject.toml"
TABLE = "tool.remote-evals"
_TABLE_PATH = tuple(TABLE.split("."))


class EnvironmentSettings(TargetSettings):
    """A named deployment, and which cases are sent to it: those with one of the `tags`, or all if there are no tags.

    `ca_bundle` is trusted in addition to the usual certificates. `insecure_http` allows sending credentials over plain
    HTTP to a remote host. `wait` is the maximum time in seconds to wait until the deployment is healthy and its health
    endpoint answers with `expect_headers`; 0 asks once, None not at all unless headers are expected.
    """

    refused: ClassVar = {
        "token": "a token does not belong in a file; name the variable that holds it: token_env = 'NAME'"
    }

    url: BaseUrl
    tags: Texts = ()
    ca_bundle: Path | None = None
    insecure_http: bool = False
    wait: Seconds | None = None
    expect_headers: dict[str, str] = Field(default_factory=dict)


class ReportSettings(StrictModel):
    """Where reports are written. The keys in the file are the names of the options, since pydantic reserves `json`."""

    json_path: Path | None = Field(None, alias="json")
    junit_path: Path | None = Field(None, alias="junit")
    markdown_path: Path | None = Field(None, alias="markdown")
    save_folder: Path | None = Field(None, alias="save")

    def get_path(self, report_format: str) -> Path | None:
        """Return the path of the report in a format, or None if there is none."""
        path: Path | None = getattr(self, f"{report_format}_path")
        return path


class Settings(StrictModel):
    """The values that apply where no option overrides them; what the file does not set is None or empty.

    `timeout` limits one run of a case and `max_time` the whole run, both in seconds.
    """

    suites: Texts = ()
    concurrency: Annotated[Count, Field(ge=1)] | None = None
    timeout: Seconds | None = None
    max_time: Seconds | None = None
    retries: Annotated[Count, Field(ge=0)] | None = None
    reports: ReportSettings = ReportSettings()
    environments: dict[str, EnvironmentSettings] = Field(default_factory=dict)

    _file: Path | None = PrivateAttr(None)
    # A variable may stay unset until the environment that needs it is asked for; these are the messages for then.
    _unset: Mapping[str, list[str]] = PrivateAttr(default_factory=dict)

    def environment(self, name: str) -> EnvironmentSettings:
        """Return the environment of this name. Raises `SettingsError` if it does not exist or a variable is unset."""
        if name in self._unset:
            raise SettingsError(self._unset[name])
        if name not in self.environments:
            raise SettingsError([self._explain_unknown(name)])
        return self.environments[name]

    def _explain_unknown(self, name: str) -> str:
        if self._file is None:
            looked_for = f"neither {OWN_FILE} nor [{TABLE}] in {SHARED_FILE}, here or in a parent folder"
            return f"no environment {name!r}, because there are no settings: {looked_for}"
        return f"no environment {name!r} in {self._file}; {suggest(name, [*self.environments, *self._unset])}"


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """A file with settings, and the path of the table that holds them: empty if they are the whole file."""

    file: Path
    document: Document
    table: KeyPath

    @property
    def data(self) -> Any:
        """The settings as they are written, not validated; None if there are none."""
        return _get_table(self.document.data) if self.table else self.document.data

    def line(self, path: KeyPath) -> int | None:
        """Return the line of a key of the settings, or of the nearest table around it."""
        return self.document.line((*self.table, *path))

    def render_problem(self, path: KeyPath, text: str) -> str:
        """Return the problem with a key, led by its place, as text without lone surrogates."""
        problem = f"{render_place(self.file, self.line(path))}: {render_path((*self.table, *path))}: {text}"
        return problem.encode("utf-8", "backslashreplace").decode()


def _get_table(data: Mapping[str, Any]) -> Any:
    tool = data.get(_TABLE_PATH[0])
    return tool.get(_TABLE_PATH[1]) if isinstance(tool, dict) else None


def load_settings(path: Path | None, start: Path, variables: Mapping[str, str]) -> Settings:
    """Load the settings file at `path`, or else the nearest one from the folder `start` upwards.

    Without a file, settings are empty. `variables` fill `${VAR}`. Relative paths in the file start at its folder.
    Raises `SettingsError` with every problem.
    """
    found = open_settings_file(path) if path else find_settings_file(start)
    return _parse_settings(found, variables) if found else Settings()


def open_settings_file(file: Path) -> SettingsFile:
    """Read a settings file. Raises `SettingsError` if it cannot be parsed."""
    try:
        return SettingsFile(file, load_toml(file), _TABLE_PATH if file.name == SHARED_FILE else ())
    except DocumentError as error:
        raise SettingsError([f"{render_place(file, error.line)}: {error.text}"]) from error


def find_settings_file(start: Path) -> SettingsFile | None:
    """Return the nearest settings file, from a folder up to the root of its repository or file system, or None.

    Raises `SettingsError` if one folder has both kinds of file, since it is unclear which is meant.
    """
    for folder in _walk_up(start):
        files = [open_settings_file(file) for name in (SHARED_FILE, OWN_FILE) if (file := folder / name).is_file()]
        found = [file for file in files if file.data is not None]
        if len(found) > 1:
            raise SettingsError([found[0].render_problem((), f"{found[1].file} has settings too; keep one of the two")])
        if found:
            return found[0]
    return None


def _walk_up(start: Path) -> Iterator[Path]:
    for folder in (start, *start.resolve().parents):
        yield folder
        # `.git` is a folder in a repository and a file in a work tree.
        if (folder / ".git").exists():
            return


def _parse_settings(source: SettingsFile, variables: Mapping[str, str]) -> Settings:
    if not isinstance(source.data, dict):
        got = "there is none" if source.data is None else f"got {source.data!r}"
        raise SettingsError([f"{source.file}: settings belong in a table [{TABLE}]; {got}"])
    unset: list[Problem] = []
    data = interpolate(source.data, variables, lambda path, text: unset.append((path, text)))
    deferred = [(path, text) for path, text in unset if path[0] == "environments" and len(path) > 2]
    # Text with an unset variable is reported for that alone, and not as a wrong value too.
    unfilled = {path for path, _ in unset}
    problems = [(path, text) for path, text in _validate(data, source.data) if path not in unfilled]
    problems += [problem for problem in unset if problem not in deferred]
    if problems:
        in_order = sorted(problems, key=lambda problem: source.line(problem[0]) or 0)
        raise SettingsError([source.render_problem(path, text) for path, text in in_order])
    messages: dict[str, list[str]] = {}
    for path, text in deferred:
        messages.setdefault(str(path[1]), []).append(source.render_problem(path, text))
        data["environments"].pop(path[1], None)
    settings = Settings.model_validate(_anchor_paths(data, source.file.parent))
    settings._file, settings._unset = source.file, messages
    return settings


def _validate(data: dict[str, Any], written: dict[str, Any]) -> list[Problem]:
    try:
        Settings.model_validate(data)
    except ValidationError as error:
        return [(details["loc"], explain_problem(details, written)) for details in error.errors()]
    return []


def _anchor_paths(data: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Return valid settings whose relative paths start at `folder`."""
    suites = data.get("suites", [])
    patterns = [_anchor_pattern(pattern, folder) for pattern in ([suites] if isinstance(suites, str) else suites)]
    reports = _anchor_keys(data.get("reports", {}), ReportSettings.valid_keys(), folder)
    environments = {
        name: _anchor_keys(environment, ["ca_bundle"], folder)
        for name, environment in data.get("environments", {}).items()
    }
    return {**data, "suites": patterns, "reports": reports, "environments": environments}


def _anchor_keys(table: Mapping[str, Any], keys: Iterable[str], folder: Path) -> dict[str, Any]:
    return {**table, **{key: str(folder / table[key]) for key in keys if key in table}}


def _anchor_pattern(pattern: str, folder: Path) -> str:
    # Only the pattern may hold wildcards; the name of the folder is always literal.
    return str((Path(glob.escape(str(folder))) if glob.has_magic(pattern) else folder) / pattern)
