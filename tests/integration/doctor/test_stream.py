"""What `doctor` finds in the streams of a healthy deployment and of faulty ones."""

import re
from collections.abc import Sequence
from pathlib import Path

from remote_evals import Limits
from remote_evals.doctor import Diagnosis, Finding, render_findings, render_head, render_verdict
from tests.contract.replay import RUN_DONE, Connection
from tests.serving.certificates import Authority
from tests.serving.deployments import PATIENT, listen, serve
from tests.serving.diagnosis import (
    BEARER,
    PROBE,
    RECALL,
    TOKEN,
    Agent,
    assert_broken_off,
    examine_at,
    find,
    statuses,
)
from tests.unit.reporters.report_samples import assert_snapshot

VOLATILE = {
    r"evals \d[\w.]*": "evals <version>",
    r"127\.0\.0\.1:\d+": "127.0.0.1:<port>",
    r"\b\d+(\.\d+)?m?s\b": "<time>",
    r"eval-[0-9a-f]{24}": "<session>",
    r"\b[0-9a-f]{32}\b": "<trace>",
    r"trustme[\w. ]*": "<authority>",
    r"\d+ day": "<days> day",
}


def render_page(diagnosis: Diagnosis, reported: Sequence[Finding]) -> str:
    """Return the page, with a placeholder for each value that changes between runs."""
    lines = [line for finding in reported for line in render_findings([finding])]
    all_lines = [*render_head(diagnosis.target), *lines, *render_verdict(diagnosis)]
    page = "".join(f"{line.plain}\n" for line in all_lines)
    for pattern, placeholder in VOLATILE.items():
        page = re.sub(pattern, placeholder, page)
    return page


async def test_a_deployment_that_is_well(tmp_path: Path) -> None:
    """The page of a deployment with TLS, tokens, memory, usage and cost is as in the snapshot."""
    authority, agent = Authority(tmp_path), Agent(BEARER)
    async with agent.serve(authority.certify("127.0.0.1")) as url:
        diagnosis, reported = await examine_at(url, TOKEN, ca_bundle=authority.bundle)
    assert_snapshot("doctor.txt", render_page(diagnosis, reported))
    assert (diagnosis.is_fit, diagnosis.error_code) == (True, None)
    assert agent.turns == [(PROBE.first, BEARER), (PROBE.second, BEARER)]


async def test_a_page_that_is_no_agent() -> None:
    """A URL that answers with HTML fails by its content type, and access is not checked."""
    with serve(fault="html") as server:
        diagnosis, reported = await examine_at(server.url, TOKEN)
    found = {finding.check: finding for finding in reported}
    assert_broken_off(found, "turn", "first turn")
    assert "the answer is text/html, not an event stream" in found["turn"].happened
    assert diagnosis.error_code == "REMOTE_STREAM"


async def test_a_stream_that_breaks() -> None:
    """A turn that breaks fails, and the finding says where it broke."""
    with serve({"text": "one two", "fault": {"name": "cut", "after": 3}}) as server:
        found = await find(server.url)
    assert_broken_off(found, "turn", "first turn")
    assert "after text.delta" in found["turn"].happened


async def test_buffering_is_a_warning() -> None:
    """Events that a proxy holds back until the end are a warning, found by their timestamps."""
    slow = {"text": "a b c d e f", "delay": "80ms", "fault": "buffered"}
    with serve(RECALL, slow) as server:
        found = await find(server.url)
    assert found["streaming"].status == "warn"
    assert "events came all at the end" in found["streaming"].happened


async def test_streaming_passes_where_nobody_holds_events_back() -> None:
    """Events that come as they are produced pass, in a run long enough to tell."""
    with serve(RECALL, {"text": "a b c d e f g h", "delay": "100ms"}) as server:
        found = await find(server.url)
    assert found["streaming"].status == "pass", found["streaming"].happened


async def test_compression_is_a_warning() -> None:
    """A compressed stream can be read, and is a warning."""
    with serve(RECALL, {"text": "noted", "fault": "compressed"}) as server:
        found = await find(server.url)
    assert statuses(found, "compression", "end", "memory") == ["warn", "pass", "pass"]


async def test_keep_alives_are_counted_in_the_longest_gap() -> None:
    """The finding on silence counts the keep-alives in the longest gap."""
    quiet = {"text": "noted", "fault": {"name": "keep-alives", "after": 1, "every": "10ms", "for": "100ms"}}
    with serve(RECALL, quiet) as server:
        found = await find(server.url)
    assert found["silence"].values["keep_alives"] > 0
    assert found["silence"].values["longest_gap_ms"] > 50


async def test_http_1_0_is_a_warning() -> None:
    """An HTTP/1.0 answer is read to its end, and is a warning."""
    head = b"HTTP/1.0 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"

    async def answer(connection: Connection) -> None:
        await connection.send([head, RUN_DONE])

    async with listen(answer) as host:
        found = await find(f"http://{host}")
    assert statuses(found, "turn", "http") == ["pass", "warn"]


async def test_what_is_odd_in_the_protocol_is_a_warning() -> None:
    """The protocol warnings of the run are on the page."""
    with serve(RECALL, {"text": "noted", "fault": {"name": "seq-gap", "after": 2}}) as server:
        found = await find(server.url)
    assert found["order"].status == "warn"
    assert "missing" in found["order"].happened


async def test_a_limit_that_runs_out() -> None:
    """If a deployment does not answer, the finding gives the limit, and the advice names its option."""
    limits = Limits(connect_s=PATIENT.connect_s, headers_s=0.2)
    with serve({"text": "x", "fault": "no-headers"}) as server:
        found = await find(server.url, limits=limits)
    assert_broken_off(found, "turn", "first turn")
    assert "no response headers within 200ms" in found["turn"].happened
    assert "--headers-timeout" in found["turn"].advice
