"""The route that tells whether the deployment is up, and by its headers which build it is."""

from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import Response

from fake_server import _answers as answers
from fake_server._incoming import before_headers
from fake_server._stream import HalvedBody
from fake_server._times import TimesCounter
from fake_server.health import HealthAnswer


class Health:
    """Answers `GET /health`: the first of the script's answers that is not worn out, or a plain `ok`."""

    def __init__(self, script: Sequence[HealthAnswer]) -> None:
        self._script = script
        self._counter = TimesCounter()

    async def check(self, request: Request) -> Response:
        """Answer one request."""
        health = self._counter.take(self._script) or HealthAnswer()
        fault = self._counter.take(health.fault)
        if fault and (answer := await before_headers(fault, request)):
            return answer
        response = HalvedBody(b"ok", fault, "text/plain") if fault else answers.plain(200, "ok")
        response.headers.update(health.headers)
        return response
