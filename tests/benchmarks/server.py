"""A deployment that answers as fast as a socket can, or at a fixed slow speed, and takes no other time of the clients.

`POST /fast/chat` streams all events at once from prepared bytes, each event as an HTTP chunk of its own.
`POST /slow/chat` streams `SLOW_EVENTS` over `SLOW_S` seconds. `POST /held/N/chat` streams as many, and holds the end
back until N such streams are open. As a process it prints its port, and ends when its standard input is closed, so that
it never outlives the process that started it.
"""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from .processes import allow_many_files

SLOW_EVENTS = 10
SLOW_S = 2.0

_HELD_S = 0.5
_BLOCK_BYTES = 64 * 1024
_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n"
_STAMPS = {"runId": "fbcd72a7-a7dc-478e-b810-a352c3797e3a", "timestamp": "2026-11-30T18:40:37.082Z", "v": 1}
_USAGE = {"inputTokens": 5, "outputTokens": 6, "totalTokens": 11, "estimated": False}


@contextmanager
def serve(events: int) -> Iterator[str]:
    """Run the server in a process of its own; `/fast/chat` streams `events` events. Yields its base URL."""
    argv = [sys.executable, "-m", __name__, str(events)]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin
        assert process.stdout
        with process.stdin:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}"


def _frame(event: dict[str, object]) -> bytes:
    return b"data: " + json.dumps({**event, **_STAMPS}, separators=(",", ":")).encode() + b"\n\n"


def _delta(seq: int) -> bytes:
    return _chunk(_frame({"type": "text.delta", "text": f"word {seq % 97} ", "seq": seq}))


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


_START = _chunk(_frame({"type": "run.start", "seq": 0})) + _chunk(_frame({"type": "step.start", "step": 1}))
# `run.done` has no text, so that every client has to join it from the deltas.
_END = (
    _chunk(_frame({"type": "step.done", "step": 1}))
    + _chunk(_frame({"type": "run.done", "finishReason": "stop", "usage": _USAGE}))
    + _chunk(b"event: done\ndata: {}\n\n")
    + _chunk(b"")
)


class Server:
    """The three answers; see the docstring of the module."""

    def __init__(self, events: int) -> None:
        stream = b"".join([_START, *map(_delta, range(events)), _END])
        self._barriers: dict[str, asyncio.Barrier] = {}
        self._blocks = [stream[at : at + _BLOCK_BYTES] for at in range(0, len(stream), _BLOCK_BYTES)]

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the one request of a connection, and close it."""
        try:
            path = await _read_request(reader)
            writer.write(_HEAD)
            match path.split("/")[1:-1]:
                case ["fast"]:
                    await self._answer_fast(writer)
                case ["slow"]:
                    await _stream_slowly(writer, SLOW_S)
                    writer.write(_END)
                case ["held", streams]:
                    await self._answer_held(writer, streams)
                    writer.write(_END)
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the client may leave at `run.done`
        finally:
            writer.close()

    async def _answer_fast(self, writer: asyncio.StreamWriter) -> None:
        for block in self._blocks:
            writer.write(block)
            await writer.drain()

    async def _answer_held(self, writer: asyncio.StreamWriter, streams: str) -> None:
        await _stream_slowly(writer, _HELD_S)
        await self._barriers.setdefault(streams, asyncio.Barrier(int(streams))).wait()
        await asyncio.sleep(_HELD_S)


async def _stream_slowly(writer: asyncio.StreamWriter, seconds: float) -> None:
    now = asyncio.get_running_loop().time
    started = now()
    writer.write(_START)
    for seq in range(SLOW_EVENTS):
        await asyncio.sleep(started + (seq + 1) * seconds / SLOW_EVENTS - now())
        writer.write(_delta(seq))


async def _read_request(reader: asyncio.StreamReader) -> str:
    """Read a request to its end, because closing on an unread body resets the connection. Return its path."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
    await reader.readexactly(int(head.partition("content-length:")[2].partition("\r\n")[0]))
    return head.split(" ", 2)[1]


async def _run(events: int) -> None:
    server = await asyncio.start_server(Server(events).answer, "127.0.0.1", 0, backlog=4096)
    async with server:
        print(server.sockets[0].getsockname()[1], flush=True)
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    allow_many_files()
    asyncio.run(_run(int(sys.argv[1])))
