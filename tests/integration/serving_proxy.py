"""A real HTTP proxy on this machine, which takes every host name for one and the same deployment."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from tests.integration.serving import Connection, listen


@dataclass
class Proxy:
    """The address of a proxy, and the requests that it was asked to pass on."""

    host: str = ""
    asked: list[Connection] = field(default_factory=list)

    @property
    def request_lines(self) -> list[str]:
        """The first line of each request."""
        return [connection.request_line for connection in self.asked]


@asynccontextmanager
async def open_proxy(forward_to: str) -> AsyncIterator[Proxy]:
    """Pass every request on to the deployment at this URL, whatever host it names; a CONNECT is refused."""
    proxy = Proxy()

    async def answer(connection: Connection) -> None:
        proxy.asked.append(connection)
        if connection.request_line.startswith("CONNECT "):
            await connection.send([b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n"])
        else:
            await _forward(connection, forward_to)

    async with listen(answer) as proxy.host:
        yield proxy


async def _forward(connection: Connection, url: str) -> None:
    method, target, version = connection.request_line.split(" ")
    kept = [f"{name}: {value}" for name, value in connection.headers if not name.lower().startswith("proxy-")]
    head = "\r\n".join([f"{method} {urlsplit(target).path} {version}", *kept, "\r\n"])
    reader, writer = await asyncio.open_connection(urlsplit(url).hostname, urlsplit(url).port)
    try:
        writer.write(head.encode("latin-1") + connection.raw_body)
        while part := await reader.read(65536):
            await connection.send([part])
            if part.endswith(b"\r\n0\r\n\r\n"):
                break
    finally:
        writer.close()
