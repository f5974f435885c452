"""The expectations that a suite file may state for a case, a turn or `soft`, and the assertions they become."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BeforeValidator

from ..config.fields import Amount, Count, Milliseconds, OneOrMore, Text, Texts, as_list
from ..config.problems import Problem
from ..config.strict_model import StrictModel
from ..evals.assertions.methods import Assertions


def _check_regex(pattern: str) -> str:
    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f"{pattern!r} is not a regular expression: {error}") from error
    return pattern


Regexes = Annotated[tuple[Annotated[Text, AfterValidator(_check_regex)], ...], OneOrMore]


class ExpectedTool(StrictModel):
    """A tool that must be called, with details that the calls must match."""

    name: Text
    """The name of the tool, or "a|b" for any of several tools."""
    args: dict[str, Any] | None = None
    """Arguments that the call must have; it may have others too."""
    times: Count | None = None
    """The exact number of matching calls; without it, at least one."""
    subagent: Text | None = None
    """The sub-agent that must make the call, itself or through its own sub-agents."""
    outcome: Literal["ok", "error"] | None = None
    """Whether the call must succeed ("ok") or fail ("error")."""


def _expand_tool_name(value: Any) -> Any:
    return {"name": value} if isinstance(value, str) else value


ToolOrName = Annotated[ExpectedTool, BeforeValidator(_expand_tool_name, json_schema_input_type=Text | ExpectedTool)]
ExpectedTools = Annotated[
    tuple[ToolOrName, ...], BeforeValidator(as_list, json_schema_input_type=ToolOrName | tuple[ToolOrName, ...])
]


class Expectations(StrictModel):
    """What a run must do. Only what is set is checked, with one assertion for each expected item."""

    aliases: ClassVar = {
        "expect_tools": "expected_tools",
        "expected_tool_sequence": "tool_order",
        "must_contain": "expected_output_contains",
        "must_not_contain": "expected_output_not_contains",
        "max_iterations": "max_steps",
    }

    expected_tools: ExpectedTools = ()
    """Tools that must be called: each a name, "a|b" for any of several, or a mapping with details."""
    forbidden_tools: Texts = ()
    """Tools that neither the agent nor any sub-agent may call."""
    tool_order: Texts = ()
    """Tools that must be called in this order; other calls may come in between."""
    exact_tool_sequence: bool = False
    """Whether `tool_order` must list every call, with no others before, in between or after; false by default."""
    expected_output_contains: Texts = ()
    """Texts that the last reply must contain, ignoring case."""
    expected_output_not_contains: Texts = ()
    """Texts that the last reply must not contain, ignoring case."""
    expected_output_matches: Regexes = ()
    """Regular expressions, in Python's syntax, that must match somewhere in the last reply."""
    max_steps: Count | None = None
    """The maximum number of steps of the lead agent."""
    max_tokens: Count | None = None
    """The maximum number of tokens, input and output together, including those of sub-agents."""
    max_cost_usd: Amount | None = None
    """The maximum cost in US dollars."""
    unknown_cost: Literal["fail", "skip"] = "fail"
    """What `max_cost_usd` does when the deployment does not report the cost: "fail" (the default) or "skip"."""
    max_duration_ms: Milliseconds | None = None
    """The maximum total time: milliseconds, or a duration such as 30s."""
    max_first_text_ms: Milliseconds | None = None
    """The maximum time until the first text of a reply: milliseconds, or a duration such as 2s."""
    finish_reason: Text | None = None
    """The finish reason that the run must end with, "stop" by default; for example "awaiting-approval"."""

    @classmethod
    def find_problems(cls, data: Mapping[str, Any]) -> Iterator[Problem]:
        """Yield a problem if an exact order is expected but no order is given."""
        if data.get("exact_tool_sequence") is True and not data.get("tool_order"):
            yield (), "exact_tool_sequence also needs a tool_order (or expected_tool_sequence)"

    def assert_on(self, t: Assertions) -> None:
        """Make every assertion that is set, except that on the finish reason, which the caller makes."""
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
