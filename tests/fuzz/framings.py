"""Bodies as HTTP carries them: validly, unusually and wrongly."""

from random import Random

Framing = tuple[list[bytes], list[bytes]]
"""Header lines, and the parts in which the body is sent."""

_CHUNKED = b"transfer-encoding: chunked"
_LAST_CHUNK = b"0\r\n\r\n"


def cut(data: bytes, rng: Random) -> list[bytes]:
    """Return the bytes in up to four parts."""
    places = sorted(rng.randrange(len(data) + 1) for _ in range(rng.randrange(4)))
    return [data[start:end] for start, end in zip([0, *places], [*places, len(data)], strict=True)]


def frame(body: bytes, rng: Random) -> Framing:
    """Return a body in chunks, with its length, or ended by the connection."""
    chunks, parts = [*_to_chunks(body, rng), _LAST_CHUNK], cut(body, rng)
    return rng.choice(
        [([_CHUNKED], chunks), ([b"content-length: %d" % len(body)], parts), ([b"connection: close"], parts)]
    )


def chunk_oddly(body: bytes, rng: Random) -> Framing:
    """Return a body in chunks with an unusual end, or without one."""
    last = rng.choice([b"", b"0\r\n", b"0\r\nx-trailer: \xff\r\n\r\n", b"000\r\n\r\n", b"0;a=b\r\n\r\n"])
    return [_CHUNKED], [*_to_chunks(body, rng), last]


def frame_wrongly(body: bytes, rng: Random) -> Framing:
    """Return a body whose end is undefined."""
    return rng.choice([_chunk_wrongly, _give_wrong_length, _frame_twice])(body, rng)


def _to_chunks(body: bytes, rng: Random) -> list[bytes]:
    return [b"%x\r\n%b\r\n" % (len(part), part) for part in cut(body, rng) if part]


def _chunk_wrongly(body: bytes, rng: Random) -> Framing:
    size = rng.choice([b"zz", b"-5", b"", b"f" * 17, b"0x5", b"5 ", b"5;" + b"x" * 500, b"%x" % (len(body) + 9), b"1"])
    chunks = _to_chunks(body, rng)
    chunks.insert(rng.randrange(len(chunks) + 1), size + b"\r\n" + body[:5] + b"\r\n")
    return [_CHUNKED], [*chunks, _LAST_CHUNK]


def _give_wrong_length(body: bytes, rng: Random) -> Framing:
    size = b"%d" % len(body)
    odd = [b"9" * 400, b"-1", b"", b"1e3", b"+" + size, size + b", 1", size + b"\r\ncontent-length: 1"]
    return [b"content-length: " + rng.choice(odd)], cut(body, rng)


def _frame_twice(body: bytes, rng: Random) -> Framing:
    """Return a body framed in two ways at once, or in an unknown coding."""
    coding = rng.choice([b"chunked\r\ncontent-length: 5", b"gzip, chunked", b"chunked, chunked", b"identity", b"\xff"])
    return [b"transfer-encoding: " + coding], [*_to_chunks(body, rng), _LAST_CHUNK]
