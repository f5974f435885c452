"""The JSON objects in a judge's answer, and the verdict that one of them may be."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..results import Verdict
from ._numbers import read_value

# More broken objects than this are no answer; each costs a look at the whole text.
_MOST_BROKEN = 50

_START = re.compile(r"\{\s*[\"']")
_VERDICT_KEYS = re.compile(r"[\"'](?:score|passed|pass)[\"']\s*:", re.IGNORECASE)
_WORDS = {
    **dict.fromkeys(("true", "yes", "pass", "passed"), True),
    **dict.fromkeys(("false", "no", "fail", "failed"), False),
}


class UnreadableError(ValueError):
    """An answer means to be a verdict, and cannot be read as one."""


@dataclass(frozen=True, slots=True)
class Span:
    """An object, and where in the text it stands."""

    start: int
    end: int
    value: Mapping[str, Any]


def find_objects(text: str) -> Iterator[Span]:
    """Yield the outermost JSON objects of a text.

    Raises `UnreadableError` for one with the keys of a verdict that is not valid JSON: what is left of it is a guess.
    """
    decoder = json.JSONDecoder(strict=False, object_pairs_hook=_without_repeats, parse_constant=_refuse)
    at, broken = 0, 0
    while found := _START.search(text, at):
        try:
            value, at = decoder.raw_decode(text, found.start())
            yield Span(found.start(), at, value)
        except (ValueError, RecursionError):
            broken += 1
            end = _end_of(text, found.start())
            if broken > _MOST_BROKEN or _VERDICT_KEYS.search(text, found.start(), end):
                raise UnreadableError from None
            at = end


def read_object(value: Mapping[str, Any]) -> Verdict | None:
    """Return the verdict that an object is, None for one that is none.

    Raises `UnreadableError` where it has the keys of a verdict and values that are out of range or no verdict.
    """
    while len(value) == 1 and isinstance(inner := next(iter(value.values())), Mapping):
        value = inner
    fields = _without_repeats([(str(key).strip().casefold(), item) for key, item in value.items()])
    flags = [fields[key] for key in ("passed", "pass") if fields.get(key) is not None]
    if not flags and fields.get("score") is None:
        if fields.keys() & {"passed", "pass", "score"}:
            raise UnreadableError
        return None
    read = [_read_flag(flag) for flag in flags]
    passed = all(read) if read else None
    given = fields.get("score")
    score = float(bool(passed)) if given is None else read_value(given)
    if score is None:
        raise UnreadableError
    reason = fields.get("reason")
    return Verdict(score=score, passed=passed, reason=clean(reason) if isinstance(reason, str) else "")


def clean(text: str) -> str:
    """Return a text without the lone surrogates that no report can hold."""
    return text.encode("utf-8", "replace").decode().strip()


def _read_flag(flag: Any) -> bool:
    known = _WORDS.get(flag.strip().casefold()) if isinstance(flag, str) else flag
    if known not in (True, False):
        raise UnreadableError
    return bool(known)


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise UnreadableError
    return fields


def _refuse(constant: str) -> float:
    raise UnreadableError(constant)


def _end_of(text: str, start: int) -> int:
    """Return where the braces that open at `start` are closed, the end of the text where they never are."""
    depth = 0
    for brace in re.compile("[{}]").finditer(text, start):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return brace.end()
    return len(text)
