"""The fault matrix as the table of tests/README.md."""

from collections.abc import Iterable, Sequence

from remote_evals import Limits
from remote_evals.core.durations import render_duration
from tests.integration.faults.matrix import IN_STREAM, NOWHERE, Entry, Moment, Outcome, Place
from tests.integration.faults.network import Scenario

Row = Entry | Scenario

_HEAD = """\
| what goes wrong | where | result | exit | tries | what is said |
| --- | --- | --- | --: | --: | --- |"""
_LEGEND = """\
Each fault of an answer is tried in the first turn of a conversation, in a later one, and on the decision that a paused
run waits for. What came before it is kept. Where a message has …, it names the last event or the status; the limits
are the defaults."""


def render_table(rows: Iterable[Row]) -> str:
    """Return the table and its legend; rows of the same cause and outcome are one line."""
    groups: dict[tuple[object, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.cause, _render_result(row.outcome), row.outcome.tries), []).append(row)
    return "\n".join([_HEAD, *map(_render_line, groups.values()), "", _LEGEND, ""])


def _render_line(rows: Sequence[Row]) -> str:
    outcome = rows[0].outcome
    templates = dict.fromkeys((row.outcome.says, row.clock) for row in rows)
    said = " / ".join(
        _render_phrase([row for row in rows if (row.outcome.says, row.clock) == one]) for one in templates
    )
    cells = [rows[0].cause, _render_where(rows), _render_result(outcome), outcome.exit_code, outcome.tries, said]
    return " ".join(f"| {cell}".rstrip() for cell in cells) + " |"


def _render_where(rows: Sequence[Row]) -> str:
    places = _places_of(rows)
    if set(IN_STREAM) <= set(places):
        places = [Place("anywhere in the stream"), *(place for place in places if place not in IN_STREAM)]
    return ", ".join(place.name for place in places if place != NOWHERE)


def _render_result(outcome: Outcome) -> str:
    if outcome.status == "error":
        return f"error: `{outcome.code}`"
    return "passed, with a warning" if outcome.status == "passed" and outcome.says else outcome.status


def _render_phrase(rows: Sequence[Row]) -> str:
    """Return what rows of one phrase say of all their places, "…" for what is not the same at all of them."""
    outcome, clock = rows[0].outcome, rows[0].clock
    limit = render_duration(getattr(Limits(), clock)) if clock else ""
    phrases = {outcome.phrase(place.in_turn, limit, "…") for place in _places_of(rows)}
    return phrases.pop() if len(phrases) == 1 else outcome.phrase(Moment(event="…"), limit)


def _places_of(rows: Sequence[Row]) -> list[Place]:
    return list(dict.fromkeys(place for row in rows for place in row.places))
