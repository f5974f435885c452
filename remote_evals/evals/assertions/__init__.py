"""What can be asserted about a run. Each function checks one `RunResult` and says what it saw.

In: a `RunResult` and the expected value.
Out: an `AssertionResult`; a failed check never raises. An assertion that something did not happen, or happened an
exact number of times, fails unless the run came to its expected end: absence in a broken run proves nothing.
"""

from .budgets import max_cost_usd, max_duration_ms, max_first_text_ms, max_steps, max_tokens
from .reply import check_value, ended, nothing_pending, output_contains, output_matches, output_not_contains
from .tools import called_tool, not_called_tool, tool_order

__all__ = [
    "called_tool",
    "check_value",
    "ended",
    "max_cost_usd",
    "max_duration_ms",
    "max_first_text_ms",
    "max_steps",
    "max_tokens",
    "not_called_tool",
    "nothing_pending",
    "output_contains",
    "output_matches",
    "output_not_contains",
    "tool_order",
]
