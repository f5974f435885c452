"""A deployment with memory, authorization and TLS, and ways to let `doctor` examine it."""

import asyncio
import json
import re
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from remote_evals.config.deployments import TargetOptions
from remote_evals.doctor import CHECKS, Diagnosis, Finding, MemoryProbe, examine, make_identities
from remote_evals.redaction import Redactor, Secret
from tests.contract.replay import STREAM_HEAD, Connection, chunks, listen
from tests.serving.deployments import PATIENT

TOKEN = "t0ken-of-the-doctor"
BEARER = f"Bearer {TOKEN}"
PROBE = MemoryProbe(number="482913")
# The reply of a fake deployment with memory to the second prompt.
RECALL = {"when": {"turn": 2}, "text": PROBE.number}

_MOMENT = "2026-01-02T03:04:05.678Z"
_USAGE = {"inputTokens": 31, "outputTokens": 2, "totalTokens": 33, "costUsd": 0.0012}


async def examine_at(
    url: str, token: str | None = None, probe: MemoryProbe = PROBE, **options: Any
) -> tuple[Diagnosis, list[Finding]]:
    """Return the diagnosis of a deployment, and the findings as they were reported."""
    reported: list[Finding] = []
    secret = Secret(token) if token else None
    given = TargetOptions(**{"url": url, "token": secret, "limits": PATIENT, "reads_environment": False, **options})
    return await examine(make_identities(given, Redactor()), probe, reported.extend), reported


async def find(url: str, token: str | None = None, probe: MemoryProbe = PROBE, **options: Any) -> dict[str, Finding]:
    """Return the findings about a deployment, by check."""
    diagnosis, reported = await examine_at(url, token, probe, **options)
    assert list(diagnosis.findings) == reported
    return {finding.check: finding for finding in diagnosis.findings}


def statuses(found: dict[str, Finding], *checks: str) -> list[str]:
    """Return the status of each check."""
    return [found[check].status for check in checks]


def assert_broken_off(found: dict[str, Finding], at: str, label: str) -> None:
    """Assert that a check failed and that all later checks were not made."""
    later = list(CHECKS)[list(CHECKS).index(at) + 1 :]
    assert found[at].status == "fail"
    assert {(found[check].status, found[check].happened) for check in later} == {("not_checked", f"{label} failed")}


class Agent:
    """A deployment that accepts each Authorization that `admits` matches, and remembers the numbers of a session."""

    def __init__(self, *admits: str, refusal: int = 401) -> None:
        self.admits = admits
        self.refusal = refusal
        self.turns: list[tuple[str, str | None]] = []
        self._prompts: dict[str, list[str]] = {}

    @asynccontextmanager
    async def serve(self, tls: ssl.SSLContext | None = None) -> AsyncIterator[str]:
        """Serve while the block runs; yields the URL."""
        async with listen(self._answer, tls=tls) as host:
            yield f"http{'s' if tls else ''}://{host}"

    async def _answer(self, connection: Connection) -> None:
        method, path, _ = connection.request_line.split(" ")
        authorization = connection.header("authorization")
        if path == "/health":
            await connection.send([_respond(200, "ok", "text/plain")])
        elif not any(re.fullmatch(pattern, authorization or "") for pattern in self.admits):
            await connection.send([_respond(self.refusal, '{"error": "No"}', "application/json")])
        elif method == "GET":
            messages = [{"role": "user", "content": text} for text in self._prompts.get(path.rpartition("/")[2], [])]
            await connection.send([_respond(200, json.dumps({"messages": messages}), "application/json")])
        else:
            self.turns.append((connection.body["input"], authorization))
            known = self._prompts.setdefault(connection.body["sessionId"], [])
            known.append(connection.body["input"])
            await connection.send([STREAM_HEAD, *chunks(_run(" ".join(re.findall(r"\d{6}", " ".join(known)))))])
        await asyncio.sleep(0)


def _respond(status: int, body: str, kind: str) -> bytes:
    head = f"HTTP/1.1 {status} x\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\n\r\n"
    return f"{head}{body}".encode()


def _run(text: str) -> list[bytes]:
    events: list[dict[str, Any]] = [
        {"type": "run.start"},
        {"type": "step.start", "step": 1},
        {"type": "text.delta", "text": text},
        {"type": "step.done", "step": 1},
        {"type": "run.done", "finishReason": "stop", "text": text, "usage": _USAGE},
    ]
    common = {"runId": "r1", "timestamp": _MOMENT, "v": 1}
    frames = [f"data: {json.dumps({**event, **common, 'seq': seq})}\n\n" for seq, event in enumerate(events)]
    return [frame.encode() for frame in [*frames, "event: done\ndata: {}\n\n"]]
