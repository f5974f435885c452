"""Words of this package and of the protocol survive scrubbing, even if a secret is the same word."""

import json
from typing import Any

import pytest

from remote_evals.evals import assertions
from remote_evals.redaction import REDACTED, Redactor
from remote_evals.reporters import render_json_report, scrub_report
from remote_evals.results import AssertionResult, EvalReport, RunError
from remote_evals.results.run import _ENDS
from tests.unit.reporters.report_samples import case, report, rich_report, run


class AnyWord(Redactor):
    """Redacts words of any length, unlike a real redactor, so that no word is kept for being short."""

    def __init__(self, *words: str) -> None:
        super().__init__()
        self._words = words

    def scrub(self, text: str) -> str:
        for word in self._words:
            text = text.replace(word, REDACTED)
        return text

    def scrub_value(self, value: Any) -> Any:
        return self.scrub(value) if isinstance(value, str) else value


def scrubbed(one: EvalReport, *words: str) -> EvalReport:
    return scrub_report(one, AnyWord(*words))


def test_words_stay() -> None:
    """Statuses, kinds, outcomes, codes and counts stay, whatever the secrets are; free text is scrubbed."""
    words = ("failed", "skipped", "passed", "gate", "soft", "error", "ok", "usage", "REMOTE_TIMEOUT", "INTERRUPTED")
    before, after = rich_report(), scrubbed(rich_report(), *words)
    for one, other in zip(before.results, after.results, strict=True):
        assert (one.status, one.error and one.error.code) == (other.status, other.error and other.error.code)
        assert [made.kind for made in one.assertions] == [made.kind for made in other.assertions]
        assert [call.outcome for call in one.run.tool_calls] == [call.outcome for call in other.run.tool_calls]
        assert (one.run.missing, one.run.finish_reason) == (other.run.missing, other.run.finish_reason)
        assert one.run.timing == other.run.timing
    assert [case.status for case in before.cases] == [case.status for case in after.cases]
    assert EvalReport.model_validate(after.model_dump()) == after
    assert json.loads(render_json_report(after))["summary"] == json.loads(render_json_report(before))["summary"]
    assert after.results[0].assertions[2].message.startswith("tone [redacted]: expected")


@pytest.mark.parametrize("reason", ["stop", *_ENDS])
def test_known_finish_reasons_stay(reason: str) -> None:
    """A finish reason of the protocol stays, in each turn and in the whole run."""
    one = run(finish_reason=reason)
    after = scrubbed(report(case("a", one)), reason).results[0]
    assert (after.run.finish_reason, after.turns[0].finish_reason) == (reason, reason)


def test_what_a_deployment_can_choose_is_scrubbed() -> None:
    """A finish reason or an error code of the deployment's own is scrubbed, even in capitals."""
    one = run(finish_reason="HUNTER_TWO", error=RunError(name="E", code="HUNTER_TWO"))
    after = scrubbed(report(case("a", one)), "HUNTER_TWO").results[0].run
    assert after.error is not None
    assert (after.finish_reason, after.error.code) == ("[redacted]", "[redacted]")


MADE: list[AssertionResult] = [
    assertions.ended(run()),
    assertions.ended(run(), "max-steps"),
    assertions.nothing_pending(run(), "approve"),
    assertions.called_tool(run(), "secret-x"),
    assertions.not_called_tool(run(), "secret-x"),
    assertions.tool_order(run(), ["secret-x"]),
    assertions.output_contains(run(), "secret-x"),
    assertions.output_not_contains(run(), "secret-x"),
    assertions.output_matches(run(), "secret-x"),
    assertions.max_steps(run(), 1),
    assertions.max_tokens(run(), 1),
    assertions.max_cost_usd(run(), 1),
    assertions.max_duration_ms(run(), 1),
    assertions.max_first_text_ms(run(), 1),
]


@pytest.mark.parametrize("made", MADE, ids=lambda made: made.key)
def test_the_fixed_part_of_a_key_stays(made: AssertionResult) -> None:
    """The fixed part of an assertion's key stays, and the part after the colon is scrubbed."""
    word = made.key.partition(":")[0]
    [after] = scrubbed(report(case("a", assertions=(made,))), word, "secret-x").results[0].assertions
    assert after.key == made.key.replace("secret-x", "[redacted]")


def test_a_key_of_ones_own_is_scrubbed() -> None:
    """The key of a custom check is free text, and is scrubbed."""
    made = AssertionResult(name="hunter22 is kept", key="hunter22 is kept", passed=True, score=1)
    [after] = scrubbed(report(case("a", assertions=(made,))), "hunter22").results[0].assertions
    assert after.key == "[redacted] is kept"
