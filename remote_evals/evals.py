"""What the runner runs: a named test that is given a `t`, wherever it was written."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .context import EvalContext
from .targets._base import Target


@dataclass(frozen=True, slots=True)
class Eval:
    """One case that can be run: `run` sends and asserts through its `t`.

    `timeout_s` limits the case in seconds, 0 sets no limit; None leaves that to the runner, and so does a `target` of
    None.
    """

    name: str
    run: Callable[[EvalContext], Awaitable[None]]
    tags: tuple[str, ...] = ()
    suite: str = ""
    file: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    timeout_s: float | None = None
    target: Target | None = None
