"""Prompts: a text, or a list of content parts such as `{"type": "text", "text": …}`, sent to the agent as they are."""

from collections.abc import Mapping, Sequence
from typing import Any

Prompt = str | Sequence[Mapping[str, Any]]


def find_prompt_problem(value: Any) -> str | None:
    """Return what is wrong with a value that should be a prompt, or None."""
    if isinstance(value, str):
        return None if value else "must not be empty"
    if not isinstance(value, list | tuple):
        return "must be a text, or a list of content parts such as {type: text, text: …}"
    if not value:
        return "must have at least one content part"
    problems = (
        f"content part {number}: {problem}"
        for number, part in enumerate(value, start=1)
        if (problem := _find_part_problem(part))
    )
    return next(problems, None)


def render_prompt(prompt: Prompt) -> str:
    """Return a prompt as text: its texts, and `[image]` or the like for each other part."""
    return prompt if isinstance(prompt, str) else "\n".join(map(_render_part, prompt))


def _find_part_problem(part: Any) -> str | None:
    if not isinstance(part, Mapping) or not isinstance(part.get("type"), str) or not part["type"]:
        return "must be a mapping with a `type`, such as text or image"
    if part["type"] == "text" and not isinstance(part.get("text"), str):
        return "a part of type text needs a `text`"
    return None


def _render_part(part: Mapping[str, Any]) -> str:
    return str(part.get("text")) if part.get("type") == "text" else f"[{part.get('type')}]"
