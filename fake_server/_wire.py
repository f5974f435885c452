"""Events to the bytes of an event stream."""

import json
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from fake_server.script import Failure, Usage

Event = dict[str, Any]

DONE_FRAME = b"event: done\ndata: {}\n\n"


def to_json(value: object) -> bytes:
    """Return `value` as compact JSON in UTF-8."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    # a lone surrogate has no UTF-8, so it goes out as its \\uXXXX escape
    return text.encode("utf-8", "backslashreplace")


def to_frame(event: Event) -> bytes:
    """Return the event-stream frame that carries `event`."""
    return b"data: " + to_json(event) + b"\n\n"


class Stamp:
    """Puts one run's id, the running number and the time on its events."""

    def __init__(self) -> None:
        self.run_id = str(uuid4())
        self._seq = 0

    def __call__(self, event: Event) -> Event:
        """Return `event` as the next one of the run."""
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        stamped = {**event, "runId": self.run_id, "seq": self._seq, "timestamp": now, "v": 1}
        self._seq += 1
        return stamped


def usage_fields(usage: Usage, model_calls: int | None = None) -> Event:
    """Return `usage` under the names of the wire, aliases included; what is unknown is left out."""
    fields: Event = {
        "promptTokens": usage.input,
        "completionTokens": usage.output,
        "totalTokens": usage.input + usage.output,
        "inputTokens": usage.input,
        "outputTokens": usage.output,
        "estimated": usage.estimated,
        "costUsd": usage.cost_usd,
        "modelCalls": model_calls,
    }
    return without_none(fields)


def failure_fields(failure: Failure) -> Event:
    """Return `failure` as an event's `error`."""
    return without_none({"name": failure.name, "message": failure.message, "code": failure.code})


def without_none(fields: Event) -> Event:
    """Return the `fields` that have a value."""
    return {key: value for key, value in fields.items() if value is not None}
