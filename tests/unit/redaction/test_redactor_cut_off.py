"""A text that ends inside a secret, as in a broken stream, shows at most a few characters of it."""

import base64
from collections.abc import Callable

import pytest

from remote_evals.redaction import REDACTED, Redactor, Secret
from tests.unit.redaction.spellings import NASTY, SPELLINGS, TOKEN, format_each

# How many characters spell one character of the secret.
WIDTHS: dict[str, tuple[Callable[[str], str], int]] = {
    "plain": (str, 1),
    "capitals": (str.upper, 1),
    "URL, each byte": (format_each("%{:02x}"), 3),
    "URL, each byte in a URL": (format_each("%25{:02x}"), 5),
    "JSON, each character": (format_each("\\u{:04x}"), 6),
    "code, in braces": (format_each("\\u{{{:02x}}}"), 6),
    "HTML, each character": (format_each("&#{:03};"), 6),
    "HTML in HTML": (format_each("&amp;#{:03};"), 10),
}


@pytest.fixture
def redactor() -> Redactor:
    redactor = Redactor()
    redactor.add(Secret(TOKEN))
    return redactor


@pytest.mark.parametrize("name", WIDTHS)
def test_the_start_of_a_secret_at_the_end_is_replaced(redactor: Redactor, name: str) -> None:
    """From 8 characters on, the start of a secret is replaced, even if its last character is cut off too."""
    spell, width = WIDTHS[name]
    spelled = spell(TOKEN)
    for length in range(len(spelled) + 1):
        text = f"It is {spelled[:length]}"
        # HTML does not need the semicolon.
        expected = f"It is {REDACTED}" if length >= 8 * width - spelled.endswith(";") else text
        assert redactor.scrub_end(text) == expected, text


@pytest.mark.parametrize("before", ["", "u", "us"])
@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode, base64.encodebytes])
def test_the_start_of_a_secret_in_base64_at_the_end_is_replaced(
    redactor: Redactor, before: str, encode: Callable[[bytes], bytes]
) -> None:
    """The start of a secret in base64 is replaced from 8 characters of base64 on, also across lines."""
    spelled = encode(f"{before}{TOKEN}".encode()).decode().strip()
    # The characters that hold bits of the text before the secret.
    start = -(-len(before) * 8 // 6)
    for length in range(start + 8, len(spelled)):
        assert redactor.scrub_end(f"It is {spelled[:length]}") == f"It is {spelled[:start]}{REDACTED}"


@pytest.mark.parametrize("name", SPELLINGS)
def test_whole_secrets_are_replaced_too(redactor: Redactor, name: str) -> None:
    """A whole secret is replaced anywhere in the text, also at its end."""
    spelled = SPELLINGS[name](TOKEN)
    assert redactor.scrub_end(f"{spelled} is {spelled}") == f"{REDACTED} is {REDACTED}"


def test_a_secret_that_starts_as_it_ends_is_replaced_as_a_whole() -> None:
    """A secret whose end equals its start is replaced completely."""
    redactor = Redactor()
    redactor.add(Secret("abcdefgh-abcdefgh"))
    assert redactor.scrub_end("It is abcdefgh-abcdefgh") == f"It is {REDACTED}"


@pytest.mark.parametrize("text", ["", "It is over.", "It is %", "sk-T0k/en+x and more", "100&", f"{TOKEN} ends\\"])
def test_another_end_stays(redactor: Redactor, text: str) -> None:
    """A text that does not end with the start of a secret is scrubbed and keeps its end."""
    assert redactor.scrub_end(text) == redactor.scrub(text) == text.replace(TOKEN, REDACTED)
    assert Redactor().scrub_end(text) == text


def test_the_longest_start_is_replaced() -> None:
    """Of two secrets that start alike, the longest start at the end is replaced."""
    redactor = Redactor()
    for secret in (f"{NASTY[:-1]}?", NASTY):
        redactor.add(Secret(secret))
    assert redactor.scrub_end(f"It is {NASTY[:-1]}") == f"It is {REDACTED}"
