"""The first 500 cases of the soak test, which `python -m tests.benchmarks --only soak` runs 40 times as long."""

import pytest

from tests.benchmarks.soak import find_wrong_requests
from tests.benchmarks.soak_client import run_soak
from tests.benchmarks.soak_plan import count_requests, plan_batches
from tests.benchmarks.soak_server import serve_soak

PLAN = ("500 cases", 2, 250)


@pytest.mark.slow
async def test_many_cases_with_faults_among_them() -> None:
    """At a concurrency of 100, every case ends as its fault requires, nothing is sent twice, and nothing stays open."""
    with serve_soak() as server:
        figures = await run_soak(server.url, *PLAN)
    assert figures["unexpected"] == 0
    assert not list(find_wrong_requests(server.requests, count_requests(plan_batches(*PLAN))))
    assert figures["files"] <= 0
    assert figures["tasks"] == 0
