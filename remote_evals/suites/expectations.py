"""The expectations of a case as data: what may be asked of a case, of one of its turns, or softly of either."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BeforeValidator

from ..config.fields import Amount, Count, Milliseconds, OneOrMore, Text, Texts, as_list
from ..config.strict_model import Problem, StrictModel
from ..evals.assertions.recorder import Assertions


def _valid_regex(pattern: str) -> str:
    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f"{pattern!r} is not a regular expression: {error}") from error
    return pattern


Regexes = Annotated[tuple[Annotated[Text, AfterValidator(_valid_regex)], ...], OneOrMore]


class ExpectedTool(StrictModel):
    """A tool that must be called: `args` a partial match, `times` an exact count, by `subagent` and those under it."""

    name: Text
    """The tool's name; "a|b" for either of two."""
    args: dict[str, Any] | None = None
    """Arguments that a call must have; it may have others."""
    times: Count | None = None
    """How many matching calls there must be, neither more nor fewer."""
    subagent: Text | None = None
    """The sub-agent that must make the call, itself or by those under it."""
    outcome: Literal["ok", "error"] | None = None
    """Whether the tool must succeed or fail."""


def _tool_of_name(value: Any) -> Any:
    return {"name": value} if isinstance(value, str) else value


ToolOrName = Annotated[ExpectedTool, BeforeValidator(_tool_of_name, json_schema_input_type=Text | ExpectedTool)]
ExpectedTools = Annotated[
    tuple[ToolOrName, ...], BeforeValidator(as_list, json_schema_input_type=ToolOrName | tuple[ToolOrName, ...])
]


class Expectations(StrictModel):
    """What is asked of a run. Only what is set is checked, one assertion per expected item."""

    aliases: ClassVar = {
        "expect_tools": "expected_tools",
        "expected_tool_sequence": "tool_order",
        "must_contain": "expected_output_contains",
        "must_not_contain": "expected_output_not_contains",
        "max_iterations": "max_steps",
    }

    expected_tools: ExpectedTools = ()
    """Tools that must be called, each a name, "a|b" for either, or a mapping that says more."""
    forbidden_tools: Texts = ()
    """Tools that neither the agent nor a sub-agent may call."""
    tool_order: Texts = ()
    """Tools that must be called in this order; other calls may sit between."""
    exact_tool_sequence: bool = False
    """Allow no other calls between, before or after those of the order."""
    expected_output_contains: Texts = ()
    """Texts that the last reply must contain, whatever their case."""
    expected_output_not_contains: Texts = ()
    """Texts that the last reply must not contain, whatever their case."""
    expected_output_matches: Regexes = ()
    """Regular expressions, as in Python, that must be found in the last reply."""
    max_steps: Count | None = None
    """The most steps that the agent may take."""
    max_tokens: Count | None = None
    """The most tokens that it may use, input and output together."""
    max_cost_usd: Amount | None = None
    """The most that it may cost, in US dollars."""
    unknown_cost: Literal["fail", "skip"] = "fail"
    """Whether `max_cost_usd` fails, as by default, or is skipped where the deployment does not report the cost."""
    max_duration_ms: Milliseconds | None = None
    """The longest that it may take: milliseconds, or a duration such as 30s."""
    max_first_text_ms: Milliseconds | None = None
    """The longest until the first text of the reply: milliseconds, or a duration such as 2s."""
    finish_reason: Text | None = None
    """How the run must end when not with "stop", for example "awaiting-approval"."""

    @classmethod
    def find_mistakes(cls, data: Mapping[str, Any]) -> Iterator[Problem]:
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
