"""The deployment as an ASGI application: records every request, guards all but `/health` and the judge, routes."""

import asyncio
from contextlib import suppress

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from fake_server import _answers as answers
from fake_server._completions import Completions
from fake_server._health import Health
from fake_server.chat import Chat
from fake_server.requests import RequestLog, read_body
from fake_server.script import Script

COMPLETIONS = "/v1/chat/completions"


class App:
    """Serves `script`; the requests it got are in `log`."""

    def __init__(self, script: Script, log: RequestLog) -> None:
        self._script = script
        self._log = log
        self._routes = _routes(script)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, as ASGI has it."""
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
        base, asked = self._script.base_path, (scope["method"], scope["path"])
        # the judge has a key of its own
        is_judged = self._script.judge is not None and asked == ("POST", f"{base}{COMPLETIONS}")
        if not self._script.token or is_judged or asked == ("GET", f"{base}/health"):
            return True
        scheme, _, token = Headers(scope=scope).get("authorization", "").partition(" ")
        return scheme.lower() == "bearer" and token.strip() == self._script.token


def _routes(script: Script) -> ASGIApp:
    chat, base = Chat(script), script.base_path
    judge = (
        [Route(f"{base}{COMPLETIONS}", Completions(script.judge).complete, methods=["POST"])] if script.judge else []
    )
    app = Starlette(
        routes=[
            *judge,
            Route(f"{base}/health", Health(script.health).check),
            Route(f"{base}/chat", chat.turn, methods=["POST"]),
            Route(f"{base}/chat/{{session}}", chat.transcript),
            Route(f"{base}/chat/{{session}}/approvals/{{approval}}", chat.approval, methods=["POST"]),
        ],
        exception_handlers={answers.Refused: _refused, 404: _not_found, 405: _not_found},
    )
    app.router.redirect_slashes = False
    return app


async def _not_found(_: Request, __: Exception) -> Response:
    return answers.plain(404, "not found")


async def _refused(_: Request, refusal: Exception) -> Response:
    return refusal.answer if isinstance(refusal, answers.Refused) else answers.plain(500, str(refusal))
