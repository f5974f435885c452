"""Tools for testing your own evals: an agent that gives scripted answers."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .results import RunResult

ScriptedTurn = str | RunResult | Mapping[str, Any]


def scripted_agent(turns: Sequence[ScriptedTurn]) -> Callable[[], Callable[[str], ScriptedTurn]]:
    """Return a factory of agents that answer each session with these turns, in order, whatever the prompts.

    A turn is what any in-process agent may return: text, a `RunResult` or a mapping. After the last turn the agent
    raises `IndexError`, which ends the run with "error".
    """

    def make() -> Callable[[str], ScriptedTurn]:
        left = list(turns)

        def agent(prompt: str) -> ScriptedTurn:
            if not left:
                raise IndexError(f"the scripted agent has only {len(turns)} turn(s), and was asked {prompt!r}")
            return left.pop(0)

        return agent

    return make
