"""What there is to say of the run that a turn gave."""

from ..evals.assertions import describe_end
from ..results import RunResult
from ._finding import Finding, failed, passed, warned

_MOST_WARNINGS = 3
_MOST_TOOLS = 5


def check_order(run: RunResult) -> Finding:
    """Say whether the events came as the protocol has them."""
    if not run.warnings:
        return passed("order", "the events came as the protocol has them")
    more = len(run.warnings) - _MOST_WARNINGS
    shown = "; ".join(run.warnings[:_MOST_WARNINGS]) + (f"; and {more} more" if more > 0 else "")
    advice = "Check the versions of the deployment's server and of the proxies before it"
    return warned("order", shown, advice, warnings=list(run.warnings))


def check_end(run: RunResult) -> Finding:
    """Say how the run ended, whether it said anything, and which tools it called though it was asked for none."""
    values = {"finish_reason": run.finish_reason, "tools": [call.name for call in run.tool_calls]}
    if not run.ended_normally:
        return failed("end", describe_end(run), "Look for the run in the deployment's logs", **values)
    if run.tool_calls:
        names = list(dict.fromkeys(call.name for call in run.tool_calls))
        happened = f"finish reason was 'stop', but the agent called {', '.join(names[:_MOST_TOOLS])}"
        advice = "Give a prompt that needs no tools by --prompt, and see what those calls did"
        return warned("end", happened, advice, **values)
    if not run.reply.strip():
        advice = "Look for the run in the deployment's logs: there is nothing in it for assertions on the reply"
        return warned("end", "finish reason was 'stop', but the reply is empty", advice, **values)
    return passed("end", "finish reason was 'stop'", **values)


def check_usage(run: RunResult) -> Finding:
    """Say whether the deployment counts tokens."""
    if run.usage is None:
        happened, advice = "run.done has no usage", "Let the deployment report it: without it max_tokens fails"
        return warned("usage", happened, advice)
    used = run.usage
    estimated = ", which the deployment estimates" if used.estimated else ""
    happened = f"{used.input_tokens} tokens in, {used.output_tokens} out{estimated}"
    return passed("usage", happened, **used.model_dump(exclude={"cost_usd", "model_calls"}))


def check_cost(run: RunResult) -> Finding:
    """Say whether the deployment knows its price."""
    if run.usage is None or run.usage.cost_usd is None:
        advice = "Let the deployment report costUsd, or say unknown_cost: skip in suites that limit the cost"
        return warned("cost", "run.done has no cost, so max_cost_usd fails", advice)
    return passed("cost", f"${run.usage.cost_usd:.6f}", cost_usd=run.usage.cost_usd)
