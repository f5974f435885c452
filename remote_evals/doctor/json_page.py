"""The findings as JSON, format 1. Fields may be added to it; none is renamed or removed without a new `format_version`.

The text is ASCII. Times ending in `_ms` are milliseconds, `_usd` is US dollars. A number that is not finite is the
string "NaN", "Infinity" or "-Infinity".

Top:
    format_version  1
    tool_version    the version of remote-evals
    started_at      ISO 8601, UTC
    target          the deployment, without userinfo and query
    fit             whether nothing failed
    summary         how many findings have each status: pass, warn, fail, not_checked
    error_code      why no turn, or not every turn, could be judged: a code as of the reports of `run`, or null
    session_id, trace_id   of the first turn, to find it in the deployment's logs; null when it was not sent
    findings        one object a check, always all of them, in the order of the page

Each of `findings`:
    check           dns, tcp, tls, health, turn, http, compression, streaming, silence, times, order, end, usage, cost,
                    memory, transcript, no_token, wrong_token
    status          "pass", "warn", "fail" or "not_checked"
    happened        what was seen, or why nothing was looked at
    advice          what to do, "" when there is nothing to do
    values          the numbers and names behind it, {} for none:
        dns         addresses
        tcp         address, port, connect_ms
        tls         version, offers_http2, issuer, days_left (whole days)
        health      status, elapsed_ms
        turn        status, events (their number)
        http        version
        compression content_encoding
        streaming   produced_span_ms: from the first to the last timestamp of the events; held_back_ms: by how much the
                    most and the least delayed event differ
        silence     longest_gap_ms, keep_alives: those in that gap
        times       headers_ms, first_event_ms, first_text_ms (each null for what never came), total_ms
        order       warnings
        end         finish_reason, tools: the names of those that were called
        usage       input_tokens, output_tokens, total_tokens, estimated
        cost        cost_usd
        transcript  messages (their number)
        no_token, wrong_token   status of the answer
    A finding for which a request failed has the `code` of that failure in its values instead.
"""

from datetime import datetime
from typing import get_args

from .._version import __version__
from ..core.json_values import render_json_text
from ._finding import Checkup, Status

FORMAT_VERSION = 1


def render_json_page(checkup: Checkup, started_at: datetime) -> str:
    """Return the findings as JSON; whatever the deployment sent, it is valid and ASCII."""
    document = {
        "format_version": FORMAT_VERSION,
        "tool_version": __version__,
        "started_at": started_at.isoformat(),
        "target": checkup.target,
        "fit": checkup.is_fit,
        "summary": {status: checkup.count(status) for status in get_args(Status)},
        "error_code": checkup.error_code,
        "session_id": checkup.session_id,
        "trace_id": checkup.trace_id,
        "findings": checkup.findings,
    }
    return render_json_text(document)
