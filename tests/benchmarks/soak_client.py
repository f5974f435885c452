"""Many cases against one deployment: `python -m tests.benchmarks.soak_client URL SEED BATCHES SIZE` prints the figures.

The cases run in batches of `SIZE`, and each batch's report is dropped after its check, so that results do not count as
growth. `first_mib` is the memory of this process after the first batch, `last_mib` after the last; `files` is how many
more descriptors are open at the end than at the start, and `tasks` how many tasks are left. `unexpected` counts the
outcomes that differ from the plan, and the errors in the totals of the reports.
"""

import asyncio
import gc
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from remote_evals import EvalReport, EvalResult, EvalRunner, Limits, RemoteTarget

from .processes import Figures, resident_bytes
from .soak_plan import Planned, plan_batches

MAX_SHOWN = 20

_CONCURRENCY = 100
_FILES = Path("/proc/self/fd")

# Long enough that no case times out, however busy the machine is.
_LIMITS = Limits(connect_s=60, headers_s=60, first_event_s=60, silence_s=60)


async def run_soak(url: str, seed: str, batches: int, size: int) -> Figures:
    """Run the batches one after another and return the figures; unexpected outcomes are printed on standard error."""
    runner = EvalRunner(RemoteTarget(url, token="token-of-the-soak", limits=_LIMITS), concurrency=_CONCURRENCY)
    files, tasks, started = _count_files(), len(asyncio.all_tasks()), time.perf_counter()
    unexpected, mib = 0, []
    for planned in plan_batches(seed, batches, size):
        found = await _run_batch(runner, planned)
        for text in found[: max(MAX_SHOWN - unexpected, 0)]:
            print(text, file=sys.stderr)
        unexpected += len(found)
        gc.collect()
        mib.append(resident_bytes() / 2**20)
    return {
        "seconds": time.perf_counter() - started,
        "unexpected": unexpected,
        "first_mib": mib[0],
        "last_mib": mib[-1],
        "files": _count_files() - files,
        "tasks": len(asyncio.all_tasks()) - tasks,
    }


async def _run_batch(runner: EvalRunner, planned: Sequence[Planned]) -> list[str]:
    report = await runner.arun([one.case for one in planned])
    return [*_find_unexpected(planned, report.results), *_find_wrong_sums(planned, report)]


def _find_unexpected(planned: Sequence[Planned], results: Sequence[EvalResult]) -> Iterator[str]:
    names = [one.case.name for one in planned]
    if [result.name for result in results] != names:
        yield f"the report has other rows than the plan, or in another order: {len(results)} for {len(names)}"
        return
    for one, result in zip(planned, results, strict=True):
        expected = (one.outcome.status, one.outcome.code, one.outcome.tries)
        got = (result.status, result.error and result.error.code, result.run.retries + 1)
        if got != expected:
            yield f"{result.name}: expected {expected}, got {got}: {result.error or result.failures}"


def _find_wrong_sums(planned: Sequence[Planned], report: EvalReport) -> Iterator[str]:
    expected = Counter(one.outcome.status for one in planned)
    got = Counter({status: report.count(status) for status in ("passed", "failed", "error", "skipped")})
    if +got != expected or report.total_cases != len(planned):
        yield f"the report counts {dict(got)} of {report.total_cases}, expected {dict(expected)}"
    retries = sum(one.outcome.tries - 1 for one in planned)
    if report.retries != retries:
        yield f"the report counts {report.retries} retries, expected {retries}"
    if len({result.session_id for result in report.results}) != len(planned):
        yield "two cases had the same session"


def _count_files() -> int:
    """Return how many descriptors are open; 0 without /proc."""
    return len(list(_FILES.iterdir())) if _FILES.exists() else 0


if __name__ == "__main__":
    url, seed, batches, size = sys.argv[1:]
    print(json.dumps(asyncio.run(run_soak(url, seed, int(batches), int(size)))))
