"""Tracks what a paused run waits for, over the streams of its decisions."""

from ..results import PAUSED, PendingApproval
from .events import ApprovalRequested, ToolStart


class ApprovalTracker:
    """The open requests of one run, in the order in which they were asked.

    A step may pause on several calls. Each is decided by a request of its own, whose stream need not repeat those that
    are still open: they stay open until they are decided, their call goes on, or the run ends otherwise.
    """

    def __init__(self) -> None:
        self._open: dict[str, PendingApproval] = {}
        self._carried: set[str] = set()
        self._deciding: str | None = None

    @property
    def open(self) -> tuple[PendingApproval, ...]:
        """The open requests."""
        return tuple(self._open.values())

    def begin_stream(self, deciding: str | None) -> None:
        """Prepare for the answer to a decision. Until it begins, the request stays open: it may be refused."""
        self._carried = set(self._open)
        self._deciding = deciding

    def accept_decision(self) -> None:
        """Close the request that is being decided, since its stream has begun."""
        if self._deciding is not None:
            self._close(self._deciding)
            self._deciding = None

    def add(self, event: ApprovalRequested) -> None:
        """Open a request. One that is repeated keeps its place."""
        self._carried.discard(event.approval_id)
        self._open[event.approval_id] = PendingApproval(
            approval_id=event.approval_id,
            tool_call_id=event.call_id,
            tool=event.name,
            args=event.args,
            question=event.question,
            sign_in=event.sign_in,
            expires_at=event.expires_at,
        )

    def resume(self, event: ToolStart) -> None:
        """Close the request of a call that goes on: it expired, or was decided elsewhere."""
        for key in tuple(self._carried):
            request = self._open[key]
            if (request.tool_call_id, request.tool) == (event.call_id, event.name):
                self._close(key)

    def end_run(self, finish_reason: str) -> None:
        """Close every request from before this stream, unless the run has paused again."""
        if finish_reason != PAUSED:
            for key in tuple(self._carried):
                self._close(key)

    def _close(self, key: str) -> None:
        self._open.pop(key, None)
        self._carried.discard(key)
