"""W3C trace context, so that an operator finds a run in the deployment's own traces."""

import secrets
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TraceContext:
    """One request's place in a trace: 32 and 16 lower-case hex digits, neither all zero."""

    trace_id: str
    span_id: str

    @property
    def traceparent(self) -> str:
        """The header's value, version 00, sampled: https://www.w3.org/TR/trace-context/#traceparent-header."""
        return f"00-{self.trace_id}-{self.span_id}-01"


def new_trace() -> TraceContext:
    """Return a fresh random trace."""
    return TraceContext(secrets.token_hex(16), secrets.token_hex(8))
