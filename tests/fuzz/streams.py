"""Event streams that no server should send: real ones, damaged, and ones made of odd parts."""

import json
from collections.abc import Callable
from functools import cache
from random import Random
from typing import Any

from tests.contract.facts import RECORDINGS, load_body

from .pieces import LINE_ENDS, ODD_VALUES, PIECES

_FRAME_END = b"\n\n"
_PLACEHOLDER = "\N{SNOWMAN} odd"


def make_random(seed: int | str) -> Random:
    """Return the random generator of a seed."""
    return Random(seed)  # noqa: S311 - nothing that is drawn is a secret


def make_stream(rng: Random) -> bytes:
    """Return the body of an event stream: random bytes, odd parts, or a real stream with up to three defects."""
    kind = rng.randrange(8)
    if kind == 0:
        return rng.randbytes(rng.randrange(100))
    if kind <= 2:
        return b"".join(rng.choice(PIECES) + rng.choice(LINE_ENDS) for _ in range(rng.randrange(20)))
    stream = load_recording(rng.choice(RECORDINGS))
    for _ in range(rng.randrange(1, 4)):
        stream = rng.choice(_DAMAGES)(stream, rng)
    return stream


@cache
def load_recording(name: str) -> bytes:
    """Return a recorded body, read only once."""
    return load_body(name)


def damage_bytes(data: bytes, rng: Random) -> bytes:
    """Return the bytes with some replaced, lost, doubled or added."""
    start = rng.randrange(len(data) + 1)
    end = min(start + rng.choice([1, 1, 1, 2, 16, 300]), len(data))
    piece = rng.choice(
        [b"", data[start:end] * 2, rng.randbytes(end - start), rng.choice(PIECES), b"\n", b"\r", b"\x00"]
    )
    return data[:start] + piece + data[end:]


def _flip_bit(stream: bytes, rng: Random) -> bytes:
    if not stream:
        return b"\n"
    at = rng.randrange(len(stream))
    return stream[:at] + bytes([stream[at] ^ 1 << rng.randrange(8)]) + stream[at + 1 :]


def _cut(stream: bytes, rng: Random) -> bytes:
    return stream[: rng.randrange(len(stream) + 1)]


def _swap_lines(stream: bytes, rng: Random) -> bytes:
    lines = stream.split(b"\n")
    one, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[one], lines[other] = lines[other], lines[one]
    return b"\n".join(lines)


def _repeat_frame(stream: bytes, rng: Random) -> bytes:
    frames = stream.split(_FRAME_END)
    frames.insert(rng.randrange(len(frames)), rng.choice(frames))
    return _FRAME_END.join(frames)


def _drop_frame(stream: bytes, rng: Random) -> bytes:
    frames = stream.split(_FRAME_END)
    del frames[rng.randrange(len(frames))]
    return _FRAME_END.join(frames)


def _mix_streams(stream: bytes, rng: Random) -> bytes:
    frames = stream.split(_FRAME_END)
    for frame in load_recording(rng.choice(RECORDINGS)).split(_FRAME_END):
        if rng.randrange(2):
            frames.insert(rng.randrange(len(frames)), frame)
    return _FRAME_END.join(frames)


def _change_line_ends(stream: bytes, rng: Random) -> bytes:
    return stream.replace(b"\n", rng.choice([b"\r\n", b"\r", b"\n\r"]))


def _put_odd_value(stream: bytes, rng: Random) -> bytes:
    frames = stream.split(_FRAME_END)
    at = rng.randrange(len(frames))
    prefix, _, data = frames[at].partition(b" ")
    try:
        event = json.loads(data)
    except (ValueError, RecursionError):
        return stream
    _change_somewhere(event, rng)
    text = json.dumps(event).replace(json.dumps(_PLACEHOLDER), rng.choice(ODD_VALUES))
    frames[at] = prefix + b" " + text.encode()
    return _FRAME_END.join(frames)


def _change_somewhere(value: Any, rng: Random) -> None:
    """Replace some part of a JSON value, at any depth, with the placeholder of an odd value."""
    while isinstance(value, dict | list) and value:
        key = rng.choice(list(value)) if isinstance(value, dict) else rng.randrange(len(value))
        if not isinstance(value[key], dict | list) or rng.randrange(3) == 0:
            value[key] = _PLACEHOLDER
            return
        value = value[key]


_DAMAGES: list[Callable[[bytes, Random], bytes]] = [
    damage_bytes,
    _flip_bit,
    _cut,
    _swap_lines,
    _repeat_frame,
    _drop_frame,
    _mix_streams,
    _change_line_ends,
    _put_odd_value,
    _put_odd_value,
    _put_odd_value,
]
