"""The way back: a JSON report read as the `EvalReport` that it was rendered from.

What the report says twice, as counts, cases and scores, is computed anew from the runs. Fields that this version does
not know are passed over, and those that a report of an earlier version lacks have their defaults.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from pydantic import ValidationError

from ..results import EvalReport, EvalResult, RunResult
from .json_report import FORMAT_VERSION

_LONGEST_VALUE = 40
_LAST_TURN = ("run_id", "trace_id", "last_event")


def parse_json_report(text: str) -> EvalReport:
    """Return the report that the text holds. Raises `ValueError` that names what is wrong with it, and where."""
    document = _mapping(_parse(text), "the report")
    _check_version(document)
    fields = {name: document[name] for name in EvalReport.model_fields if name in document}
    summary = _mapping(document.get("summary", {}), "summary")
    fields |= {name: summary[name] for name in ("duration_ms",) if name in summary}
    results = _list(document.get("results"), "results")
    fields["results"] = [_result(result, f"results[{index}]") for index, result in enumerate(results)]
    try:
        return EvalReport.model_validate(fields)
    except ValidationError as error:
        raise ValueError("\n".join(f"{_path(one['loc'])}: {one['msg']}" for one in error.errors())) from None


def _parse(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except RecursionError:
        raise ValueError("the report is not JSON that can be read: it is nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"the report is not JSON: {error}") from None


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON value")


def _check_version(document: Mapping[str, Any]) -> None:
    version = document.get("format_version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise ValueError(f"format_version: must be a number from 1 up, got {_show(version)}; is this a report at all?")
    if version > FORMAT_VERSION:
        raise ValueError(
            f"format_version: the report has format {version}, written by remote-evals "
            f"{_show(document.get('tool_version'))}; "
            f"this version reads formats up to {FORMAT_VERSION}. Upgrade remote-evals to read it."
        )


def _result(value: Any, path: str) -> dict[str, Any]:
    raw = _mapping(value, path)
    turns = [
        _mapping(turn, f"{path}.turns[{index}]")
        for index, turn in enumerate(_list(raw.get("turns", []), f"{path}.turns"))
    ]
    whole = _run(raw) | ({name: turns[-1].get(name) for name in _LAST_TURN} if turns else {})
    fields = {name: raw[name] for name in EvalResult.model_fields if name in raw}
    return fields | {"run": whole, "turns": [_run(turn) for turn in turns]}


def _run(raw: Mapping[str, Any]) -> dict[str, Any]:
    fields = {name: raw[name] for name in RunResult.model_fields if name in raw and name != "error"}
    return fields | ({"error": raw["run_error"]} if "run_error" in raw else {})


def _mapping(value: Any, path: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ValueError(f"{path}: must be an object, got {_show(value)}")
    return value


def _list(value: Any, path: str) -> Sequence[Any]:
    if not isinstance(value, list):
        raise ValueError(f"{path}: must be a list, got {_show(value)}")
    return value


def _show(value: Any) -> str:
    match value:
        case Mapping():
            return "an object"
        case list():
            return "a list"
        case _:
            text = json.dumps(value)
            return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}…"


def _path(loc: tuple[int | str, ...]) -> str:
    """Return where a mistake stands in the report, which spreads a run over its result and its turns."""
    match loc:
        case ("duration_ms",):
            return "summary.duration_ms"
        case ("results", int() as index, "run", *rest):
            loc = ("results", index, *_name_run_error(rest))
        case ("results", int() as index, "turns", int() as turn, *rest):
            loc = ("results", index, "turns", turn, *_name_run_error(rest))
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in loc).removeprefix(".")


def _name_run_error(loc: Sequence[int | str]) -> Sequence[int | str]:
    return ["run_error", *loc[1:]] if loc and loc[0] == "error" else loc
