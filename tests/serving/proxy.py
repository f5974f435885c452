"""Two proxies on this machine: one that records its requests, and the package proxy.py in its own process."""

import asyncio
import os
import re
import ssl
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.serving.deployments import Connection, listen

# An address of this machine outside loopback, so that a proxy may serve it.
NOT_LOOPBACK = "0.0.0.0"  # noqa: S104 - nothing is bound to it

# Prints its port, and stops when its standard input is closed.
_PROXY_PROCESS = """
import sys, proxy
with proxy.Proxy(sys.argv[1:]) as running:
    print(running.flags.port, flush=True)
    sys.stdin.read()
"""


def forget_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove the proxies that the environment of the tests sets."""
    for name in list(os.environ):
        if re.fullmatch(r"(http|https|all|no)_proxy", name, re.IGNORECASE):
            monkeypatch.delenv(name)


@contextmanager
def run_proxy(folder: Path, *options: str) -> Iterator[str]:
    """Run the package proxy.py with its files in `folder`; yields its host and port."""
    fixed = ["--port", "0", "--num-acceptors", "1", "--num-workers", "1", "--log-level", "ERROR"]
    with subprocess.Popen(
        [sys.executable, "-c", _PROXY_PROCESS, *fixed, "--data-dir", str(folder), *options],
        env={"HOME": str(folder)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin
        assert process.stdout
        try:
            yield f"127.0.0.1:{int(process.stdout.readline())}"
        finally:
            process.stdin.close()


@dataclass
class Proxy:
    """The address of a proxy, and the requests that it was asked to forward."""

    host: str = ""
    asked: list[Connection] = field(default_factory=list)

    @property
    def request_lines(self) -> list[str]:
        """The first line of each request."""
        return [connection.request_line for connection in self.asked]


@asynccontextmanager
async def open_proxy(forward_to: str, tls: ssl.SSLContext | None = None) -> AsyncIterator[Proxy]:
    """Forward every request to the deployment at this URL, whatever host it names; a CONNECT is answered with 403."""
    proxy = Proxy()

    async def answer(connection: Connection) -> None:
        proxy.asked.append(connection)
        if connection.request_line.startswith("CONNECT "):
            await connection.send([b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n"])
        else:
            await _forward(connection, forward_to)

    async with listen(answer, tls) as proxy.host:
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
