"""Which file holds the settings: `remote-evals.toml`, or `pyproject.toml` with a table `[tool.remote-evals]`."""

import glob
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import Field, PrivateAttr, ValidationError

from ..core.text import suggest
from ..errors import SettingsError
from .deployments import TargetSettings
from .documents import Document, DocumentError, load_toml
from .fields import BaseUrl, Count, Seconds, Texts
from .problems import explain_mistake, interpolate, render_path, render_place
from .strict_model import StrictModel
from .yaml_lines import KeyPath

OWN_FILE, SHARED_FILE = "remote-evals.toml", "pyproject.toml"
TABLE = "tool.remote-evals"
_PATH = tuple(TABLE.split("."))


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """A file with settings, and the path of the table that holds them: empty where it is all of the file."""

    file: Path
    document: Document
    table: KeyPath

    @property
    def data(self) -> Any:
        """The settings as they are written, unvalidated; None when there are none."""
        return _table_of(self.document.data) if self.table else self.document.data

    def line(self, path: KeyPath) -> int | None:
        """Return the line of a key of the settings, or of the nearest table around it."""
        return self.document.line((*self.table, *path))

    def describe(self, path: KeyPath, text: str) -> str:
        """Return what is wrong with a key, with its place; it can be written anywhere."""
        told = f"{render_place(self.file, self.line(path))}: {render_path((*self.table, *path))}: {text}"
        return told.encode("utf-8", "backslashreplace").decode()


def open_settings_file(file: Path) -> SettingsFile:
    """Read a settings file. Raises `SettingsError` where it cannot be parsed."""
    try:
        return SettingsFile(file, load_toml(file), _PATH if file.name == SHARED_FILE else ())
    except DocumentError as error:
        raise SettingsError([f"{render_place(file, error.line)}: {error.text}"]) from error


def find_settings_file(start: Path) -> SettingsFile | None:
    """Return the nearest settings file from a folder up to the root of its repository, or of the file system.

    Raises `SettingsError` where one folder has both kinds, as nobody could tell which is meant.
    """
    for folder in _folders_from(start):
        found = [open_settings_file(file) for name in (SHARED_FILE, OWN_FILE) if (file := folder / name).is_file()]
        found = [one for one in found if one.data is not None]
        if len(found) > 1:
            raise SettingsError([found[0].describe((), f"{found[1].file} has settings too; keep one of the two")])
        if found:
            return found[0]
    return None


def _folders_from(start: Path) -> Iterator[Path]:
    for folder in (start, *start.resolve().parents):
        yield folder
        # A file in a work tree, a folder elsewhere.
        if (folder / ".git").exists():
            return


def _table_of(data: Mapping[str, Any]) -> Any:
    tool = data.get(_PATH[0])
    return tool.get(_PATH[1]) if isinstance(tool, dict) else None


class EnvironmentSettings(TargetSettings):
    """A deployment by its name, and which cases are for it: those with one of the `tags`, where there are any.

    `ca_bundle` is trusted besides the usual certificates; `insecure_http` lets secrets go over plain http. It is waited
    `wait` seconds for, None for not at all, and until its health answers with `expect_headers`.
    """

    refused: ClassVar = {
        "token": "a token does not belong into a file; name the variable that holds it: token_env = 'NAME'"
    }

    url: BaseUrl
    tags: Texts = ()
    ca_bundle: Path | None = None
    insecure_http: bool = False
    wait: Seconds | None = None
    expect_headers: dict[str, str] = Field(default_factory=dict)


class ReportSettings(StrictModel):
    """Where reports are written. The keys of the file are those of the options; pydantic has a `json` of its own."""

    json_path: Path | None = Field(None, alias="json")
    junit_path: Path | None = Field(None, alias="junit")
    markdown_path: Path | None = Field(None, alias="markdown")
    save_folder: Path | None = Field(None, alias="save")

    def get_path(self, report_format: str) -> Path | None:
        """Return where the report of a format is written, None for nowhere."""
        path: Path | None = getattr(self, f"{report_format}_path")
        return path


class Settings(StrictModel):
    """What holds where no option says otherwise; None and empty where the file does not say it either."""

    suites: Texts = ()
    concurrency: Annotated[Count, Field(ge=1)] | None = None
    timeout: Seconds | None = None
    max_time: Seconds | None = None
    retries: Annotated[Count, Field(ge=0)] | None = None
    reports: ReportSettings = ReportSettings()
    environments: dict[str, EnvironmentSettings] = Field(default_factory=dict)

    _file: Path | None = PrivateAttr(None)
    # A variable that only another environment needs may stay unset: whoever asks for that environment is told.
    _unset: Mapping[str, list[str]] = PrivateAttr(default_factory=dict)

    def environment(self, name: str) -> EnvironmentSettings:
        """Return an environment by its name. Raises `SettingsError` if there is none, or a variable of it is unset."""
        if name in self._unset:
            raise SettingsError(self._unset[name])
        if name not in self.environments:
            raise SettingsError([f"no environment {name!r} {self._describe_known(name)}"])
        return self.environments[name]

    def _describe_known(self, name: str) -> str:
        if self._file is None:
            return f"as there are no settings: neither {OWN_FILE} nor [{TABLE}] in {SHARED_FILE}, here or further up"
        return f"in {self._file}; {suggest(name, [*self.environments, *self._unset])}"


def load_settings(path: Path | None, start: Path, variables: Mapping[str, str]) -> Settings:
    """Load the settings file at `path`, else the nearest from the folder `start` upwards; without one they are empty.

    `variables` fill `${VAR}`. Relative paths are relative to the file. Raises `SettingsError` with all mistakes.
    """
    found = open_settings_file(path) if path else find_settings_file(start)
    return _read(found, variables) if found else Settings()


def _read(source: SettingsFile, variables: Mapping[str, str]) -> Settings:
    if not isinstance(source.data, dict):
        got = "there is none" if source.data is None else f"got {source.data!r}"
        raise SettingsError([f"{source.file}: settings stand in a table [{TABLE}]; {got}"])
    unset: list[tuple[KeyPath, str]] = []
    data = interpolate(source.data, variables, lambda path, text: unset.append((path, text)))
    waiting = [(path, text) for path, text in unset if path[0] == "environments" and len(path) > 2]
    # A text whose variable is not set is told as that alone.
    unfilled = {path for path, _ in unset}
    mistakes = [(path, text) for path, text in _find_mistakes(data, source.data) if path not in unfilled]
    mistakes += [one for one in unset if one not in waiting]
    if mistakes:
        in_order = sorted(mistakes, key=lambda mistake: source.line(mistake[0]) or 0)
        raise SettingsError([source.describe(path, text) for path, text in in_order])
    told: dict[str, list[str]] = {}
    for path, text in waiting:
        told.setdefault(str(path[1]), []).append(source.describe(path, text))
        data["environments"].pop(path[1], None)
    settings = Settings.model_validate(_anchored(data, source.file.parent))
    settings._file, settings._unset = source.file, told
    return settings


def _find_mistakes(data: dict[str, Any], written: dict[str, Any]) -> list[tuple[KeyPath, str]]:
    try:
        Settings.model_validate(data)
    except ValidationError as error:
        return [(details["loc"], explain_mistake(details, written)) for details in error.errors()]
    return []


def _anchored(data: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Return valid settings whose relative paths start at the folder of their file."""
    suites = data.get("suites", [])
    patterns = [_anchor(pattern, folder) for pattern in ([suites] if isinstance(suites, str) else suites)]
    reports = _anchored_paths(data.get("reports", {}), ReportSettings.valid_keys(), folder)
    environments = {
        name: _anchored_paths(environment, ["ca_bundle"], folder)
        for name, environment in data.get("environments", {}).items()
    }
    return {**data, "suites": patterns, "reports": reports, "environments": environments}


def _anchored_paths(table: Mapping[str, Any], keys: Iterable[str], folder: Path) -> dict[str, Any]:
    return {**table, **{key: str(folder / table[key]) for key in keys if key in table}}


def _anchor(pattern: str, folder: Path) -> str:
    # The folder is no pattern, whatever is in its name.
    return str((Path(glob.escape(str(folder))) if glob.has_magic(pattern) else folder) / pattern)
