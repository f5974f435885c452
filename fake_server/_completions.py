"""The route of the scripted judge: OpenAI's chat completions, without streaming."""

import asyncio
import json
import time
from typing import Any
from uuid import uuid4

from starlette.requests import Request
from starlette.responses import Response

from fake_server import _answers as answers
from fake_server._incoming import before_headers, parse_body
from fake_server._reply import fill, text_of
from fake_server._stream import HalvedBody
from fake_server._times import TimesCounter
from fake_server._wire import to_json, without_none
from fake_server.judge import JudgeReply, JudgeScript, JudgeUsage


class Completions:
    """Answers `POST /v1/chat/completions` from the `judge` key of a script."""

    def __init__(self, script: JudgeScript) -> None:
        self._script = script
        self._counter = TimesCounter()

    async def complete(self, request: Request) -> Response:
        """Answer one request, as OpenAI words it."""
        authorization = request.headers.get("authorization", "")
        if self._script.api_key and authorization != f"Bearer {self._script.api_key}":
            return _error(401, "Incorrect API key provided.", "invalid_api_key")
        body = parse_body(request)
        messages = body.get("messages")
        if not isinstance(body.get("model"), str) or not isinstance(messages, list) or not messages:
            return _error(400, "you must provide a 'model' and 'messages'", "invalid_request_error")
        asked = _last_question(messages)
        reply = next((reply for reply in self._script.replies if reply.when.holds(asked)), None)
        if reply is None:
            return _error(500, f"The script's judge has no reply for {asked[:200]!r}: add one", "no_reply")
        return await self._answer(request, reply, {"input": asked, "authorization": authorization}, body["model"])

    async def _answer(self, request: Request, reply: JudgeReply, words: dict[str, str], model: str) -> Response:
        fault = self._counter.take([*self._script.fault, *reply.fault])
        if fault and (answer := await before_headers(fault, request)):
            return answer
        await asyncio.sleep(reply.delay)
        body = to_json(_completion(fill(reply, words), model))
        return HalvedBody(body, fault, "application/json")


def _completion(reply: JudgeReply, model: str) -> dict[str, Any]:
    content = reply.content if reply.verdict is None else json.dumps(reply.verdict)
    message = {"role": "assistant", "content": content}
    return without_none(
        {
            "id": f"chatcmpl-{uuid4().hex}",
            "object": "chat.completion",
            "created": int(time.time()),
            "model": model,
            "choices": [{"index": 0, "message": message, "finish_reason": reply.finish_reason}],
            "usage": _usage(reply.usage),
        }
    )


def _usage(usage: JudgeUsage | None) -> dict[str, Any] | None:
    if usage is None:
        return None
    counts = {"prompt_tokens": usage.input, "completion_tokens": usage.output}
    return without_none({**counts, "total_tokens": usage.input + usage.output, "cost": usage.cost_usd})


def _last_question(messages: list[Any]) -> str:
    asked = [each.get("content") for each in messages if isinstance(each, dict) and each.get("role") == "user"]
    return text_of(asked[-1]) if asked and isinstance(asked[-1], str | list) else ""


def _error(status: int, message: str, code: str) -> Response:
    return answers.as_json({"error": {"message": message, "type": code, "param": None, "code": code}}, status)
