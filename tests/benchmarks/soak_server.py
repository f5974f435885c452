"""The fake server in a process of its own, which reports its requests at the end.

It prints its URL and, once its standard input is closed, how often it got each prompt and each decision, as JSON.
"""

import json
import logging
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from fake_server import FakeServer, RecordedRequest

from .soak_plan import make_soak_script, name_decision


@dataclass
class SoakServer:
    """The URL of the server and, once it has stopped, how often it got each request."""

    url: str
    requests: Counter[str] = field(default_factory=Counter)


@contextmanager
def serve_soak() -> Iterator[SoakServer]:
    """Run the server; leaving the block stops it and fills in its `requests`."""
    argv = [sys.executable, "-m", __name__]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin
        assert process.stdout
        server = SoakServer(process.stdout.readline().strip())
        try:
            yield server
        finally:
            process.stdin.close()
            server.requests.update(json.loads(process.stdout.read()))


def _count(requests: Iterable[RecordedRequest]) -> Counter[str]:
    prompts: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for request in requests:
        if request.path == "/chat":
            prompt = prompts[request.body["sessionId"]] = request.body["input"]
            counts[prompt] += 1
        else:
            counts[name_decision(prompts[request.path.split("/")[2]])] += 1
    return counts


def _run() -> None:
    # asyncio warns of each write to a client that has left, as a client does at an event that is too large.
    logging.getLogger("asyncio").setLevel(logging.ERROR)
    with FakeServer(make_soak_script()) as server:
        print(server.url, flush=True)
        sys.stdin.read()
    print(json.dumps(_count(server.requests)))


if __name__ == "__main__":
    _run()
