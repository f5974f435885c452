"""What the runner runs: a named test that gets a `t`, from any source, and how often it runs and must pass."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..judging import Judge
from ..targets import Target
from .context import EvalContext


# Compared by identity: the runner counts the runs of each eval, and metadata has no hash.
@dataclass(frozen=True, slots=True, eq=False)
class Eval:
    """One case that can be run: `run` sends and asserts through its `t`.

    `group` is the name of the eval in code that the case belongs to, and `place` the file and line of that eval.
    `timeout_s` limits a run in seconds; 0 sets no limit. If `timeout_s`, `target` or `judge` is None, the runner's
    own applies. The case runs `repeat` times, or as often as the runner says if None, and passes when `pass_at` of its
    runs do, or all of them if None.
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


def find_repeat_problem(repeat: int | None, pass_at: int | None) -> str | None:
    """Return what is wrong with the number of runs and of those that must pass, or None if nothing is."""
    if repeat is not None and repeat < 1:
        return f"repeat must be at least 1, got {repeat}"
    if pass_at is not None and pass_at < 1:
        return f"pass_at must be at least 1, got {pass_at}"
    if pass_at is not None and pass_at > (repeat or 1):
        return f"pass_at {pass_at} can never be reached by {repeat or 1} run(s); raise repeat, or lower pass_at"
    return None
