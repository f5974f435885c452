"""A second reader of how an event stream ends: simple, for whole bodies, and without code of the package."""

import json
import re
from collections.abc import Iterator
from typing import Any

_MAX_DEPTH = 100


def read_end(stream: bytes) -> str | None:
    """Return the finishReason of the lead agent's first `run.done`, "" if it has none, or None if there is no end.

    The stream belongs to the run that its lead agent names first. Nothing is read after a frame that is not an event or
    that says `event: done`. If that run did not begin with its start, another run makes the stream ambiguous: by any
    event before the end, or by a start after it.
    """
    run_id, has_start, end = None, False, None
    for name, data in _read_frames(stream):
        event = _parse(data)
        if event is None or (name == "done" and "type" not in event):
            return end
        kind, event_run_id = event.get("type"), event.get("runId")
        if isinstance(event.get("subagent"), dict):
            continue
        if run_id is None:
            run_id, has_start = event_run_id, kind == "run.start"
        if event_run_id not in (None, run_id) and not has_start and (end is None or kind == "run.start"):
            return None
        if end is None and kind == "run.done" and event_run_id in (None, run_id):
            reason = event.get("finishReason")
            end = reason if isinstance(reason, str) else ""
    return end


def _read_frames(stream: bytes) -> Iterator[tuple[str, str]]:
    text = stream.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
    name, lines = "", []
    for line in re.split("\r\n|\r|\n", text)[:-1]:
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            lines.append(value)
        elif field == "event":
            name = value
        if not line:
            if data := "\n".join(lines):
                yield name, data
            name, lines = "", []


def _parse(data: str) -> dict[str, Any] | None:
    """Return an event, or None for what is not JSON, not an object, or nested too deeply."""
    try:
        event = json.loads(data, parse_constant=_reject)
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event, dict) and _measure_depth(event) <= _MAX_DEPTH else None


def _reject(name: str) -> None:
    raise ValueError(name)


def _measure_depth(value: Any) -> int:
    if isinstance(value, dict):
        value = list(value.values())
    return 1 + max(map(_measure_depth, value), default=0) if isinstance(value, list) else 1
