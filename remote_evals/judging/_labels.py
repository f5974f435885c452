"""Numbers that a judge labelled as score: `SCORE: 0.9`, `**Score:** 8/10`, `Score (1-5): 4`."""

import re
from collections.abc import Iterator

from ._numbers import read_alone, read_line
from ._objects import UnreadableError

_LABEL = re.compile(
    r"(?<![A-Za-z0-9-])(?<![A-Za-z0-9]_)score[\"'*_`]{0,4}"
    r"(?:[^\S\n]?\((?P<scale>[^()\n]{1,40})\))?[\"'*_`]{0,4}[^\S\n]?"
    r"(?:(?P<sep>[:=\uff1a|])[\"'*_`|:]{0,4}[^\S\n]*[\"'`]{0,4}|[^\S\n]*$)",
    re.IGNORECASE | re.MULTILINE,
)

# What may stand between the start of a line or sentence and the label. Any other word makes it another score:
# "confidence score", "F1 score".
_OWN_WORD = re.compile(
    r"(?:\b(?:final|overall|total|my|the|a|judge|judge's|numeric|numerical|evaluation|verdict|so|and|hence|thus|"
    r"therefore|is|give|assign)[\"'*_`\s]+)+$",
    re.IGNORECASE,
)
_DECORATION = " \t\"'*_`#|-+{[("
_SENTENCE_END = re.compile(r"[.!?;,:)}\]|][\"'*_`\s]*$")
_IS_SCORE = re.compile(r"[*_`]*[0-9.+\-\u2212\u2013~<>≈≤≥±]|(?:n/?a|none|null|unknown|undefined|not)\b", re.IGNORECASE)


def read_label(text: str) -> float | None:
    """Return the last number that is labelled as score, None where there is none.

    Raises `UnreadableError` when the last one is out of range, or no number that can be read.
    """
    found = list(_find(text))
    if not found:
        return None
    if found[-1] is None:
        raise UnreadableError
    return found[-1]


def _find(text: str) -> Iterator[float | None]:
    for label in _LABEL.finditer(text):
        before = text[text.rfind("\n", 0, label.start()) + 1 : label.start()]
        if not _is_own(before):
            continue
        rest, _, below = text[label.end() :].partition("\n")
        scale = [float(number) for number in re.findall(r"[0-9]{1,6}(?:\.[0-9]{1,6})?", label["scale"] or "")]
        if _IS_SCORE.match(rest):
            yield read_line(rest, max(scale, default=None))
        elif not rest.strip(_DECORATION) and (alone := read_alone(below.lstrip().partition("\n")[0])) is not None:
            yield alone
        # Else it is a heading, or a word about the score.


def _is_own(before: str) -> bool:
    """Whether a label leads its line or its sentence, and is not quoted in the middle of it."""
    near = before[-80:]
    bare = _OWN_WORD.sub("", near)
    if near == before and not bare.strip(_DECORATION):
        return True
    return before.count('"') % 2 == 0 and (bare != near or _SENTENCE_END.search(bare) is not None)
