"""The checks of a case as data: what may be asked of a case, of one of its turns, or softly of either."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BeforeValidator, Field, NonNegativeFloat, NonNegativeInt

from .asserting import Assertions
from .durations import parse_duration
from .strict import Mistake, StrictModel


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


def _valid_regex(pattern: str) -> str:
    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f"{pattern!r} is not a regular expression: {error}") from error
    return pattern


def _milliseconds(value: Any) -> Any:
    # A bare number is in what the key's name says; only a unit makes it a duration.
    return parse_duration(value) * 1000 if isinstance(value, str) and value.strip()[-1:].isalpha() else value


def _number(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError(f"Input should be a number, got {str(value).lower()}")
    return value


Text = Annotated[str, Field(min_length=1)]
Texts = Annotated[tuple[Text, ...], BeforeValidator(_as_list)]
Regexes = Annotated[tuple[Annotated[Text, AfterValidator(_valid_regex)], ...], BeforeValidator(_as_list)]
Count = Annotated[NonNegativeInt, BeforeValidator(_number)]
Amount = Annotated[NonNegativeFloat, BeforeValidator(_number)]
Milliseconds = Annotated[Amount, BeforeValidator(_milliseconds)]


class ExpectedTool(StrictModel):
    """A tool that must be called: `args` a partial match, `times` an exact count, by `subagent` and those under it."""

    name: Text
    args: dict[str, Any] | None = None
    times: Count | None = None
    subagent: Text | None = None
    outcome: Literal["ok", "error"] | None = None


def _tool_of_name(value: Any) -> Any:
    return {"name": value} if isinstance(value, str) else value


ExpectedTools = Annotated[
    tuple[Annotated[ExpectedTool, BeforeValidator(_tool_of_name)], ...], BeforeValidator(_as_list)
]


class Checks(StrictModel):
    """What is asked of a run. Only what is set is checked, one assertion per expected item."""

    aliases: ClassVar = {
        "expect_tools": "expected_tools",
        "expected_tool_sequence": "tool_order",
        "must_contain": "expected_output_contains",
        "must_not_contain": "expected_output_not_contains",
        "max_iterations": "max_steps",
    }

    expected_tools: ExpectedTools = ()
    forbidden_tools: Texts = ()
    tool_order: Texts = ()
    exact_tool_sequence: bool = False
    expected_output_contains: Texts = ()
    expected_output_not_contains: Texts = ()
    expected_output_matches: Regexes = ()
    max_steps: Count | None = None
    max_tokens: Count | None = None
    max_cost_usd: Amount | None = None
    unknown_cost: Literal["fail", "skip"] = "fail"
    max_duration_ms: Milliseconds | None = None
    max_first_text_ms: Milliseconds | None = None
    finish_reason: Text | None = None

    @classmethod
    def find_mistakes(cls, data: Mapping[str, Any]) -> Iterator[Mistake]:
        """Yield that an exact order was asked for without an order."""
        if data.get("exact_tool_sequence") is True and not data.get("tool_order"):
            yield (), "exact_tool_sequence needs a tool_order (or expected_tool_sequence) to be exact about"

    def assert_on(self, t: Assertions) -> None:
        """Make every assertion that is set, but for that on the finish reason, which whoever sent the turns makes."""
        self._assert_tools(t)
        self._assert_output(t)
        self._assert_limits(t)

    def _assert_tools(self, t: Assertions) -> None:
        for tool in self.expected_tools:
            t.called_tool(tool.name, tool.args, tool.times, tool.subagent, tool.outcome)
        for name in self.forbidden_tools:
            t.not_called_tool(name)
        if self.tool_order:
            t.tool_order(self.tool_order, exact=self.exact_tool_sequence)

    def _assert_output(self, t: Assertions) -> None:
        for text in self.expected_output_contains:
            t.output_contains(text)
        for text in self.expected_output_not_contains:
            t.output_not_contains(text)
        for pattern in self.expected_output_matches:
            t.output_matches(pattern)

    def _assert_limits(self, t: Assertions) -> None:
        if self.max_cost_usd is not None:
            t.max_cost_usd(self.max_cost_usd, self.unknown_cost)
        limits: list[tuple[Callable[[Any], None], float | None]] = [
            (t.max_steps, self.max_steps),
            (t.max_tokens, self.max_tokens),
            (t.max_duration_ms, self.max_duration_ms),
            (t.max_first_text_ms, self.max_first_text_ms),
        ]
        for assert_limit, limit in limits:
            if limit is not None:
                assert_limit(limit)
