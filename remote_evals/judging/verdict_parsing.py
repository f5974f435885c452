"""Reads the verdict in a judge's answer, most explicit form first.

The score is that of a JSON object with the keys of a verdict, else a labelled number, else that of `PASS` or `FAIL`. A
case must never pass by luck, so an ambiguous answer is no verdict.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..results import Verdict
from .scales import Scale, parse_scale
from .score_parsing import UnreadableError, find_labelled_score, parse_bare_score, parse_json_score

# Far longer than any verdict; a longer text is no answer, and would be slow to read.
_MOST_CHARS = 20_000
# A text with more broken objects is no answer; each costs a search through the whole text.
_MOST_BROKEN = 50

_TAG = re.compile(r"</?(?:think|thinking|thought|reasoning|reflection|scratchpad|analysis)>", re.IGNORECASE)
_OPENING_TAG = re.compile(r"\s*<(think|thinking|thought|reasoning|reflection|scratchpad|analysis)>", re.IGNORECASE)
# Some servers cut the opening tag off with the prompt.
_CLOSING_TAG_ALONE = re.compile(r"^[^\S\n]*</think(?:ing)?>[^\S\n]*$", re.IGNORECASE | re.MULTILINE)

# Beside a score, what says which mark is the best.
_SCALE_KEYS = ("scale", "max_score", "maxscore", "max", "out_of")

_OBJECT_START = re.compile(r"\{\s*[\"']")
_VERDICT_KEYS = re.compile(r"[\"'](?:score|passed|pass)[\"']\s*:", re.IGNORECASE)
_FLAGS = {
    **dict.fromkeys(("true", "yes", "pass", "passed"), True),
    **dict.fromkeys(("false", "no", "fail", "failed"), False),
}

_FENCED = re.compile(r"^[^\S\n]*(```|~~~).*?^[^\S\n]*\1[^\S\n]*$", re.DOTALL | re.MULTILINE)
_WORD = re.compile(r"(?:[-*]\s+)?[\s*_#`\"'(\[]*(?P<word>pass|fail)(?:ed)?(?![\w])(?P<rest>[^\n]*)", re.IGNORECASE)
# After PASS: the end, or a remark that does not revoke it. "PASS/FAIL", "PASS or", "PASS: 1 of 3" and "PASS? No" do.
_FIRM = re.compile(
    r"[*_`\"')\]]*+\s*+(?:$|[.:,;!(\u2013\u2014-]++\s*+(?!(?:no|not|false|never|if|unless|only)\b|[0-9]))",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"\b(?:pass|passed|verdict)[\"'*_`]*+\s*+[:=][\s\"'*_`]*+(?:false\b|fail(?:ed|s)?\b|not\s+pass|no\b(?=\W{0,9}$))",
    re.IGNORECASE | re.MULTILINE,
)


def parse_judge_score(text: str) -> float | None:
    """Return the score from 0 to 1 in a judge's answer, or None if none can be read.

    The most explicit form counts: a JSON verdict; else the last number that is labelled as score, or that is the whole
    text; else `PASS` or `FAIL` leading the first line. Numbers in the reasoning never count. A number out of range, and
    verdicts that contradict each other, cannot be read.
    """
    verdict = parse_verdict(text)
    return verdict.score if verdict else None


def parse_verdict(text: str, scale: Scale | None = None) -> Verdict | None:
    """Return the verdict in a judge's answer, or None if none can be read; see `parse_judge_score`.

    `scale` is the rubric's own scale, if it names one.
    """
    try:
        return _parse_answer(text.lstrip("\ufeff"), scale)
    except UnreadableError:
        return None


def parse_verdict_object(value: Mapping[str, Any], scale: Scale | None = None) -> Verdict | None:
    """Return an object as a verdict, or None if it is not one; `scale` is the rubric's own scale, if it names one.

    Raises `UnreadableError` if it has the keys of a verdict, but values that are out of range or no verdict.
    """
    while len(value) == 1 and isinstance(inner := next(iter(value.values())), Mapping):
        value = inner
    fields = _make_object([(str(key).strip().casefold(), item) for key, item in value.items()])
    flags = [_parse_flag(fields[key]) for key in ("passed", "pass") if fields.get(key) is not None]
    if not flags and fields.get("score") is None:
        if fields.keys() & {"passed", "pass", "score"}:
            raise UnreadableError
        return None
    passed = all(flags) if flags else None
    score = _parse_score(fields, passed, scale)
    if score is None:
        raise UnreadableError
    reason = fields.get("reason")
    return Verdict(score=score, passed=passed, reason=_clean(reason) if isinstance(reason, str) else "")


def _parse_score(fields: Mapping[str, Any], passed: bool | None, scale: Scale | None) -> float | None:
    given = fields.get("score")
    if given is None:
        return float(bool(passed))
    stated = next((found for key in _SCALE_KEYS if (found := parse_scale(fields.get(key)))), None)
    if scale and not stated and passed is not None and given == float(passed) and not isinstance(given, bool):
        # A 1 that passed is the best mark and a 0 that failed the worst, whichever scale was meant.
        return float(passed)
    return parse_json_score(given, scale, stated)


@dataclass(frozen=True, slots=True)
class _Span:
    """A JSON object, and its place in the text."""

    start: int
    end: int
    value: Mapping[str, Any]


def _parse_answer(text: str, scale: Scale | None) -> Verdict | None:
    answer = _strip_thinking(text).strip()
    if len(answer) > _MOST_CHARS:
        return None
    spans = list(_find_objects(answer))
    prose = _remove_objects(answer, spans)
    if _TAG.search(prose):
        raise UnreadableError
    verdicts = [verdict for span in spans if (verdict := parse_verdict_object(span.value, scale))]
    if verdicts:
        # If two differ, one may be an example, or quoted from the very reply that is judged.
        return verdicts[-1] if len({(one.score, one.passed) for one in verdicts}) == 1 else None
    return _parse_prose(prose, scale)


def _strip_thinking(text: str) -> str:
    """Return what follows the thinking at the start of an answer; empty if the thinking never ends."""
    start = 0
    while opened := _OPENING_TAG.match(text, start):
        closed = re.compile(f"</{opened[1]}>", re.IGNORECASE).search(text, opened.end())
        start = closed.end() if closed else len(text)
    alone = _CLOSING_TAG_ALONE.search(text, start)
    return text[alone.end() :] if alone and "<think" not in text[start : alone.start()].lower() else text[start:]


def _find_objects(text: str) -> Iterator[_Span]:
    """Yield the outermost JSON objects of a text.

    Raises `UnreadableError` for one with the keys of a verdict that is not valid JSON: reading it would be a guess.
    """
    decoder = json.JSONDecoder(strict=False, object_pairs_hook=_make_object, parse_constant=_reject_constant)
    at, broken = 0, 0
    while found := _OBJECT_START.search(text, at):
        try:
            value, at = decoder.raw_decode(text, found.start())
            yield _Span(found.start(), at, value)
        except (ValueError, RecursionError):
            broken += 1
            end = _find_end(text, found.start())
            if broken > _MOST_BROKEN or _VERDICT_KEYS.search(text, found.start(), end):
                raise UnreadableError from None
            at = end


def _make_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the pairs as a dict. Raises `UnreadableError` if a key is repeated."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise UnreadableError
    return fields


def _reject_constant(constant: str) -> float:
    raise UnreadableError(constant)


def _find_end(text: str, start: int) -> int:
    """Return where the brace that opens at `start` is closed, or the end of the text if it never is."""
    depth = 0
    for brace in re.compile("[{}]").finditer(text, start):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return brace.end()
    return len(text)


def _remove_objects(text: str, spans: list[_Span]) -> str:
    for span in reversed(spans):
        text = f"{text[: span.start]} {text[span.end :]}"
    return text


def _parse_flag(flag: Any) -> bool:
    known = _FLAGS.get(flag.strip().casefold()) if isinstance(flag, str) else flag
    if known not in (True, False):
        raise UnreadableError
    return bool(known)


def _parse_prose(prose: str, scale: Scale | None) -> Verdict | None:
    plain = _FENCED.sub("", prose)
    word = _parse_leading_word(plain)
    score = parse_bare_score(prose, scale)
    for part in (plain, prose):
        if score is None:
            score = find_labelled_score(part, scale)
    passed = False if _DENIED.search(prose) else word
    if score is None:
        score = None if word is None else float(word)
    return None if score is None else Verdict(score=score, passed=passed, reason=_clean(prose))


def _parse_leading_word(prose: str) -> bool | None:
    """Return whether PASS or FAIL leads the first line, or None if neither does for certain."""
    found = _WORD.match(prose.lstrip())
    if not found or not _FIRM.match(found["rest"]):
        return None
    passed = found["word"].lower() == "pass"
    opposite = "fail" if passed else "pass"
    lines = prose.lstrip().splitlines()
    is_disputed = opposite in found["rest"].lower() or any(
        (other := _WORD.match(line)) and other["word"].lower() == opposite for line in lines[1:]
    )
    return None if is_disputed else passed


def _clean(text: str) -> str:
    """Return a text without lone surrogates, which no report can hold."""
    return text.encode("utf-8", "replace").decode().strip()
