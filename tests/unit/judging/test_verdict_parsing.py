"""A judge's answer as a score: every form that is read, and everything that must not be mistaken for one."""

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remote_evals.judging import Verdict, parse_judge_score, parse_verdict

JSON_VERDICTS: dict[str, tuple[str, float, bool | None]] = {
    "alone": ('{"passed": true, "score": 0.9, "reason": "good"}', 0.9, True),
    "failed": ('{"passed": false, "score": 0.1}', 0.1, False),
    "no number": ('{"passed": true, "reason": "good"}', 1.0, True),
    "no number, failed": ('{"passed": false}', 0.0, False),
    "null number": ('{"passed": true, "score": null}', 1.0, True),
    "no yes or no": ('{"score": 0.8}', 0.8, None),
    "null yes or no": ('{"passed": null, "score": 0.8}', 0.8, None),
    "fenced": ('```json\n{"passed": true, "score": 1}\n```', 1.0, True),
    "prose around": ('Here is my verdict:\n\n{"score": 0.4, "passed": false}\n\nI hope that helps!', 0.4, False),
    "after a byte order mark": ('\ufeff{"score": 0.4}', 0.4, None),
    "of ten": ('{"score": 8}', 0.8, None),
    "of a hundred": ('{"score": 85}', 0.85, None),
    "one is one": ('{"score": 1}', 1.0, None),
    "zero": ('{"score": 0, "passed": false}', 0.0, False),
    "number as text": ('{"score": "0.7"}', 0.7, None),
    "fraction as text": ('{"score": "8/10"}', 0.8, None),
    "percent as text": ('{"score": "85%"}', 0.85, None),
    "bool as text": ('{"passed": "False", "score": 0.9}', 0.9, False),
    "bool as word": ('{"passed": "no", "score": 0.9}', 0.9, False),
    "bool as number": ('{"passed": 1, "score": 0.9}', 0.9, True),
    "other case": ('{"Passed": true, "SCORE": 0.9}', 0.9, True),
    "short name": ('{"pass": false, "score": 1}', 1.0, False),
    "two names, one no": ('{"pass": true, "passed": false, "score": 1}', 1.0, False),
    "wrapped": ('{"verdict": {"passed": true, "score": 0.9}}', 0.9, True),
    "in a list": ('[{"passed": true, "score": 0.9}]', 0.9, True),
    "line break in the reason": ('{"score": 0.9, "reason": "a\nb"}', 0.9, None),
    "braces in the reason": ('{"score": 0.9, "reason": "it says {\\"score\\": 0}"}', 0.9, None),
    "said twice": ('{"score": 0.9}\nAgain: {"score": 0.90}', 0.9, None),
    "beside an object of something else": ('{"status": "shipped"} is right. {"score": 0.9}', 0.9, None),
    "beside a broken object": ('It said {"status": shipped}. {"score": 0.9}', 0.9, None),
    "over a label": ('Score: 0.1\n{"score": 0.9}', 0.9, None),
    "over a word": ('PASS\n{"score": 0.2, "passed": false}', 0.2, False),
    "after thinking": ('<think>Maybe {"score": 1}, or Score: 1?</think>\n{"score": 0.2}', 0.2, None),
    "after two thoughts": ('<think>{"score": 1}</think><THINKING>x</THINKING>{"score": 0.2}', 0.2, None),
    "after thinking without its start": ('Let me see {"score": 1}\n</think>\n\n{"score": 0.2}', 0.2, None),
    "quoting a tag": ('{"score": 0.2, "reason": "says </think> Score: 1.0"}', 0.2, None),
}

LABELS: dict[str, float] = {
    "SCORE: 0.9": 0.9,
    "score:0.9": 0.9,
    "Score = 0.9": 0.9,
    "Score：0.9": 0.9,  # noqa: RUF001 - as Chinese models write
    "Score: .9": 0.9,
    "Score: 0.8333333333333334": 0.8333333333333334,
    "**Score:** 8/10": 0.8,
    "**Score**: 0.75": 0.75,
    "**Score: 0.75**": 0.75,
    "_Score:_ `0.75`": 0.75,
    "good **Score:** 8/10": 0.8,
    "It cites the order **Score:** 0.7": 0.7,
    "Polite and right \u2014 Score: 9/10": 0.9,
    "Polite and right - score: 0.9": 0.9,
    "fair **Score:** 3/10, on reflection good **Score:** 8/10": 0.8,
    "### Final Score: **0.9**": 0.9,
    "- Overall score: 7": 0.7,
    "1. Score: 0.9": 0.9,
    "My score: 0.9.": 0.9,
    "So the score: 0.2": 0.2,
    "| Score | 8/10 |": 0.8,
    "| **Score** | 8 | fine |": 0.8,
    "Score: 8 / 10": 0.8,
    "Score: 8 out of 10": 0.8,
    "Score: **8** out of **10**": 0.8,
    "Score: 4/5": 0.8,
    "Score: 0.9/1.0": 0.9,
    "Score: 85%": 0.85,
    "Score: 85 percent": 0.85,
    "Score: 0%": 0.0,
    "Score: 85": 0.85,
    "Score: 2": 0.2,
    "Score: 8.0": 0.8,
    "Score: 10": 1.0,
    "Score: 11": 0.11,
    "Score: 100": 1.0,
    "Score: 0": 0.0,
    "Score: 1": 1.0,
    "Score: 1/10": 0.1,
    "Score: 1 of 3 criteria": 1 / 3,
    "Score (0-1): 0.8": 0.8,
    "Score (1-5): 4": 0.8,
    "Score (out of 10): 1": 0.1,
    "Score (0-100): 10": 0.1,
    "Score (0 to 100): 8/10": 0.8,
    "Score (final): 0.9": 0.9,
    "Score: 0.9 (90%)": 0.9,
    "Score: 0.9 - it cites the order": 0.9,
    "Score: 0.9, since it cites order 41": 0.9,
    "Score: 0.9 because of 3 facts": 0.9,
    "Score: 8 \u2014 good": 0.8,
    "Score:\n\n0.8": 0.8,
    "## Score\n**8/10**\n\nIt is good.": 0.8,
    "It made 3 calls in 12 seconds. Score: 0.7": 0.7,
    "It cites 5 of 5 facts, so I give score: 0.7": 0.7,
    "Score: 0.3\n\nOn second thought it is right.\n\nScore: 0.9": 0.9,
    "Score: 0.9\nScore explained: it cites the order.": 0.9,
    "Score: 0.9\nConfidence score: 0.2": 0.9,
    "Score: 0.2\nThe reply was:\n```\nScore: 1.0\n```": 0.2,
    "```\nScore: 0.7\n```": 0.7,
    '"score": 0.7': 0.7,
    "{score: 0.7}": 0.7,
    # A text that is only a value.
    "0.8": 0.8,
    "**8/10**": 0.8,
    "8 out of 10": 0.8,
    "85%": 0.85,
    "8": 0.8,
    ".9": 0.9,
    "0.9.": 0.9,
}

WORDS: dict[str, float] = {
    "PASS": 1.0,
    "FAIL": 0.0,
    "  **PASS**\n\nIt cites order 41 of 50.": 1.0,
    "PASS: it cites the order": 1.0,
    "PASS - good": 1.0,
    "Passed.": 1.0,
    "[FAIL]: it does not": 0.0,
    "- FAIL, for 3 reasons": 0.0,
    "fail": 0.0,
}

UNREADABLE: dict[str, list[str]] = {
    "nothing": ["", " \n", "I cannot judge this.", "The reply is great!"],
    "numbers in the reasoning": [
        "It made 3 of 5 calls and 0.9 of them were right.",
        "I would rate this 8/10.",
        "a score of 1 would need a citation",
        "Its **F1 score:** 0.9",
        "It has a confidence score: 0.9",
        "a good score would be 0.9",
        "To get score 1 it must cite.",
        "The threshold is 0.9",
        "Confidence score: 0.95",
        "F1 score: 0.9",
        "f1_score: 0.9",
        "z-score: 0.9",
        "underscore: 0.9",
        "scores: 0.9",
        "score > 0.5",
        "Score:\n1. The reply is right",
        "Score: see above",
    ],
    "out of range": [
        "Score: 11/10",
        "Score: 1.5",
        "Score: 8.5",
        "Score: 101",
        "Score: 150%",
        "Score: 3/0",
        "Score (0-1): 85",
        "Score: 10000000",
        '{"score": 1.5}',
        '{"score": 101}',
        '{"score": 1e400}',
        '{"score": 12345678901234567890}',
        '{"passed": true, "score": 111}',
        '{"score": "11/10"}',
    ],
    "negative": [
        "Score: -1",
        "Score: -0.5",
        "Score:-8/10",
        "Score: \u22121",
        "-1",
        '{"score": -0.5}',
        '{"score": "-1"}',
    ],
    "not a number for sure": [
        "Score: 0,9",
        "Score: 1.2.3",
        "Score: 8/10/2024",
        "Score: 8-10",
        "Score: 0-1",
        "Score: 0.9 -> 0.2",
        "Score: 0.9 \u2192 0.2",
        "Score: 0.9 - 0.2 = 0.7",
        "Score: ~~0.9~~ 0.2",
        "Score: ~0.9",
        "Score: <0.5",
        "Score: 0.9 0.2",
        "Score: 1 star",
        "Score: 1 (of 3 points)",
        "Score: 8 or 9",
        "Score: 1e0",
        "| Score | 1 | 2 | 3 |",
    ],
    "the last one is none": ["Score: 0.9\nScore: N/A", "Score: 0.9\nScore: 11/10", "Score: 0.9\nFinal score: unknown"],
    "quoted from the reply": [
        'It says "Score: 1.0", which is wrong.',
        "> Score: 1.0",
        'It says "good. Score: 1.0" but no',
    ],
    "no verdict's values": [
        '{"score": true}',
        '{"score": NaN}',
        '{"score": Infinity}',
        '{"score": "high"}',
        '{"score": [1]}',
        '{"score": null}',
        '{"passed": "maybe", "score": 1}',
        '{"passed": null}',
        '{"passed": 2, "score": 1}',
        '{"passed": [], "score": 1}',
    ],
    "contradictions": [
        '{"score": 0.2}\nIt tried to have me say {"score": 1.0}',
        '{"passed": false, "score": 1}{"passed": true, "score": 1}',
        '[{"criterion": "a", "score": 1}, {"criterion": "b", "score": 0}]',
        '{"score": 0, "score": 1}',
        '{"score": 0, "Score": 1}',
        "PASS\nFAIL",
        "PASS: FAIL",
    ],
    "scores of parts": [
        '{"criteria": {"tone": {"score": 1}}, "overall": "bad"}',
        '{"scores": [{"score": 1}]}',
        '{"example": {"passed": true}, "note": "x"}',
    ],
    "broken verdicts": [
        '{"passed": false, "score": 0.9, "reason": "He said "yes""}',
        '{"passed": true, "score": 0.9,}',
        "{'passed': True, 'score': 0.9}",
        '{"passed": true, "score": 0.9, "reason": "the rep',
        '{"passed": false, "details": {"score": 1}, oops}',
        '{"overall": 0.2, "details": {"tone": {"score": 1}}, oops}',
    ],
    "unfinished thinking": [
        '<think>So {"score": 1}',
        "<think>Score: 1",
        "<thinking>PASS",
        '<think>it says </think>{"score": 1} hm</think>{"score": 0}',
        '<think>it says </think>{"score": 1} hm</think>Score: 0',
        'Well {"score": 1}. <think>or not',
    ],
    "no PASS": [
        "Not a PASS",
        "NOT PASS",
        "not passed",
        "PASS/FAIL",
        "PASS or FAIL?",
        "PASS? No.",
        "PASS: no",
        "PASS - not really",
        "PASS only if it cites",
        "PASS criteria are not met",
        "PASS: 1 of 3",
        "Passing would need a citation",
        "pass_with_issues",
        "\u274c PASS",
        "~~PASS~~ FAIL",
        "[ ] PASS [x] FAIL",
        "Password: PASS",
        "The verdict is PASS",
        "The reply:\nPASS",
    ],
}


@pytest.mark.parametrize("name", JSON_VERDICTS)
def test_a_json_verdict_is_read_wherever_it_stands(name: str) -> None:
    """A JSON object with the keys of a verdict is read, fenced or not, and overrides the rest of the text."""
    text, score, passed = JSON_VERDICTS[name]
    verdict = parse_verdict(text)
    assert verdict is not None
    assert (verdict.score, verdict.passed) == (score, passed)


@pytest.mark.parametrize("text", LABELS)
def test_a_number_labelled_as_score_is_read(text: str) -> None:
    """The last number that is labelled as score is scaled to 0 to 1."""
    assert parse_judge_score(text) == pytest.approx(LABELS[text])


@pytest.mark.parametrize("text", WORDS)
def test_pass_or_fail_leading_the_first_line_is_read(text: str) -> None:
    """PASS and FAIL at the start of the text are 1 and 0, and the judge's own yes and no."""
    verdict = parse_verdict(text)
    assert verdict is not None
    assert (verdict.score, verdict.passed) == (WORDS[text], WORDS[text] == 1)


@pytest.mark.parametrize(
    "text", [pytest.param(text, id=f"{kind}: {text[:40]!r}") for kind in UNREADABLE for text in UNREADABLE[kind]]
)
def test_what_is_not_surely_a_verdict_is_none(text: str) -> None:
    """An ambiguous answer gives no score, rather than a clamped or guessed one."""
    assert parse_judge_score(text) is None
    assert parse_verdict(text) is None


@pytest.mark.parametrize(
    ("text", "score", "passed"),
    [
        ("Score: 0.9\nVerdict: FAIL", 0.9, False),
        ("Score: 0.9\n**Passed:** no", 0.9, False),
        ("{passed: false, score: 0.9}", 0.9, False),
        ("FAIL\nScore: 0.9", 0.9, False),
        ("PASS\nScore: 0.2", 0.2, True),
        ("Score: 0.9\nVerdict: no issues were found", 0.9, None),
    ],
)
def test_a_judge_that_says_no_beside_its_number_is_heard(text: str, score: float, passed: bool | None) -> None:
    """A judge that says beside its number that the reply fails has said no."""
    verdict = parse_verdict(text)
    assert verdict is not None
    assert (verdict.score, verdict.passed) == (score, passed)


def test_the_reason_is_that_of_the_verdict_or_all_of_the_text() -> None:
    """The reason is that of the JSON, if it is text, or else the whole prose."""
    reasons = [
        parse_verdict(text)
        for text in ('{"score": 1, "reason": " a "}', "Fine.\nScore: 1\n", '{"score": 1, "reason": 3}')
    ]
    assert [verdict and verdict.reason for verdict in reasons] == ["a", "Fine.\nScore: 1", ""]


def test_a_lone_surrogate_in_the_reason_is_replaced() -> None:
    """A character that UTF-8 cannot encode is replaced in the reason."""
    verdict = parse_verdict('{"score": 1, "reason": "a\\ud83d"}')
    assert verdict is not None
    assert verdict.reason == "a?"


def test_what_is_far_too_long_is_no_verdict() -> None:
    """A text of more than 20,000 characters, without its thinking, is no verdict."""
    assert parse_judge_score("x" * 20_000 + "\nScore: 1") is None
    assert parse_judge_score(f"<think>{'x' * 100_000}</think>Score: 1") == 1.0


@pytest.mark.parametrize(
    "unit",
    ['{"a":', '{"', '{"a":{"b":1},', "score: ", "score:\n", '"', "```\n", "*", "\n", "(", "<think>", "pass:", " "],
)
def test_no_answer_takes_long_to_read(unit: str) -> None:
    """An answer that repeats anything without end is read in a moment."""
    began = time.perf_counter()
    for text in (unit * (1_000_000 // len(unit)), "score" + unit * (19_000 // len(unit)) + "x"):
        parse_verdict(text)
    assert time.perf_counter() - began < 2


@given(st.text() | st.text(alphabet="{}\"'scorepad:0189/ %.\n<>*-|,"))
def test_any_text_gives_a_score_from_0_to_1_or_none(text: str) -> None:
    """Parsing any text never raises, and never gives a score out of range."""
    score = parse_judge_score(text)
    assert score is None or 0 <= score <= 1


@given(
    st.dictionaries(
        st.sampled_from(["passed", "pass", "score", "reason", "x"]),
        st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    )
)
def test_any_object_gives_a_verdict_or_none(fields: dict[str, Any]) -> None:
    """Any object gives a verdict in range or none, and no verdict contradicts its `passed: false`."""
    verdict = parse_verdict(json.dumps(fields))
    assert verdict is None or isinstance(verdict, Verdict)
    if verdict and False in [value for key, value in fields.items() if key in ("passed", "pass") and value is False]:
        assert verdict.passed is False
