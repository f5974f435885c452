"""Reads a score from 0 to 1 out of text: a labelled number, or a text that is only a number.

A judge labels its score as `SCORE: 0.9`, `**Score:** 8/10` or `Score (1-5): 4`. A number that is out of range is
unreadable; it is never clamped.
"""

import re
from collections.abc import Iterator
from typing import Any

_NUMBER = r"(?:[0-9]{1,6}(?:\.[0-9]{1,20})?|\.[0-9]{1,20})(?![0-9])"
_MARKS = r"[*_`]*"

# 0.9 · 85% · 8/10 · **8** out of 10 · 2 of 3
_VALUE = re.compile(
    rf"{_MARKS}(?P<number>{_NUMBER}){_MARKS}"
    rf"(?:\s?(?P<percent>%|percent\b)|\s?(?:/|out\s+of\b|of\b)\s?{_MARKS}(?P<out_of>{_NUMBER}))?{_MARKS}",
    re.IGNORECASE,
)

# What may follow a value on its line: nothing, or a remark that does not continue the number.
_REMARK = re.compile(r"\s*$|[.,;:!\"')\]}|]+(?:\s|$)|\s+(?:[(\[{|]|[-\u2013\u2014]+\s|[^\W\d])")
_CONTINUED = re.compile(r"\s*[-+\u2013\u2014>=<±*/→]+\s*[0-9.]")

_LABEL = re.compile(
    r"(?<![A-Za-z0-9-])(?<![A-Za-z0-9]_)score[\"'*_`]{0,4}"
    r"(?:[^\S\n]?\((?P<scale>[^()\n]{1,40})\))?[\"'*_`]{0,4}[^\S\n]?"
    r"(?:(?P<sep>[:=\uff1a|])[\"'*_`|:]{0,4}[^\S\n]*[\"'`]{0,4}|[^\S\n]*$)",
    re.IGNORECASE | re.MULTILINE,
)
_SCALE_NUMBER = re.compile(r"[0-9]{1,6}(?:\.[0-9]{1,6})?")

# What may stand between the start of a line or sentence and the label. Any other word makes it another score:
# "confidence score", "F1 score".
_OWN_WORDS = re.compile(
    r"(?:\b(?:final|overall|total|my|the|a|judge|judge's|numeric|numerical|evaluation|verdict|so|and|hence|thus|"
    r"therefore|is|give|assign)[\"'*_`\s]+)+$",
    re.IGNORECASE,
)
_DECORATION = " \t\"'*_`#|-+{[("
_SENTENCE_END = re.compile(r"[.!?;,:)}\]|][\"'*_`\s]*$")
_MEANT_AS_SCORE = re.compile(
    r"[*_`]*[0-9.+\-\u2212\u2013~<>≈≤≥±]|(?:n/?a|none|null|unknown|undefined|not)\b", re.IGNORECASE
)


class UnreadableError(ValueError):
    """An answer is meant as a verdict, but cannot be read as one."""


def find_labelled_score(text: str) -> float | None:
    """Return the last number that is labelled as score, or None if there is none.

    Raises `UnreadableError` if the last label has a number that is out of range, or no readable number.
    """
    found = list(_find_labelled_scores(text))
    if not found:
        return None
    if found[-1] is None:
        raise UnreadableError
    return found[-1]


def parse_bare_score(text: str) -> float | None:
    """Return the score of a text that is only a number, or None."""
    bare = text.strip(" \t\r\n*_`\"'").removesuffix(".")
    return _parse_leading_score(bare) if _VALUE.fullmatch(bare) else None


def parse_json_score(value: Any) -> float | None:
    """Return the score of a JSON value: a number, or a text that is only a number; None for any other."""
    if isinstance(value, str):
        return parse_bare_score(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 100:
        return None
    return _scale(value)


def _find_labelled_scores(text: str) -> Iterator[float | None]:
    """Yield the score of each label, None for one that cannot be read."""
    for label in _LABEL.finditer(text):
        before = text[text.rfind("\n", 0, label.start()) + 1 : label.start()]
        if not _leads_sentence(before):
            continue
        rest, _, below = text[label.end() :].partition("\n")
        scale = [float(number) for number in _SCALE_NUMBER.findall(label["scale"] or "")]
        if _MEANT_AS_SCORE.match(rest):
            yield _parse_leading_score(rest, max(scale, default=None))
        elif not rest.strip(_DECORATION) and (alone := parse_bare_score(below.lstrip().partition("\n")[0])) is not None:
            yield alone
        # Otherwise it is a heading, or a word about the score.


def _leads_sentence(before: str) -> bool:
    """Return whether a label leads its line or sentence, and is not in a quotation; `before` is its line up to it."""
    near = before[-80:]
    bare = _OWN_WORDS.sub("", near)
    if near == before and not bare.strip(_DECORATION):
        return True
    return before.count('"') % 2 == 0 and (bare != near or _SENTENCE_END.search(bare) is not None)


def _parse_leading_score(text: str, out_of: float | None = None) -> float | None:
    """Return the score that a line starts with, or None; `out_of` is the scale given by its label."""
    found = _VALUE.match(text)
    rest = text[found.end() :] if found else ""
    if not found or not _REMARK.match(rest) or _CONTINUED.match(rest):
        return None
    number = float(found["number"])
    of = 100.0 if found["percent"] else float(found["out_of"]) if found["out_of"] else out_of
    return None if of is None and number == int(number) and _may_qualify(rest) else _scale(number, of)


def _may_qualify(rest: str) -> bool:
    """Return whether what follows a bare whole number may change its meaning: "1 (of 3 points)", "1 star", "8 or 9"."""
    return (rest[:1].isspace() and rest.lstrip()[:1].isalpha()) or re.search("[0-9]", rest) is not None


def _scale(number: float, out_of: float | None = None) -> float | None:
    """Return a number as a score: of `out_of` if given, else as 0.9, as 8 of 10 or as 85 of 100; None out of range."""
    if out_of is not None:
        return number / out_of if 0 <= number <= out_of and out_of > 0 else None
    if 0 <= number <= 1:
        return float(number)
    if number == int(number) and 2 <= number <= 100:
        return number / 10 if number <= 10 else number / 100
    return None
