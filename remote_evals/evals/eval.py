"""What the runner runs: a named test that is given a `t`, wherever it was written."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..judging import Judge
from ..targets import Target
from .context import EvalContext


# Each is itself alone: what counts their runs needs no names for them, and metadata has no hash.
@dataclass(frozen=True, slots=True, eq=False)
class Eval:
    """One case that can be run: `run` sends and asserts through its `t`.

    `group` names the eval of which this is one case, where it has several; `place` is the file and line of one in code.
    `timeout_s` limits a run in seconds, 0 sets no limit; None leaves that to the runner, and so do a `target` and a
    `judge` of None. It runs `repeat` times, None as often as the runner says, and passes when `pass_at` of its runs do,
    None for all of them.
    """

    name: str
    run: Callable[[EvalContext], Awaitable[None]]
    group: str = ""
    tags: tuple[str, ...] = ()
    suite: str = ""
    file: str = ""
    place: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    timeout_s: float | None = None
    target: Target | None = None
    judge: Judge | None = None
    repeat: int | None = None
    pass_at: int | None = None


def find_repeat_mistake(repeat: int | None, pass_at: int | None) -> str | None:
    """Return what is wrong with the number of runs and of those that must pass, None for nothing."""
    if repeat is not None and repeat < 1:
        return f"repeat must be at least 1, got {repeat}"
    if pass_at is not None and pass_at < 1:
        return f"pass_at must be at least 1, got {pass_at}"
    if pass_at is not None and pass_at > (repeat or 1):
        return f"pass_at {pass_at} can never be reached by {repeat or 1} run(s); raise repeat, or lower pass_at"
    return None
