"""How a stream is spelled or cut does not change what it says, for any recorded run and any text."""

import json
from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remote_evals.protocols.chat import CHAT
from remote_evals.protocols.events import TextDelta
from remote_evals.protocols.run_builder import RunBuilder
from remote_evals.results import RunResult
from remote_evals.transport.limits import SizeLimits
from tests.contract.decoding import decode_events
from tests.contract.facts import FACTS, RECORDINGS, get_facts, load_body
from tests.contract.spellings import SPELLINGS, cut

BODIES = {name: load_body(name) for name in RECORDINGS}
INDENTS = st.sampled_from([None, 0, 1])
NOISE = st.lists(
    st.sampled_from([":", ": x", "id: 1", "id", "retry: 5", "retry", "foo", "foo: bar", "event: x", "event"]),
    max_size=2,
)
LINE_ENDS = ["\n", "\r", "\r\n"]


def build_run(chunks: Iterable[bytes]) -> RunResult:
    """Return the run that a stream gives."""
    run, decoder = RunBuilder(CHAT.open_order()), CHAT.open_reader(str, SizeLimits().frame_bytes)
    for chunk in chunks:
        for event in decoder.feed(chunk):
            run.add(event, at_ms=0.0)
    assert (decoder.problem, decoder.invalid_utf8_at) == (None, None)
    return run.result(total_ms=0.0)


RUNS = {name: build_run([body]) for name, body in BODIES.items()}


@settings(max_examples=500, deadline=None)
@given(st.sampled_from(RECORDINGS), st.sampled_from(list(SPELLINGS)), st.sets(st.integers(1, 8000), max_size=200))
def test_any_split_of_any_recording_is_the_same_run(name: str, spelling: str, places: set[int]) -> None:
    """However a recorded stream is spelled and cut, it gives the same run as the recorded bytes."""
    run = build_run(cut(SPELLINGS[spelling](BODIES[name]), places))
    assert run == RUNS[name]
    assert get_facts(run) == FACTS[name]


@st.composite
def spelled_frames(draw: st.DrawFn, data: str) -> str:
    """Return a frame with this data, as some server may spell it."""
    lines: list[str] = []
    for part in data.split("\n"):
        lines += draw(NOISE)
        spellings = [f"data: {part}"] if part.startswith(" ") else [f"data: {part}", f"data:{part}"]
        lines.append(draw(st.sampled_from(spellings if part else ["data", *spellings])))
    lines += draw(NOISE)
    frame = "".join(line + draw(st.sampled_from(LINE_ENDS)) for line in lines)
    # LF right after CR would not end another line.
    return frame + draw(st.sampled_from(LINE_ENDS[1:] if frame.endswith("\r") else LINE_ENDS))


@pytest.mark.slow
@settings(max_examples=500, deadline=None)
@given(st.data(), st.lists(st.text(st.characters(codec=None), max_size=12), max_size=4), st.sets(st.integers(1, 400)))
def test_any_text_survives_any_spelling(data: st.DataObject, texts: list[str], places: set[int]) -> None:
    """Any text of a reply comes out unchanged, including lone surrogates and control characters."""
    body = data.draw(st.sampled_from(["", "\ufeff"]))
    for text in texts:
        in_ascii = any("\ud800" <= character <= "\udfff" for character in text) or data.draw(st.booleans())
        frame = json.dumps({"type": "text.delta", "text": text}, ensure_ascii=in_ascii, indent=data.draw(INDENTS))
        body += data.draw(spelled_frames(frame))
    events, decoder = decode_events(cut(body.encode(), places))
    assert events == [TextDelta("text.delta", text=text) for text in texts]
    assert decoder.problem is None
