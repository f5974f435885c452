"""Builds the `RunResult` of a run from its events, each with its moment of arrival."""

from collections import Counter
from collections.abc import Callable
from typing import Any

from ..results import Missing, RunError, RunResult, Timing, Usage
from .base import StreamOrder
from .events import (
    ApprovalRequested,
    Event,
    RunDone,
    RunFailed,
    RunStart,
    StepDone,
    StepStart,
    StreamEnd,
    TextDelta,
    TextDone,
    ToolEnd,
    ToolStart,
)
from .open_approvals import ApprovalTracker
from .tool_calls import ToolCallTracker

# Not events of any protocol, but what proxies and frameworks send to keep a connection open.
_KEEP_ALIVES = ("", "ping", "heartbeat", "keepalive", "keep-alive")


class RunBuilder:
    """The run so far: `add` every event in order of arrival and take the `result` at any time.

    The first `RunDone` ends the run; `order` collects warnings about what follows it, and about all else that is odd.
    A run that paused and goes on is one run: its continuation comes as a stream of its own and is added after it. The
    later `RunDone` then counts for both, since its usage includes the paused part; steps and calls add up.

    `scrub` removes secrets from what is shortened. Moments are milliseconds after the request was sent; this class
    reads no clock.
    """

    def __init__(self, order: StreamOrder, turn: int = 1, scrub: Callable[[str], str] = str) -> None:
        self.order = order
        self._scrub = scrub
        self.done: RunDone | None = None
        self.is_over = False
        self._last_type: str | None = None
        self._turn = turn
        self._run_id: str | None = None
        self._text: list[str] = []
        self._calls = ToolCallTracker(turn)
        self._steps_started = self._steps_done = 0
        self._open_steps: Counter[tuple[object, ...]] = Counter()
        self._approvals = ApprovalTracker()
        self._error: RunError | None = None
        self._first_event_ms: float | None = None
        self._first_text_ms: float | None = None
        self._last_ms = self._longest_gap_ms = 0.0

    def add(self, event: Event, at_ms: float) -> bool:
        """Add an event and return whether it shows that the run is alive; a keep-alive of any kind does not."""
        if type(event) is StreamEnd or self.is_over:
            # Nothing after it counts: how much of that arrives is a matter of chance.
            self.is_over = True
            return False
        if self.done:
            self._warn_late(event)
            return False
        if not self.order.add(event) or event.type in _KEEP_ALIVES:
            return False
        if self._last_type is None:
            self._approvals.accept_decision()
        self._last_type = event.type
        if at_ms != self._last_ms or self._first_event_ms is None:
            self._record_gap(at_ms)
        fold = _FOLDS.get(type(event))
        if fold:
            fold(self, event, at_ms)
        return True

    @property
    def last_event(self) -> str | None:
        """The type of the last event, at most 60 characters; None before the first event."""
        return None if self._last_type is None else self._scrub(self._last_type)[:60]

    def begin_stream(self, deciding: str | None = None) -> None:
        """Prepare for the continuation of a run that paused, by a decision on the approval of this id."""
        self.done = self._last_type = None
        self.is_over = False
        self._approvals.begin_stream(deciding)
        self.order.begin_stream()

    def result(
        self, *, total_ms: float, headers_ms: float | None = None, trace_id: str | None = None, retries: int = 0
    ) -> RunResult:
        """Return the run so far; `finish_reason` is None until `RunDone` comes."""
        usage = self.done.usage if self.done else None
        return RunResult(
            turn=self._turn,
            reply=self._reply(),
            finish_reason=(self.done.finish_reason or None) if self.done else None,
            tool_calls=self._calls.calls,
            steps=self._steps_done,
            usage=usage,
            object=self.done.object if self.done else None,
            pending_approvals=self._approvals.open,
            error=self._error,
            timing=self._timing(total_ms, headers_ms),
            missing=self._missing(usage),
            last_event=self.last_event,
            run_id=self._run_id,
            trace_id=trace_id,
            retries=retries,
            warnings=self.order.warnings,
        )

    def _warn_late(self, event: Event) -> None:
        match event:
            case RunStart(subagent=None) if not self.order.is_of_the_run(event):
                pass
            case RunDone(subagent=None, type=end):
                text = f"a second {end} came, with the finish reason {{}}; only the first counts"
                self.order.warn("second end", text, event.finish_reason)
            case _:
                end = self.done.type if self.done else ""
                self.order.warn("late", f"{{}} came after {end} and is not part of the run", event.type)

    def _record_gap(self, at_ms: float) -> None:
        if self._first_event_ms is None:
            self._first_event_ms = at_ms
        self._longest_gap_ms = max(self._longest_gap_ms, at_ms - self._last_ms)
        self._last_ms = at_ms

    def _reply(self) -> str:
        # The end decides: a failed run ends with an empty text on purpose, even if text had streamed before.
        if self.done and self.done.text is not None:
            return self.done.text
        return "".join(self._text)

    def _timing(self, total_ms: float, headers_ms: float | None) -> Timing:
        return Timing(
            headers_ms=headers_ms,
            first_event_ms=self._first_event_ms,
            first_text_ms=self._first_text_ms,
            total_ms=total_ms,
            longest_gap_ms=max(self._longest_gap_ms, total_ms - self._last_ms),
        )

    def _missing(self, usage: Usage | None) -> tuple[Missing, ...]:
        absent: dict[Missing, bool] = {
            "usage": usage is None,
            "steps": self._steps_done == 0 or self._steps_done < self._steps_started or self.order.has_gap,
            "cost": usage is None or usage.cost_usd is None,
            "events": self.order.has_gap,
        }
        return tuple(name for name, is_absent in absent.items() if is_absent)

    def _on_run_start(self, event: RunStart, at_ms: float) -> None:
        if event.subagent is None:
            self._run_id = event.run_id

    def _on_step_start(self, event: StepStart, at_ms: float) -> None:
        self._open_steps[_get_step_key(event)] += 1
        if event.subagent is None:
            self._steps_started += 1
            self._text.clear()

    def _on_step_done(self, event: StepDone, at_ms: float) -> None:
        self._open_steps[_get_step_key(event)] -= 1
        if event.subagent is None:
            self._steps_done += 1

    def _on_text(self, event: TextDelta | TextDone, at_ms: float) -> None:
        if event.subagent is None:
            self._text.append(event.text)
            if self._first_text_ms is None and event.text:
                self._first_text_ms = at_ms

    def _on_text_done(self, event: TextDone, at_ms: float) -> None:
        # It repeats the deltas before it; a server that does not stream sends it without deltas.
        if not any(self._text):
            self._on_text(event, at_ms)

    def _on_tool_start(self, event: ToolStart, at_ms: float) -> None:
        self._calls.start(event)
        if event.resumed:
            self._approvals.resume(event)

    def _on_tool_end(self, event: ToolEnd, at_ms: float) -> None:
        if not self._calls.end(event):
            text = "{} came for a call of {} that had not started: {}"
            self.order.warn("unknown call", text, event.type, event.name, event.call_id)

    def _on_approval(self, event: ApprovalRequested, at_ms: float) -> None:
        self._approvals.add(event)

    def _on_run_failed(self, event: RunFailed, at_ms: float) -> None:
        if event.subagent is None:
            self._error = event.error

    def _on_run_done(self, event: RunDone, at_ms: float) -> None:
        if event.subagent is not None:
            return
        self.done = event
        self._approvals.end_run(event.finish_reason)
        self._run_id = event.run_id or self._run_id
        if self._first_text_ms is None and event.text:
            self._first_text_ms = at_ms
        open_steps = sum(count for count in self._open_steps.values() if count > 0)
        # An aborted run has an aborted step.
        if open_steps > 0 and event.finish_reason not in ("error", "aborted"):
            self.order.warn("open step", f"{open_steps} step(s) started and never ended")


def _get_step_key(event: StepStart | StepDone) -> tuple[object, ...]:
    """Return what identifies a step: its agent, and its number if it has one."""
    return (event.subagent.call_ids if event.subagent else (), event.step)


# Keyed by exact type: one look-up an event keeps a run of 200,000 deltas almost as cheap as its JSON.
_FOLDS: dict[type[Event], Callable[[RunBuilder, Any, float], None]] = {
    RunStart: RunBuilder._on_run_start,
    StepStart: RunBuilder._on_step_start,
    StepDone: RunBuilder._on_step_done,
    TextDelta: RunBuilder._on_text,
    TextDone: RunBuilder._on_text_done,
    ToolStart: RunBuilder._on_tool_start,
    ToolEnd: RunBuilder._on_tool_end,
    ApprovalRequested: RunBuilder._on_approval,
    RunFailed: RunBuilder._on_run_failed,
    RunDone: RunBuilder._on_run_done,
}
