"""Decisions on what a paused run waits for, and which of its requests each is about."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Literal

from ..results import PendingApproval

Verb = Literal["approve", "reject", "answer"]


def make_approval(approved: bool, note: str | None, args: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return an approval or a denial as `Session.decide` takes it."""
    given = {"note": note, "args": None if args is None else dict(args)}
    return {"approved": approved} | {key: value for key, value in given.items() if value is not None}


def choose_request(waiting: Sequence[PendingApproval], verb: Verb, tool: str | None) -> PendingApproval | None:
    """Return the first request that a decision fits, of a call of this tool if it is named, or None."""
    return next(iter(_list_fitting(waiting, verb, tool)), None)


def explain_ambiguity(waiting: Sequence[PendingApproval], verb: Verb, tool: str | None) -> str | None:
    """Return a warning if a decision that names no tool fits several requests, or None."""
    fitting = _list_fitting(waiting, verb, tool)
    if tool is not None or len(fitting) < 2:
        return None
    names = ", ".join(request.tool for request in fitting)
    return (
        f"{verb}() named no tool while {len(fitting)} requests were pending ({names}), and went to the first; "
        f"name it: tool={fitting[0].tool!r} in code, `tool: {fitting[0].tool}` in data"
    )


def explain_expiry(request: PendingApproval, now: datetime) -> str | None:
    """Return a warning if an approval comes too late to count, by the clock of this machine, or None."""
    try:
        expires = datetime.fromisoformat(request.expires_at or "")
    except ValueError:
        return None
    expires = expires if expires.tzinfo else expires.replace(tzinfo=UTC)
    if now <= expires:
        return None
    return (
        f"approve() of {request.tool} came after {request.expires_at}, when it expired by the clock of this machine; "
        "it counts as a denial: decide sooner, or let approvals be valid for longer"
    )


def _list_fitting(waiting: Sequence[PendingApproval], verb: Verb, tool: str | None) -> Sequence[PendingApproval]:
    """Return the requests that a decision may be about. An answer fits questions, if any, and an approval the others.

    A denial fits both. An answer that reaches another call could approve it.
    """
    named = [request for request in waiting if tool in (None, request.tool)]
    asking = [request for request in named if request.question is not None]
    fitting = {
        "answer": asking,
        "approve": [request for request in named if request.question is None],
        "reject": named,
    }[verb]
    return fitting or named
