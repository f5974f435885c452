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
    templates = dict.fromkeys((row.outcome.says, row.timer) for row in rows)
    said = " / ".join(
        _render_phrase([row for row in rows if (row.outcome.says, row.timer) == one]) for one in templates
    )
    cells = [rows[0].cause, _render_where(rows), _render_result(outcome), outcome.exit_code, outcome.tries, said]
    return " ".join(f"| {cell}".rstrip() for cell in cells) + " |"


def _render_where(rows: Sequence[Row]) -> str:
    places = _get_places(rows)
    if set(IN_STREAM) <= set(places):
        places = [Place("anywhere in the stream"), *(place for place in places if place not in IN_STREAM)]
    return ", ".join(place.name for place in places if place != NOWHERE)


def _render_result(outcome: Outcome) -> str:
    if outcome.status == "error":
        return f"error: `{outcome.code}`"
    return "passed, with a warning" if outcome.status == "passed" and outcome.says else outcome.status


def _render_phrase(rows: Sequence[Row]) -> str:
    """Return the phrase of rows for all their places, with "…" for the parts that differ between these."""
    outcome, timer = rows[0].outcome, rows[0].timer
    limit = render_duration(getattr(Limits(), timer)) if timer else ""
    phrases = {outcome.phrase(place.in_turn, limit, "…") for place in _get_places(rows)}
    return phrases.pop() if len(phrases) == 1 else outcome.phrase(Moment(event="…"), limit)


def _get_places(rows: Sequence[Row]) -> list[Place]:
    return list(dict.fromkeys(place for row in rows for place in row.places))
