"""What comes before any answer: the body of a request, and the faults that strike in place of headers."""

import asyncio
import json
from contextlib import suppress
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from fake_server import _answers as answers
from fake_server._connection import disconnected
from fake_server._stream import BrokenConnection
from fake_server.faults import ANSWERS, Fault


async def before_headers(fault: Fault, request: Request) -> Response | None:
    """Return what a fault answers in place of the real answer, None when it strikes later."""
    if fault.name in ANSWERS:
        return answers.answer_of(fault)
    if fault.name == "no-headers":
        with suppress(TimeoutError):
            async with asyncio.timeout(fault.for_s):
                await disconnected(request.receive)
                # the client has gone: this reaches nobody, and the turn never starts
                return Response()
    return BrokenConnection(by_reset=fault.name == "reset") if fault.before_headers else None


def parse_body(request: Request) -> dict[str, Any]:
    """Return the JSON object in a body, an empty one for any other JSON; raises `Refused`."""
    if len(request.state.body) > answers.BODY_LIMIT:
        raise answers.Refused(answers.too_large())
    try:
        parsed = json.loads(request.state.body.decode("utf-8") or "{}")
    except (ValueError, RecursionError) as error:
        raise answers.Refused(answers.error(400, _json_problem(error))) from error
    return parsed if isinstance(parsed, dict) else {}


def _json_problem(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError) and error.pos >= len(error.doc.rstrip()):
        return "Unexpected end of JSON input"
    return f"Request body is not valid JSON: {error}"
