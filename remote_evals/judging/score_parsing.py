"""Reads a score from 0 to 1 out of text: a labelled number, or a text that is only a number.

A judge labels its score as `SCORE: 0.9`, `**Score:** 8/10` or `Score (1-5): 4`. A number that is out of range is
unreadable; it is never clamped. Without a scale, a whole number is read as tenths up to 10 and as hundredths above.
With a scale of the rubric's own it is a mark on that scale, and 0 and 1 are unreadable, since both scales have them.
"""

import re
from collections.abc import Iterator
from typing import Any

from .scales import Scale, parse_scale

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

# What may stand between the start of a line or sentence and the label. Any other word makes it another score:
# "confidence score", "F1 score".
_OWN_WORDS = re.compile(
    r"(?:\b(?:final|overall|total|my|the|a|judge|judge's|numeric|numerical|evaluation|verdict|so|and|hence|thus|"
    r"therefore|is|give|assign)[\"'*_`\s]+)+$",
    re.IGNORECASE,
)
_DECORATION = " \t\"'*_`#|-+{[("
# What may end the words before a label: punctuation, a dash, or the start of the label's own emphasis.
_SENTENCE_END = re.compile(r"(?:[.!?;,:)}\]|]|\s[-\u2013\u2014]|(?<=\s)[*_]{1,3})[\"'*_`\s]*$")
_MEANT_AS_SCORE = re.compile(
    r"[*_`]*[0-9.+\-\u2212\u2013~<>≈≤≥±]|(?:n/?a|none|null|unknown|undefined|not)\b", re.IGNORECASE
)


class UnreadableError(ValueError):
    """An answer is meant as a verdict, but cannot be read as one."""


def find_labelled_score(text: str, scale: Scale | None = None) -> float | None:
    """Return the last number that is labelled as score, or None if there is none.

    Raises `UnreadableError` if the last label has a number that is out of range, or no readable number.
    """
    found = list(_find_labelled_scores(text, scale))
    if not found:
        return None
    if found[-1] is None:
        raise UnreadableError
    return found[-1]


def parse_bare_score(text: str, scale: Scale | None = None) -> float | None:
    """Return the score of a text that is only a number, or None."""
    bare = text.strip(" \t\r\n*_`\"'").removesuffix(".")
    return _parse_leading_score(bare, scale) if _VALUE.fullmatch(bare) else None


def parse_json_score(value: Any, scale: Scale | None = None, stated: Scale | None = None) -> float | None:
    """Return the score of a JSON value: a number, or a text that is only a number; None for any other.

    `scale` is the rubric's own, and `stated` the one that the answer states beside the value.
    """
    if isinstance(value, str):
        return parse_bare_score(value, scale) if stated is None else parse_bare_score(f"{value}/{stated.high:g}")
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e6:
        return None
    return stated.rate(value) if stated else _rate(float(value), scale, is_whole=isinstance(value, int))


def _find_labelled_scores(text: str, scale: Scale | None) -> Iterator[float | None]:
    """Yield the score of each label, None for one that cannot be read."""
    for label in _LABEL.finditer(text):
        before = text[text.rfind("\n", 0, label.start()) + 1 : label.start()]
        if not _leads_sentence(before):
            continue
        rest, _, below = text[label.end() :].partition("\n")
        if _MEANT_AS_SCORE.match(rest):
            yield _parse_leading_score(rest, scale, parse_scale(label["scale"]))
        elif not rest.strip(_DECORATION):
            alone = parse_bare_score(below.lstrip().partition("\n")[0], scale)
            yield from () if alone is None else (alone,)
        # Otherwise it is a heading, or a word about the score.


def _leads_sentence(before: str) -> bool:
    """Return whether a label leads its line or sentence, and is not in a quotation; `before` is its line up to it."""
    near = before[-80:]
    bare = _OWN_WORDS.sub("", near)
    if near == before and not bare.strip(_DECORATION):
        return True
    return before.count('"') % 2 == 0 and (bare != near or _SENTENCE_END.search(bare) is not None)


def _parse_leading_score(text: str, scale: Scale | None, stated: Scale | None = None) -> float | None:
    """Return the score that a line starts with, or None; `stated` is the scale given by its label."""
    found = _VALUE.match(text)
    rest = text[found.end() :] if found else ""
    if not found or not _REMARK.match(rest) or _CONTINUED.match(rest):
        return None
    number = float(found["number"])
    if found["percent"]:
        stated = Scale(0, 100)
    elif found["out_of"]:
        stated = parse_scale(found["out_of"])
        if stated is None:
            return None
    if stated:
        return stated.rate(number)
    is_whole = "." not in found["number"]
    return None if number == int(number) and _may_qualify(rest) else _rate(number, scale, is_whole=is_whole)


def _may_qualify(rest: str) -> bool:
    """Return whether what follows a bare whole number may change its meaning: "1 (of 3 points)", "1 star", "8 or 9"."""
    return (rest[:1].isspace() and rest.lstrip()[:1].isalpha()) or re.search("[0-9]", rest) is not None


def _rate(number: float, scale: Scale | None, *, is_whole: bool) -> float | None:
    """Return a number as a score from 0 to 1, or None if it is out of range or may mean two things.

    `is_whole` says that it was written without a decimal point.
    """
    if scale:
        # The judge was asked for 0 to 1, so a whole 1 may be the best mark of that scale or a low one of the rubric's.
        return scale.rate(number) if number > 1 else None if is_whole else number
    if 0 <= number <= 1:
        return number
    if number == int(number) and 2 <= number <= 100:
        return number / 10 if number <= 10 else number / 100
    return None
