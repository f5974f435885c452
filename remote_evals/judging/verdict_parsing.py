"""The JSON objects in a judge's answer, and the verdict that one of them may be."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..results import Verdict
from .score_parsing import UnreadableError, read_alone, read_label, read_value

# More broken objects than this are no answer; each costs a look at the whole text.
_MOST_BROKEN = 50

_START = re.compile(r"\{\s*[\"']")
_VERDICT_KEYS = re.compile(r"[\"'](?:score|passed|pass)[\"']\s*:", re.IGNORECASE)
_WORDS = {
    **dict.fromkeys(("true", "yes", "pass", "passed"), True),
    **dict.fromkeys(("false", "no", "fail", "failed"), False),
}


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


# Far more than any verdict; what is longer is no answer, and would be slow to read.
MOST_CHARS = 20_000

_TAG = re.compile(r"</?(?:think|thinking|thought|reasoning|reflection|scratchpad|analysis)>", re.IGNORECASE)
_OPEN = re.compile(r"\s*<(think|thinking|thought|reasoning|reflection|scratchpad|analysis)>", re.IGNORECASE)
# Some servers cut the opening tag off with the prompt.
_CLOSE_ALONE = re.compile(r"^[^\S\n]*</think(?:ing)?>[^\S\n]*$", re.IGNORECASE | re.MULTILINE)

_FENCED = re.compile(r"^[^\S\n]*(```|~~~).*?^[^\S\n]*\1[^\S\n]*$", re.DOTALL | re.MULTILINE)
_WORD = re.compile(r"(?:[-*]\s+)?[\s*_#`\"'(\[]*(?P<word>pass|fail)(?:ed)?(?![\w])(?P<rest>[^\n]*)", re.IGNORECASE)
# After PASS: the end, or a remark that does not take it back. "PASS/FAIL", "PASS or", "PASS: 1 of 3", "PASS? No".
_FIRM = re.compile(
    r"[*_`\"')\]]*+\s*+(?:$|[.:,;!(\u2013\u2014-]++\s*+(?!(?:no|not|false|never|if|unless|only)\b|[0-9]))",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"\b(?:pass|passed|verdict)[\"'*_`]*+\s*+[:=][\s\"'*_`]*+(?:false\b|fail(?:ed|s)?\b|not\s+pass|no\b(?=\W{0,9}$))",
    re.IGNORECASE | re.MULTILINE,
)


def parse_judge_score(text: str) -> float | None:
    """Return the score from 0 to 1 that a judge's answer gives, None where none can be read.

    Read, most explicit first: a JSON verdict; the last number that is labelled as score, or that is all of the text;
    `PASS` or `FAIL` leading the first line. Numbers in the reasoning never count. One that is out
    of range, and verdicts that contradict each other, cannot be read.
    """
    verdict = parse_verdict(text)
    return verdict.score if verdict else None


def parse_verdict(text: str) -> Verdict | None:
    """Return the verdict in a judge's answer, None where none can be read; see `parse_judge_score`."""
    try:
        return _read(text.lstrip("\ufeff"))
    except UnreadableError:
        return None


def _read(text: str) -> Verdict | None:
    said = _without_thinking(text).strip()
    if len(said) > MOST_CHARS:
        return None
    spans = list(find_objects(said))
    prose = _blank(said, spans)
    if _TAG.search(prose):
        raise UnreadableError
    verdicts = [verdict for span in spans if (verdict := read_object(span.value))]
    if verdicts:
        # Two that differ: the one may be an example, or quoted from the very reply that is judged.
        return verdicts[-1] if len({(one.score, one.passed) for one in verdicts}) == 1 else None
    return _read_prose(prose)


def _without_thinking(text: str) -> str:
    """Return what follows the thinking that an answer begins with; all of it may be thinking."""
    start = 0
    while opened := _OPEN.match(text, start):
        closed = re.compile(f"</{opened[1]}>", re.IGNORECASE).search(text, opened.end())
        start = closed.end() if closed else len(text)
    alone = _CLOSE_ALONE.search(text, start)
    return text[alone.end() :] if alone and "<think" not in text[start : alone.start()].lower() else text[start:]


def _read_prose(prose: str) -> Verdict | None:
    plain = _FENCED.sub("", prose)
    word = _read_word(plain)
    score = read_alone(prose)
    for part in (plain, prose):
        if score is None:
            score = read_label(part)
    passed = False if _DENIED.search(prose) else word
    if score is None:
        score = None if word is None else float(word)
    return None if score is None else Verdict(score=score, passed=passed, reason=clean(prose))


def _read_word(prose: str) -> bool | None:
    """Return what PASS or FAIL says that leads the first line, None where it does not, or not for sure."""
    found = _WORD.match(prose.lstrip())
    if not found or not _FIRM.match(found["rest"]):
        return None
    passed = found["word"].lower() == "pass"
    against = "fail" if passed else "pass"
    lines = prose.lstrip().splitlines()
    is_disputed = against in found["rest"].lower() or any(
        (other := _WORD.match(line)) and other["word"].lower() == against for line in lines[1:]
    )
    return None if is_disputed else passed


def _blank(text: str, spans: list[Span]) -> str:
    for span in reversed(spans):
        text = f"{text[: span.start]} {text[span.end :]}"
    return text
