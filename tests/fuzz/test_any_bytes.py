"""The same without a socket, many times as often: any bytes, cut anywhere, decode and rebuild to the same run."""

from itertools import pairwise
from random import SystemRandom

import pytest

from remote_evals import RunResult
from remote_evals.protocols.chat import CHAT
from remote_evals.protocols.run_builder import RunBuilder
from remote_evals.transport.limits import SizeLimits

from .bounds import REDACTOR, assert_reports_fit, make_report, read_scrubbed_end
from .streams import make_stream, seeded

# New ones in every run; a failure notes the one that it is of.
FIRST_SEED = SystemRandom().getrandbits(32)
STREAMS = 1_000
REPORTED = 20


def rebuild(stream: bytes, cuts: list[int]) -> RunResult:
    """Return the run of a stream that comes in pieces, read as far as its end."""
    decoder = CHAT.open_reader(REDACTOR.scrub, SizeLimits().frame_bytes)
    run = RunBuilder(CHAT.open_order(REDACTOR.scrub), scrub=REDACTOR.scrub)
    for start, end in pairwise([0, *sorted(cuts), len(stream)]):
        for event in decoder.feed(stream[start:end]):
            run.add(event, at_ms=0.0)
        if run.is_over or decoder.mistake:
            break
    decoder.finish()
    rebuilt: RunResult = REDACTOR.scrub_value(run.result(total_ms=1.0))
    if run.order.is_ambiguous:
        rebuilt = rebuilt.model_copy(update={"finish_reason": None})
    # How much is seen, and warned of, behind the end of a run is a matter of how it comes.
    return rebuilt.model_copy(update={"warnings": ()}) if run.done or run.is_over else rebuilt


@pytest.mark.parametrize("block", range(6))
def test_any_bytes(block: int) -> None:
    """No bytes raise; where they are cut changes nothing, and the run ends as its first `run.done` says."""
    for seed in range(FIRST_SEED + block * STREAMS, FIRST_SEED + (block + 1) * STREAMS):
        rng = seeded(seed)
        stream = make_stream(rng)
        try:
            whole = rebuild(stream, [])
            assert rebuild(stream, [rng.randrange(len(stream) + 1) for _ in range(rng.randrange(1, 6))]) == whole
            assert whole.finish_reason == read_scrubbed_end(stream)
            if seed % REPORTED == 0:
                assert_reports_fit(make_report(whole, whole))
        except Exception as failure:
            failure.add_note(f"The stream is make_stream(seeded({seed})): {stream!r}")
            raise
