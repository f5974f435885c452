"""What a paused run waits for: decisions on calls, answers to questions, sign-ins."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, overload

from pydantic import Field

from .data import Data


class SignIn(Data):
    """Where the user must sign in before a run can go on; nothing here follows the URL."""

    provider: str = ""
    url: str = ""


class PendingApproval(Data):
    """A decision, an answer or a sign-in that a paused run waits for.

    `expires_at` is when an approval begins to count as a denial, as the deployment writes it; None if it never does.
    """

    approval_id: str
    tool_call_id: str
    tool: str
    args: dict[str, Any] = Field(default_factory=dict)
    question: dict[str, Any] | None = None
    sign_in: SignIn | None = None
    expires_at: str | None = None


@dataclass(frozen=True)
class PendingApprovals(Sequence[PendingApproval]):
    """The requests that a paused run waits for, at least one, in the order in which they were asked.

    It also has the attributes of a `PendingApproval`: those of its first, which is often the only one.
    """

    requests: tuple[PendingApproval, ...]

    @overload
    def __getitem__(self, index: int) -> PendingApproval: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[PendingApproval, ...]: ...
    def __getitem__(self, index: int | slice) -> PendingApproval | tuple[PendingApproval, ...]:
        return self.requests[index]

    def __len__(self) -> int:
        return len(self.requests)

    def __getattr__(self, name: str) -> Any:
        if name not in PendingApproval.model_fields:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self.requests[0], name)
