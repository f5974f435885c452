"""What the runner runs: a named test that is given a `t`, wherever it was written."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from .context import EvalContext


@dataclass(frozen=True, slots=True)
class Eval:
    """One case that can be run. `run` sends and asserts through its `t`; `timeout_s` None leaves it to the runner."""

    name: str
    run: Callable[[EvalContext], Awaitable[None]]
    tags: tuple[str, ...] = ()
    suite: str = ""
    file: str = ""
    timeout_s: float | None = None
