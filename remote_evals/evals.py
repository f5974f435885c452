"""What the runner runs: a named test that is given a `t`, wherever it was written."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .context import EvalContext
from .judging import Judge
from .targets import Target


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
