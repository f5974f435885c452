"""A deployment with given answers to `GET /health`, and a way to wait for it without real pauses."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from itertools import chain, repeat

from remote_evals import RemoteTarget
from remote_evals.targets import wait_until_ready
from tests.serving.deployments import PATIENT, Connection, listen

UP = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"
DOWN = b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 7\r\n\r\nwarming"
OLD = b"HTTP/1.1 200 OK\r\nx-version:  1.4.1\r\ncontent-length: 0\r\n\r\n"
NEW = b"HTTP/1.1 200 OK\r\nx-version: \t1.4.2 \r\ncontent-length: 0\r\n\r\n"
EXPECTED = {"X-Version": " 1.4.2"}
LONG_S = 600.0


class Pauses(list[float]):
    """The seconds that a real wait would have paused."""

    async def __call__(self, seconds: float) -> None:
        """Record a pause instead of making it."""
        self.append(seconds)
        await asyncio.sleep(0)


class Deployment:
    """Sends its answers in order, the last one again and again, and records the requests."""

    def __init__(self, answers: Sequence[bytes]) -> None:
        self.asked: list[Connection] = []
        self.pauses = Pauses()
        self.url = ""
        self._answers = chain(answers, repeat(answers[-1]))

    async def answer(self, connection: Connection) -> None:
        """Send the next answer; an empty one closes the connection without an answer."""
        self.asked.append(connection)
        await connection.send([next(self._answers)])

    async def wait(self, wait_s: float = LONG_S, expected: dict[str, str] | None = None, **options: object) -> None:
        """Wait until it is ready, without real pauses."""
        target = RemoteTarget(self.url, **{"limits": PATIENT, **options})  # type: ignore[arg-type]
        await wait_until_ready(target, wait_s, expected or {}, pause=self.pauses)


@asynccontextmanager
async def deployed(*answers: bytes, path: str = "") -> AsyncIterator[Deployment]:
    """Answer each connection with the next of the answers."""
    deployment = Deployment(answers)
    async with listen(deployment.answer) as host:
        deployment.url = f"http://{host}{path}"
        yield deployment


def status(line: str, body: str = "", *headers: str) -> bytes:
    """Return an answer with this status line."""
    fields = "".join(f"{header}\r\n" for header in headers)
    return f"HTTP/1.1 {line}\r\n{fields}content-length: {len(body.encode())}\r\n\r\n{body}".encode()
