"""Any bytes, cut anywhere, give the same run, tested without a socket and far more often."""

from itertools import pairwise
from random import SystemRandom

import pytest

from remote_evals import RunResult
from remote_evals.protocols.chat import CHAT
from remote_evals.protocols.run_builder import RunBuilder
from remote_evals.transport.limits import SizeLimits

from .bounds import REDACTOR, assert_reports_fit, make_report, read_scrubbed_end
from .streams import make_random, make_stream

# Seeds are new in every run; a failure notes its seed.
FIRST_SEED = SystemRandom().getrandbits(32)
STREAMS = 1_000
REPORTED = 20


def build_run(stream: bytes, cuts: list[int]) -> RunResult:
    """Return the run of a stream that arrives in pieces, read up to its end."""
    decoder = CHAT.open_reader(REDACTOR.scrub, SizeLimits().frame_bytes)
    run = RunBuilder(CHAT.open_order(REDACTOR.scrub), scrub=REDACTOR.scrub)
    for start, end in pairwise([0, *sorted(cuts), len(stream)]):
        for event in decoder.feed(stream[start:end]):
            run.add(event, at_ms=0.0)
        if run.is_over or decoder.problem:
            break
    decoder.finish()
    result: RunResult = REDACTOR.scrub_value(run.result(total_ms=1.0))
    if run.order.is_ambiguous:
        result = result.model_copy(update={"finish_reason": None})
    # How much is read after the end of a run, and so what is warned of, depends on how it arrives.
    return result.model_copy(update={"warnings": ()}) if run.done or run.is_over else result


@pytest.mark.parametrize("block", range(6))
def test_any_bytes(block: int) -> None:
    """No bytes raise, cutting them anywhere changes nothing, and the run ends as its first `run.done` says."""
    for seed in range(FIRST_SEED + block * STREAMS, FIRST_SEED + (block + 1) * STREAMS):
        rng = make_random(seed)
        stream = make_stream(rng)
        try:
            whole = build_run(stream, [])
            assert build_run(stream, [rng.randrange(len(stream) + 1) for _ in range(rng.randrange(1, 6))]) == whole
            assert whole.finish_reason == read_scrubbed_end(stream)
            if seed % REPORTED == 0:
                assert_reports_fit(make_report(whole, whole))
        except Exception as failure:
            failure.add_note(f"The stream is make_stream(make_random({seed})): {stream!r}")
            raise
