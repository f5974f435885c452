"""A server on a free port of this machine that sends exactly the bytes that it is given."""

import asyncio
import json
import socket
import ssl
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from tests.contract.facts import load_body

Bytes = Iterable[bytes]

STREAM_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
LAST_CHUNK = b"0\r\n\r\n"
RUN_DONE = b'data: {"type":"run.done","finishReason":"stop","text":"Hello."}\n\n'
WHOLE_RUN = (STREAM_HEAD, b"%x\r\n%b\r\n" % (len(RUN_DONE), RUN_DONE), LAST_CHUNK)


class Connection:
    """A client and its request, if it sent HTTP: the first line, the header lines as sent, and the body."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.request_line = ""
        self.headers: list[tuple[str, str]] = []
        self.raw_body = b""
        self.body: Any = None
        self._reader = reader
        self._writer = writer

    async def read_request(self) -> None:
        """Read one HTTP request."""
        head = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        self.request_line, *lines = head.rstrip("\r\n").split("\r\n")
        self.headers = [(name, value) for name, value in (line.split(": ", 1) for line in lines)]
        self.raw_body = await self._reader.readexactly(int(self.header("Content-Length") or "0"))
        self.body = json.loads(self.raw_body or "null")

    def header(self, name: str) -> str | None:
        """Return the value of a header, or None if it was not sent."""
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)

    async def send(self, parts: Bytes) -> None:
        """Send each part on its own, and give the client the time to read it."""
        for part in parts:
            self._writer.write(part)
            await self._writer.drain()
            await asyncio.sleep(0)

    async def gone(self) -> None:
        """Return once the client has closed the connection."""
        with suppress(ConnectionError):
            while await self._reader.read(1024):
                pass

    def reset(self) -> None:
        """Break the connection with a TCP reset."""
        connection = self._writer.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._writer.transport.abort()


@asynccontextmanager
async def listen(
    answer: Callable[[Connection], Awaitable[None]], tls: ssl.SSLContext | None = None, *, speaks_http: bool = True
) -> AsyncIterator[str]:
    """Answer every connection with `answer` once its request is read; yields host and port.

    At the end the answers that still run are cancelled, and every connection is closed.
    """
    answering: set[asyncio.Task[Any]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        answering.add(task)
        connection = Connection(reader, writer)
        try:
            if speaks_http:
                await connection.read_request()
            await answer(connection)
        except (asyncio.CancelledError, asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()
            answering.discard(task)

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls)
    try:
        yield "{}:{}".format(*server.sockets[0].getsockname())
    finally:
        # Starts before the server is closed, because Python 3.11 would not wait for connections in their handshake.
        closed = asyncio.create_task(server.wait_closed())
        await asyncio.sleep(0)
        server.close()
        for task in answering:
            task.cancel()
        with suppress(TimeoutError):
            await asyncio.wait_for(closed, 5)


def chunks(parts: Bytes) -> Bytes:
    """Yield each part as one HTTP chunk, and then the last chunk."""
    for part in parts:
        yield b"%x\r\n%b\r\n" % (len(part), part)
    yield LAST_CHUNK


def load_head_bytes(name: str) -> bytes:
    """Return the recorded status line and headers, byte by byte."""
    return (Path(__file__).parent / "recordings" / f"{name}.headers").read_bytes()


@asynccontextmanager
async def replay(change: Callable[[bytes], Bytes] = lambda body: [body]) -> AsyncIterator[str]:
    """Answer each prompt with the recording that it names, as the chunks that `change` makes of it; yields the URL."""

    async def answer(connection: Connection) -> None:
        name = connection.body["input"]
        await connection.send([load_head_bytes(name), *chunks(change(load_body(name)))])

    async with listen(answer) as host:
        yield f"http://{host}"
