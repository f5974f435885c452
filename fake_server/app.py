"""The deployment as an ASGI application: it records every request, checks the token, and routes.

`/health` and the judge need no token; the judge has an API key of its own.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from fake_server import answers
from fake_server.chat import Chat
from fake_server.faults import TimesCounter
from fake_server.judge import Judge
from fake_server.requests import RequestLog, read_body
from fake_server.script import HealthAnswer, Script
from fake_server.stream import HalvedBody

_COMPLETIONS = "/v1/chat/completions"


class App:
    """Serves `script`, and records the requests in `log`."""

    def __init__(self, script: Script, log: RequestLog) -> None:
        self._script = script
        self._log = log
        self._routes = _make_routes(script)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request through ASGI."""
        # a server that stops cancels what still hangs, and uvicorn would report that as a crash
        with suppress(asyncio.CancelledError):
            body = await read_body(receive)
            if body is None:
                return
            self._log.add(scope, body)
            scope.setdefault("state", {})["body"] = body
            answer = self._routes if self._may_pass(scope) else answers.unauthorized()
            await answer(scope, receive, send)

    def _may_pass(self, scope: Scope) -> bool:
        base, target = self._script.base_path, (scope["method"], scope["path"])
        is_for_judge = self._script.judge is not None and target == ("POST", f"{base}{_COMPLETIONS}")
        if not self._script.token or is_for_judge or target == ("GET", f"{base}/health"):
            return True
        scheme, _, token = Headers(scope=scope).get("authorization", "").partition(" ")
        return scheme.lower() == "bearer" and token.strip() == self._script.token


class Health:
    """Answers `GET /health`: with the first answer of the script that is not used up, or with a plain `ok`."""

    def __init__(self, script: Sequence[HealthAnswer]) -> None:
        self._script = script
        self._counter = TimesCounter()

    async def check(self, request: Request) -> Response:
        """Answer one request."""
        health = self._counter.take(self._script) or HealthAnswer()
        fault = self._counter.take(health.fault)
        if fault and (answer := await answers.answer_early(fault, request)):
            return answer
        response = HalvedBody(b"ok", fault, "text/plain") if fault else answers.make_text(200, "ok")
        response.headers.update(health.headers)
        return response


def _make_routes(script: Script) -> ASGIApp:
    chat, base = Chat(script), script.base_path
    routes = [
        Route(f"{base}/health", Health(script.health).check),
        Route(f"{base}/chat", chat.turn, methods=["POST"]),
        Route(f"{base}/chat/{{session}}", chat.transcript),
        Route(f"{base}/chat/{{session}}/approvals/{{approval}}", chat.approval, methods=["POST"]),
    ]
    if script.judge:
        routes.append(Route(f"{base}{_COMPLETIONS}", Judge(script.judge).complete, methods=["POST"]))
    app = Starlette(
        routes=routes, exception_handlers={answers.Refusal: _answer_refusal, 404: _not_found, 405: _not_found}
    )
    app.router.redirect_slashes = False
    return app


async def _answer_refusal(_: Request, refusal: Exception) -> Response:
    return refusal.answer if isinstance(refusal, answers.Refusal) else answers.make_text(500, str(refusal))


async def _not_found(_: Request, __: Exception) -> Response:
    return answers.make_text(404, "not found")
