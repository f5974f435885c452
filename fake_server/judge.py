"""The route of the scripted judge: OpenAI's chat completions, without streaming."""

import asyncio
import json
import time
from typing import Any
from uuid import uuid4

from starlette.requests import Request
from starlette.responses import Response

from fake_server import answers
from fake_server.events import to_json, without_none
from fake_server.faults import TimesCounter
from fake_server.requests import get_text, parse_body
from fake_server.script import JudgeReply, JudgeScript, Usage, fill_placeholders
from fake_server.stream import HalvedBody


class Judge:
    """Answers `POST /v1/chat/completions` from the `judge` key of a script."""

    def __init__(self, script: JudgeScript) -> None:
        self._script = script
        self._counter = TimesCounter()

    async def complete(self, request: Request) -> Response:
        """Answer one request; errors have the form that OpenAI gives them."""
        authorization = request.headers.get("authorization", "")
        if self._script.api_key and authorization != f"Bearer {self._script.api_key}":
            return _make_error(401, "Incorrect API key provided.", "invalid_api_key")
        body = parse_body(request)
        messages = body.get("messages")
        if not isinstance(body.get("model"), str) or not isinstance(messages, list) or not messages:
            return _make_error(400, "you must provide a 'model' and 'messages'", "invalid_request_error")
        question = _get_last_question(messages)
        reply = next((reply for reply in self._script.replies if reply.when.holds(question)), None)
        if reply is None:
            return _make_error(500, f"The script's judge has no reply for {question[:200]!r}: add one", "no_reply")
        words = {"input": question, "authorization": authorization}
        return await self._send(request, reply, words, body["model"])

    async def _send(self, request: Request, reply: JudgeReply, words: dict[str, str], model: str) -> Response:
        fault = self._counter.take([*self._script.fault, *reply.fault])
        if fault and (answer := await answers.answer_early(fault, request)):
            return answer
        await asyncio.sleep(reply.delay)
        body = to_json(_make_completion(fill_placeholders(reply, words), model))
        return HalvedBody(body, fault, "application/json")


def _get_last_question(messages: list[Any]) -> str:
    asked = [each.get("content") for each in messages if isinstance(each, dict) and each.get("role") == "user"]
    return get_text(asked[-1]) if asked and isinstance(asked[-1], str | list) else ""


def _make_completion(reply: JudgeReply, model: str) -> dict[str, Any]:
    content = reply.content if reply.verdict is None else json.dumps(reply.verdict)
    message = {"role": "assistant", "content": content}
    return without_none(
        {
            "id": f"chatcmpl-{uuid4().hex}",
            "object": "chat.completion",
            "created": int(time.time()),
            "model": model,
            "choices": [{"index": 0, "message": message, "finish_reason": reply.finish_reason}],
            "usage": _make_usage(reply.usage),
        }
    )


def _make_usage(usage: Usage | None) -> dict[str, Any] | None:
    if usage is None:
        return None
    counts = {"prompt_tokens": usage.input, "completion_tokens": usage.output}
    return without_none({**counts, "total_tokens": usage.input + usage.output, "cost": usage.cost_usd})


def _make_error(status: int, message: str, code: str) -> Response:
    return answers.make_json({"error": {"message": message, "type": code, "param": None, "code": code}}, status)
