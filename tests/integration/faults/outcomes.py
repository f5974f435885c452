"""Runs the fault matrix: each row as a case, twelve at a time, against one fake server."""

import asyncio
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fake_server import FakeServer, RecordedRequest, Script
from remote_evals import EvalCase, EvalReport, EvalResult, EvalRunner, RemoteTarget
from tests.integration.faults.matrix import ASKED, REPLY, TOKEN, Strike, make_limits
from tests.integration.faults.network import Scenario

_AT_ONCE = 12
_HELLO = "hello"
_ARGS = {"orderId": "41"}
_TOOL = {"name": "lookup_order", "args": _ARGS, "result": {"status": "shipped"}}
_CHECKS = {
    "expected_tools": [{"name": "lookup_order", "args": _ARGS, "outcome": "ok"}],
    "forbidden_tools": ["issue_refund"],
    "must_contain": "shipped",
}


@dataclass(frozen=True)
class RowResult:
    """The result of one row; `sent` is how often the deployment got the request with the fault."""

    report: EvalReport
    sent: int = 0

    @property
    def result(self) -> EvalResult:
        """The result of the only case."""
        [result] = self.report.results
        return result


def make_script(strikes: Iterable[Strike]) -> Script:
    """Return a script that answers the name of a strike with its fault, and everything else without one."""
    return Script.model_validate({"replies": [*map(_reply_to, strikes), {"steps": _steps(approval=False)}]})


def make_case(strike: Strike) -> dict[str, Any]:
    """Return the case that meets a strike, with the same checks on each turn."""
    prompt = {"prompt": str(strike)}
    turns = {
        "the first turn": [{**prompt, **_CHECKS}],
        "a later turn": [{"prompt": _HELLO, **_CHECKS}, {**prompt, **_CHECKS}],
        "a decision": [prompt, {"approve": True, **_CHECKS}],
    }
    return {"name": str(strike), "turns": turns[strike.request]}


async def run_strikes(strikes: Mapping[str, Strike]) -> dict[str, RowResult]:
    """Return the result of each strike, by name."""
    busy = asyncio.Semaphore(_AT_ONCE)
    with FakeServer(make_script(strikes.values())) as server:

        async def run(strike: Strike) -> EvalReport:
            target = RemoteTarget(server.url, TOKEN, limits=make_limits(strike.entry.timer))
            async with busy:
                return await EvalRunner(target).arun(EvalCase.model_validate(make_case(strike)))

        reports = await asyncio.gather(*map(run, strikes.values()))
        requests = server.requests
    return {
        name: RowResult(report, _count(requests, report.results[0], strikes[name]))
        for name, report in zip(strikes, reports, strict=True)
    }


async def run_scenario(scenario: Scenario, folder: Path) -> RowResult:
    """Return the result of a scenario, which may keep files in `folder`."""
    case = EvalCase.model_validate({"name": "a", "turns": scenario.turns})
    async with scenario.open(folder) as target:
        return RowResult(await EvalRunner(target).arun(case))


def _reply_to(strike: Strike) -> dict[str, Any]:
    when = {"matches": f"^{re.escape(str(strike))}$"}
    steps = _steps(approval=strike.request == "a decision")
    return {"when": when, "steps": steps, "fault": strike.struck, **(strike.entry.script or {})}


def _steps(*, approval: bool) -> list[dict[str, Any]]:
    return [{"text": ASKED, "tools": [{**_TOOL, "approval": approval}]}, {"text": REPLY}]


def _count(requests: Iterable[RecordedRequest], result: EvalResult, strike: Strike) -> int:
    if strike.request == "a decision":
        return sum(f"/{result.session_id}/approvals/" in request.path for request in requests)
    return sum(request.path == "/chat" and request.body["input"] == str(strike) for request in requests)
