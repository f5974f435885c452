"""Decodes a whole stream in this process, as a turn does."""

from collections.abc import Iterable

from remote_evals.protocols.base import EventReader
from remote_evals.protocols.chat import CHAT
from remote_evals.protocols.events import Event
from remote_evals.protocols.sse import FrameDecoder, SseFrame
from remote_evals.transport.limits import SizeLimits


def decode_frames(
    chunks: Iterable[bytes], max_bytes: int = SizeLimits().frame_bytes
) -> tuple[list[SseFrame], FrameDecoder]:
    """Return the frames of a stream up to one that is too long, and the decoder that read them."""
    frames: list[SseFrame] = []
    decoder = FrameDecoder(max_bytes)
    for chunk in chunks:
        frames += decoder.feed(chunk)
        if decoder.too_long:
            break
    else:
        decoder.finish()
    return frames, decoder


def decode_events(chunks: Iterable[bytes]) -> tuple[list[Event], EventReader]:
    """Return the events of a stream, and the decoder that read them."""
    decoder = CHAT.open_reader(str, SizeLimits().frame_bytes)
    events = [event for chunk in chunks for event in decoder.feed(chunk)]
    decoder.finish()
    return events, decoder


def make_cuts(body: bytes) -> Iterable[list[bytes]]:
    """Yield the body whole, byte by byte, and cut in two at every byte."""
    yield [body]
    yield [body[at : at + 1] for at in range(len(body))]
    yield from ([body[:at], body[at:]] for at in range(len(body) + 1))
