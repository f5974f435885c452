"""How an event stream ends, read a second time: plainly, a whole body at once, and by no code of the package."""

import json
import re
from collections.abc import Iterator
from typing import Any

_DEEPEST = 100


def read_end(stream: bytes) -> str | None:
    """Return the finishReason of the lead agent's first `run.done`, "" where it has none; None for no end at all.

    The stream is of the run that its lead agent names first, and nothing is read behind a frame that is no event, or
    that says `event: done`.
    """
    run_id = None
    for name, data in _read_frames(stream):
        event = _parse(data)
        if event is None or (name == "done" and "type" not in event):
            return None
        is_lead = not isinstance(event.get("subagent"), dict)
        run_id = event.get("runId") if is_lead and run_id is None else run_id
        if event.get("type") == "run.done" and is_lead and event.get("runId") in (None, run_id):
            reason = event.get("finishReason")
            return reason if isinstance(reason, str) else ""
    return None


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
    """Return an event; None for what is not JSON, no object, or nested too deeply."""
    try:
        event = json.loads(data, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event, dict) and _measure_depth(event) <= _DEEPEST else None


def _refuse(name: str) -> None:
    raise ValueError(name)


def _measure_depth(value: Any) -> int:
    if isinstance(value, dict):
        value = list(value.values())
    return 1 + max(map(_measure_depth, value), default=0) if isinstance(value, list) else 1
