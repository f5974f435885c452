"""A chat completion as OpenAI-compatible endpoints give it: the text, how it ended, and what it cost."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..results import JudgeUsage
from ._judge import one_line


@dataclass(frozen=True, slots=True)
class Completion:
    """What the model said; `was_cut` at the limit of its tokens."""

    text: str
    was_cut: bool
    usage: JudgeUsage


def parse_completion(content: bytes) -> Completion | None:
    """Return the first choice of a completion, None for what is no completion."""
    body = _parse(content)
    choices = body.get("choices") if isinstance(body, dict) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        return None
    text = _text_of(message.get("content")) or _text_of(message.get("refusal"))
    return Completion(text, choice.get("finish_reason") == "length", _usage_of(body.get("usage")))


def _parse(body: bytes) -> Any:
    """Return the JSON of a body, None where it is none."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def quote_error(body: bytes, scrub: Callable[[str], str]) -> str:
    """Return `: ` and what an endpoint says went wrong, or the start of its body; nothing for no body.

    It is what `scrub` leaves, on one line of at most 300 characters.
    """
    parsed = _parse(body)
    error = parsed.get("error") if isinstance(parsed, dict) else None
    message = error.get("message") if isinstance(error, dict) else error
    # Scrubbed before it is cut: half a secret is a secret too.
    line = one_line(scrub(message if isinstance(message, str) else body.decode("utf-8", "replace")))
    return f": {line}" if line else ""


def _text_of(content: Any) -> str:
    """Return the text of a content, which is a string or a list of parts."""
    if isinstance(content, list):
        return "".join(_text_of(part.get("text")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def _usage_of(usage: Any) -> JudgeUsage:
    fields = usage if isinstance(usage, Mapping) else {}
    sent, made = _count(fields, "prompt_tokens"), _count(fields, "completion_tokens")
    # OpenRouter and LiteLLM tell the price; OpenAI does not.
    cost = next((fields[key] for key in ("cost", "cost_usd") if _is_number(fields.get(key))), None)
    total = _count(fields, "total_tokens") or sent + made
    return JudgeUsage(input_tokens=sent, output_tokens=made, total_tokens=total, cost_usd=cost, calls=1)


def _count(fields: Mapping[str, Any], key: str) -> int:
    number: Any = fields.get(key)
    return int(number) if _is_number(number) else 0


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e15
