"""W3C trace context, so that an operator finds a run in the deployment's own traces."""

import secrets
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Trace:
    """A trace that requests may join; its id is 32 lower-case hex digits."""

    trace_id: str

    def new_traceparent(self) -> str:
        """Return the header of one more request, version 00, sampled.

        Source: https://www.w3.org/TR/trace-context/#traceparent-header.
        """
        return f"00-{self.trace_id}-{secrets.token_hex(8)}-01"


def new_trace() -> Trace:
    """Return a fresh random trace."""
    return Trace(secrets.token_hex(16))
