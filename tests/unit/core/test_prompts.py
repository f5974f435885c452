"""Prompts as text, for readers that take no content parts."""

from remote_evals.core.prompts import render_prompt


def test_a_text_is_itself() -> None:
    """A prompt that is a text is shown as it is."""
    assert render_prompt("Hi") == "Hi"


def test_parts_are_shown_by_their_texts_and_types() -> None:
    """Of content parts the texts are shown, and the type of each other part, whatever it holds."""
    assert render_prompt([{"type": "text", "text": "What is"}, {"type": "image", "data": "…"}]) == "What is\n[image]"
