"""Reads a JSON report back into the `EvalReport` that it was rendered from.

Counts, cases and scores, which the report repeats, are computed again from the runs. Unknown fields are ignored; fields
that a report of an earlier version lacks have their defaults.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from pydantic import ValidationError

from ..results import EvalReport, EvalResult, RunResult
from .json_report import FORMAT_VERSION

_LONGEST_VALUE = 40
_FIELDS_OF_LAST_TURN = ("run_id", "trace_id", "last_event")


def parse_json_report(text: str) -> EvalReport:
    """Return the report that the text contains. Raises `ValueError` that says what is wrong with it, and where."""
    document = _require_mapping(_parse_json(text), "the report")
    _check_version(document)
    fields = {name: document[name] for name in EvalReport.model_fields if name in document}
    summary = _require_mapping(document.get("summary", {}), "summary")
    fields |= {name: summary[name] for name in ("duration_ms",) if name in summary}
    results = _require_list(document.get("results"), "results")
    fields["results"] = [_parse_result(result, f"results[{index}]") for index, result in enumerate(results)]
    try:
        return EvalReport.model_validate(fields)
    except ValidationError as error:
        raise ValueError("\n".join(f"{_render_path(one['loc'])}: {one['msg']}" for one in error.errors())) from None


def _parse_json(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_reject_constant)
    except RecursionError:
        raise ValueError("the report is not readable JSON: it is nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"the report is not JSON: {error}") from None


def _reject_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a JSON value")


def _check_version(document: Mapping[str, Any]) -> None:
    version = document.get("format_version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        got = _show_value(version)
        raise ValueError(f"format_version: must be an integer of 1 or more, got {got}; is this a report at all?")
    if version > FORMAT_VERSION:
        raise ValueError(
            f"format_version: the report has format {version}, written by remote-evals "
            f"{_show_value(document.get('tool_version'))}; "
            f"this version reads formats up to {FORMAT_VERSION}. Upgrade remote-evals to read it."
        )


def _parse_result(value: Any, path: str) -> dict[str, Any]:
    """Return the fields of an `EvalResult`; its `run` comes from the result and, for three fields, the last turn."""
    raw = _require_mapping(value, path)
    turns = [
        _require_mapping(turn, f"{path}.turns[{index}]")
        for index, turn in enumerate(_require_list(raw.get("turns", []), f"{path}.turns"))
    ]
    whole = _parse_run(raw) | ({name: turns[-1].get(name) for name in _FIELDS_OF_LAST_TURN} if turns else {})
    fields = {name: raw[name] for name in EvalResult.model_fields if name in raw}
    return fields | {"run": whole, "turns": [_parse_run(turn) for turn in turns]}


def _parse_run(raw: Mapping[str, Any]) -> dict[str, Any]:
    names = [*RunResult.model_fields, *RunResult.model_computed_fields]
    fields = {name: raw[name] for name in names if name in raw and name != "error"}
    return fields | ({"error": raw["run_error"]} if "run_error" in raw else {})


def _require_mapping(value: Any, path: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ValueError(f"{path}: must be an object, got {_show_value(value)}")
    return value


def _require_list(value: Any, path: str) -> Sequence[Any]:
    if not isinstance(value, list):
        raise ValueError(f"{path}: must be a list, got {_show_value(value)}")
    return value


def _show_value(value: Any) -> str:
    match value:
        case Mapping():
            return "an object"
        case list():
            return "a list"
        case _:
            text = json.dumps(value)
            return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}…"


def _render_path(loc: tuple[int | str, ...]) -> str:
    """Return where a problem is in the JSON report, for where pydantic found it in the `EvalReport`."""
    match loc:
        case ("duration_ms",):
            return "summary.duration_ms"
        case ("results", int() as index, "run", *rest):
            loc = ("results", index, *_rename_error(rest))
        case ("results", int() as index, "turns", int() as turn, *rest):
            loc = ("results", index, "turns", turn, *_rename_error(rest))
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in loc).removeprefix(".")


def _rename_error(loc: Sequence[int | str]) -> Sequence[int | str]:
    return ["run_error", *loc[1:]] if loc and loc[0] == "error" else loc
