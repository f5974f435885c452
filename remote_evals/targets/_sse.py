"""The event stream of a turn: bytes in, events out, a network chunk at a time.

Any shape of stream that the WHATWG format allows goes through httpx-sse. The one shape that every `/chat` server
sends, a single `data: ` line a frame, is split here in one go: through httpx-sse alone an event costs several times
as much (see tests/benchmarks).
"""

import codecs
import json
from collections.abc import AsyncGenerator, AsyncIterable
from contextlib import aclosing
from typing import Any

import httpx
from httpx_sse import EventSource

from ..events import Event, parse_event

MAX_FRAME_CHARS = 16 * 1024 * 1024
MAX_DEPTH = 100

_EVENT_STREAM = {"content-type": "text/event-stream"}


class MalformedStreamError(Exception):
    """The bytes are not a stream of events; the message says what they are instead."""


async def read_events(response: httpx.Response) -> AsyncGenerator[list[Event], None]:
    """Yield the events of each network chunk, together; a chunk without a whole event, as of keep-alives, yields none.

    Raises `MalformedStreamError` for a frame that is not a JSON object, and for one of more than 16 Mi characters.
    """
    async with aclosing(_read_frames(response)) as chunks:
        async for frames in chunks:
            events, mistake = _parse_frames(frames)
            if events:
                yield events
            if mistake:
                raise mistake


async def _read_frames(response: httpx.Response) -> AsyncGenerator[str, None]:
    """Cut the text after its last blank line: what is yielded are whole frames, with LF as line end."""
    # Always UTF-8, whatever the charset parameter says, and without the byte-order mark that httpx-sse would keep.
    decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
    # The bare stream takes less memory than httpx's iterators, but does not decompress.
    chunks = response.aiter_bytes() if "content-encoding" in response.headers else _raw(response)
    pending, after_cr = "", False
    async for chunk in chunks:
        text = decoder.decode(chunk)
        if after_cr:
            text = text.removeprefix("\n")
        after_cr = text.endswith("\r")
        if "\r" in text:
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        searched = max(len(pending) - 1, 0)
        pending += text
        if (end := pending.rfind("\n\n", searched)) >= 0:
            yield pending[: end + 2]
            pending = pending[end + 2 :]
        if len(pending) > MAX_FRAME_CHARS:
            raise MalformedStreamError(f"a single event is longer than {MAX_FRAME_CHARS} characters")


def _raw(response: httpx.Response) -> AsyncIterable[bytes]:
    assert isinstance(response.stream, httpx.AsyncByteStream)  # noqa: S101 - an async client made it
    return response.stream


def _split_frames(frames: str) -> list[str]:
    """Return the data of each frame."""
    if frames.startswith("data: "):
        datas = frames[6:-2].split("\n\ndata: ")
        if frames.count("\n") == 2 * len(datas):
            return datas
    source = EventSource(httpx.Response(200, headers=_EVENT_STREAM, text=frames))
    return [frame.data for frame in source.iter_sse()]


def _parse_frames(frames: str) -> tuple[list[Event], MalformedStreamError | None]:
    """Return the events up to the first frame that is none, and what is wrong with that."""
    events: list[Event] = []
    try:
        events.extend(_parse_event(data) for data in _split_frames(frames) if data)
    except MalformedStreamError as mistake:
        return events, mistake
    return events, None


def _parse_event(data: str) -> Event:
    try:
        frame = _parse_json(data)
    except (ValueError, RecursionError) as error:
        raise MalformedStreamError(f"an event is not JSON ({error}): {_start_of(data)}") from error
    if not isinstance(frame, dict):
        raise MalformedStreamError(f"an event is not a JSON object: {_start_of(data)}")
    if data.count("{") + data.count("[") > MAX_DEPTH and _depth(frame) > MAX_DEPTH:
        raise MalformedStreamError(f"an event is nested more than {MAX_DEPTH} deep: {_start_of(data)}")
    return parse_event(frame)


def _parse_json(data: str) -> Any:
    """Return the value; `raw_decode` takes half the time of `decode`, which allows white space around."""
    try:
        value, end = _DECODER.raw_decode(data)
    except ValueError:
        return _DECODER.decode(data)
    return value if end == len(data) else _DECODER.decode(data)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON value")


# The standard library's decoder, since the faster ones refuse the lone surrogates that models do send.
_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)


def _depth(value: Any) -> int:
    """Return how deep a value is nested, without recursion."""
    level, depth = [value], 0
    while level:
        depth += 1
        containers = [item for item in level if isinstance(item, dict | list)]
        level = [part for item in containers for part in (item.values() if isinstance(item, dict) else item)]
    return depth


def _start_of(data: str) -> str:
    start = " ".join(data[:200].split())
    return repr(start[:80] + ("…" if len(start) > 80 else ""))
