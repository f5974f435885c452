"""One long stream, read to its end by one client: `python -m tests.benchmarks.transfers WAY URL` prints the figures.

The time counts from before the request until the whole text is read; making the client is not counted.
"""

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable

import httpx
from httpx_aiohttp import HttpxAiohttpClient
from httpx_sse import aconnect_sse

from remote_evals import RemoteTarget

_BODY = {"sessionId": "benchmark", "input": "Tell me everything."}
_TIMEOUT = httpx.Timeout(60)


async def read_sse(client: httpx.AsyncClient, url: str) -> str:
    """Return the text of a run, read with httpx-sse and `json.loads` alone."""
    parts: list[str] = []
    async with aconnect_sse(client, "POST", url, json=_BODY) as source:
        async for sse in source.aiter_sse():
            event = json.loads(sse.data)
            if event.get("type") == "text.delta":
                parts.append(event["text"])
    return "".join(parts)


def plain_client() -> httpx.AsyncClient:
    """Return a plain httpx client without its limit of 100 connections."""
    return httpx.AsyncClient(timeout=_TIMEOUT, limits=httpx.Limits(max_connections=None))


async def _time(read: Callable[[], Awaitable[str]]) -> tuple[float, str]:
    started = time.perf_counter()
    text = await read()
    return time.perf_counter() - started, text


async def _plain(url: str) -> tuple[float, str]:
    async with plain_client() as client:
        return await _time(lambda: read_sse(client, f"{url}/chat"))


async def _aiohttp(url: str) -> tuple[float, str]:
    async with HttpxAiohttpClient(timeout=_TIMEOUT) as client:
        return await _time(lambda: read_sse(client, f"{url}/chat"))


async def _remote(url: str) -> tuple[float, str]:
    async with RemoteTarget(url, token="token-of-the-benchmark") as target, target.open_session() as session:

        async def send() -> str:
            return (await session.send("Tell me everything.", 1)).reply

        return await _time(send)


_WAYS = {"plain": _plain, "aiohttp": _aiohttp, "remote": _remote}

if __name__ == "__main__":
    seconds, text = asyncio.run(_WAYS[sys.argv[1]](sys.argv[2]))
    print(json.dumps({"seconds": seconds, "chars": len(text)}))
