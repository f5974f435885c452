"""Responses to a request as bytes: valid, slightly wrong, and not HTTP at all."""

import gzip
import zlib
from dataclasses import dataclass
from random import Random
from typing import Literal

from .framings import chunk_oddly, cut, frame, frame_wrongly
from .heads import HEADERS, STATUS_LINES, TYPES
from .pages import make_error, make_page, make_transcript
from .streams import damage_bytes, load_recording, make_stream

End = Literal["close", "reset", "stay"]

_SHOWN_BYTES = 6_000
_OK = b"HTTP/1.1 200 OK"
_STREAM = b"content-type: text/event-stream"


@dataclass(frozen=True)
class Answer:
    """The parts that are sent, and what then happens to the connection.

    `body` is the content before any framing or compression. `arrives` is the part of it that a client receives, or None
    if that is undefined; unless `is_sound`, a client may also reject all of it.
    """

    parts: tuple[bytes, ...]
    body: bytes
    arrives: bytes | None = None
    is_sound: bool = False
    end: End = "close"

    def __repr__(self) -> str:
        return f"{len(self.sent):,} bytes, then {self.end}: {self.sent[:_SHOWN_BYTES]!r}"

    @property
    def sent(self) -> bytes:
        """All bytes that are sent."""
        return b"".join(self.parts)


PAUSE = Answer((_OK + b"\r\n" + _STREAM + b"\r\n\r\n", load_recording("05_approval_pause")), b"")
"""A turn that pauses for a decision."""


def answer_whole(rng: Random) -> Answer:
    """Return a stream in valid HTTP, so that all of it arrives."""
    body = make_stream(rng)
    lines, parts = frame(body, rng)
    return _make_answer(_OK, [_STREAM, *lines], parts, body, arrives=body, is_sound=True)


def answer_oddly(rng: Random) -> Answer:
    """Return a stream that is compressed, framed in an unusual way, or cut off."""
    return rng.choice([_answer_compressed, _answer_in_odd_chunks, _answer_by_another_length])(rng)


def answer_wrongly(rng: Random) -> Answer:
    """Return a stream whose framing or compression is wrong: a client may wait for more that never comes."""
    body = make_stream(rng)
    lines, parts = frame_wrongly(body, rng)
    if rng.randrange(4) == 0:
        packed = gzip.compress(body)
        lines, parts = frame(rng.choice([damage_bytes(packed, rng), packed[:-9], body, b"packed"]), rng)
        lines.append(b"content-encoding: " + rng.choice([b"gzip", b"deflate"]))
    return _make_answer(_OK, [_STREAM, *lines], parts, body)


def answer_with_any_head(rng: Random) -> Answer:
    """Return an answer with odd status line and headers."""
    body = rng.choice([make_stream, make_page, make_error])(rng)
    kind = _STREAM if rng.randrange(3) else b"content-type: " + rng.choice(TYPES)
    more, parts = frame(body, rng)
    lines = [kind, *rng.sample(HEADERS, rng.randrange(3)), *more]
    rng.shuffle(lines)
    return _make_answer(rng.choice(STATUS_LINES), lines, parts, body)


def answer_with_transcript(rng: Random) -> Answer:
    """Return an answer that may be a transcript."""
    body = make_transcript(rng)
    lines, parts = frame(body, rng)
    return _make_answer(_OK, [b"content-type: application/json", *lines], parts, body)


def answer_damaged(rng: Random) -> Answer:
    """Return an answer of any kind with some of its bytes damaged, anywhere in it."""
    answer = rng.choice([answer_whole, answer_wrongly, answer_with_any_head])(rng)
    sent = answer.sent
    for _ in range(rng.randrange(1, 5)):
        sent = damage_bytes(sent, rng)
    if rng.randrange(10) == 0:
        sent = rng.choice([sent[: rng.randrange(len(sent) + 1)], sent * 2, rng.randbytes(rng.randrange(200))])
    return Answer(tuple(cut(sent, rng)), answer.body, end=rng.choice(["close", "close", "reset"]))


def answer_hanging(rng: Random) -> Answer:
    """Return an answer that stops somewhere while the connection stays open."""
    answer = rng.choice([answer_whole, answer_wrongly, answer_with_any_head])(rng)
    sent = answer.sent[: rng.randrange(len(answer.sent) + 1)] if rng.randrange(2) else answer.sent
    return Answer(tuple(cut(sent, rng)), answer.body, end="stay")


def _answer_compressed(rng: Random) -> Answer:
    body = make_stream(rng)
    name, packed = rng.choice([(b"gzip", gzip.compress(body)), (b"DEFLATE", zlib.compress(body))])
    lines, parts = frame(packed, rng)
    lines.append(b"content-encoding: " + name)
    return _make_answer(_OK, [_STREAM, *lines], parts, body, arrives=body, is_sound=True)


def _answer_in_odd_chunks(rng: Random) -> Answer:
    body = make_stream(rng)
    lines, parts = chunk_oddly(body, rng)
    return _make_answer(_OK, [_STREAM, *lines], parts, body, arrives=body, is_sound=True)


def _answer_by_another_length(rng: Random) -> Answer:
    body = make_stream(rng)
    length = rng.choice([rng.randrange(len(body) + 1), len(body) + 1 + rng.randrange(1_000), 10**18])
    lines, parts = [b"content-length: %d" % length], cut(body, rng)
    # aiohttp rejects the whole response if more than the given length comes in the same packet.
    is_sound = length >= len(body)
    return _make_answer(_OK, [_STREAM, *lines], parts, body, arrives=body[:length], is_sound=is_sound)


def _make_answer(
    status_line: bytes,
    lines: list[bytes],
    parts: list[bytes],
    body: bytes,
    *,
    arrives: bytes | None = None,
    is_sound: bool = False,
) -> Answer:
    head = b"".join(line + b"\r\n" for line in [status_line, *lines, b""])
    return Answer((head, *parts), body, arrives, is_sound)
