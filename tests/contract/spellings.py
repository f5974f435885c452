"""Other ways to write a stream of the reference server that change nothing of its meaning."""

import re
from collections.abc import Callable
from itertools import pairwise

from tests.contract.event_streams import BOM


def with_data_as(prefix: bytes, body: bytes) -> bytes:
    """Return the body with another prefix for its data lines."""
    return re.sub(rb"^data: ", prefix, body, flags=re.MULTILINE)


SPELLINGS: dict[str, Callable[[bytes], bytes]] = {
    "LF": lambda body: body,
    "CRLF": lambda body: body.replace(b"\n", b"\r\n"),
    "CR": lambda body: body.replace(b"\n", b"\r"),
    "mixed line ends": lambda body: body.replace(b"\n\n", b"\r\n\n").replace(b"}\n", b"}\r"),
    "byte-order mark": lambda body: BOM + body,
    "no space after the colon": lambda body: with_data_as(b"data:", body),
    "several data lines": lambda body: body.replace(b'\ndata: {"', b'\ndata: {\ndata:\ndata: "'),
    "comments": lambda body: b": hello\n\n" + body.replace(b"\n\n", b"\n: keep-alive\n\n:\n\n"),
    "event names": lambda body: body.replace(b'data: {"', b'event: message\ndata: {"'),
    "unknown fields": lambda body: with_data_as(b"id: 7\nretry: 10\nfoo: bar\nbaz\ndata: ", body),
    "keep-alives after an id": lambda body: b"id: 7\n\n" + body.replace(b"\n\n", b"\n\n: keep-alive\n\n"),
    "empty data between": lambda body: b"data\n\n" + body.replace(b"\n\n", b"\n\ndata:\n\n"),
    "more blank lines": lambda body: b"\n\n" + body.replace(b"\n\n", b"\n\n\n\n"),
    "all of it": lambda body: BOM + with_data_as(b": x\nid: 1\ndata:", body).replace(b"\n", b"\r\n"),
}


def cut(body: bytes, places: set[int]) -> list[bytes]:
    """Return the body in chunks that end at these places; places beyond its end are ignored."""
    ends = [0, *sorted(place for place in places if place < len(body)), len(body)]
    return [body[start:end] for start, end in pairwise(ends)]
