"""Checks that the client stays correct over 20,000 cases, one in twenty of which meets a fault.

Every case must end with the outcome of its fault, and every request must be sent the expected number of times: what may
never be sent twice never is. Memory, descriptors and tasks must not grow. These limits do not depend on the machine.
"""

import sys
from collections import Counter
from collections.abc import Iterator

from .processes import Figures, measure_module, pin_to_core
from .soak_client import MAX_SHOWN
from .soak_plan import count_requests, plan_batches
from .soak_server import serve_soak
from .table import Row

_SEED = "20000 cases"
_BATCHES = 10
_SIZE = 2_000
_LIMIT_S = 600
_GROWTH_MIB = 20


def measure_soak() -> Iterator[Row]:
    """Measure many cases, some of them with faults of every kind."""
    pin_to_core(-1)
    with serve_soak() as server:
        pin_to_core(0)
        arguments = (server.url, _SEED, str(_BATCHES), str(_SIZE))
        figures = measure_module("soak_client", *arguments, limit_s=_LIMIT_S)
    expected = count_requests(plan_batches(_SEED, _BATCHES, _SIZE))
    wrong = list(find_wrong_requests(server.requests, expected))
    for text in wrong[:MAX_SHOWN]:
        print(text, file=sys.stderr)
    yield from _make_rows(figures, len(wrong))


def _make_rows(figures: Figures, wrong: int) -> Iterator[Row]:
    cases, growth = _BATCHES * _SIZE, figures["last_mib"] - figures["first_mib"]
    what = f"{cases:,} cases"
    yield Row(f"{what}: speed", f"{cases / figures['seconds']:,.0f} /s", f"{figures['seconds']:.0f} s in all")
    yield _exact(f"{what}: unexpected outcomes", figures["unexpected"])
    yield _exact(f"{what}: requests sent more or less often", wrong)
    yield Row(
        f"{what}: memory in the end",
        f"{figures['last_mib']:.0f} MiB",
        f"after {_SIZE:,}: {figures['first_mib']:.0f} MiB",
        target=f"<= {_GROWTH_MIB} MiB more",
        ok=growth <= _GROWTH_MIB,
    )
    yield _exact(f"{what}: descriptors left open", figures["files"])
    yield _exact(f"{what}: tasks left", figures["tasks"])


def find_wrong_requests(got: Counter[str], expected: Counter[str]) -> Iterator[str]:
    """Yield a line for each request that the server got more or less often than expected."""
    for name in got | expected:
        if got[name] != expected[name]:
            yield f"{name}: expected {expected[name]} request(s), got {got[name]}"


def _exact(what: str, measured: float) -> Row:
    return Row(what, f"{measured:.0f}", target="0", ok=measured == 0)
