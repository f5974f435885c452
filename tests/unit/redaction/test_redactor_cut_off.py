"""A text that ends inside a secret, as a broken stream does, shows no more than a few characters of it."""

import base64
from collections.abc import Callable

import pytest

from remote_evals.redaction import REDACTED, Redactor, Secret
from tests.unit.redaction.spellings import NASTY, SPELLINGS, TOKEN, each_character

# How many characters spell one of the secret.
WIDTHS: dict[str, tuple[Callable[[str], str], int]] = {
    "plain": (str, 1),
    "capitals": (str.upper, 1),
    "URL, each byte": (each_character("%{:02x}"), 3),
    "URL, each byte in a URL": (each_character("%25{:02x}"), 5),
    "JSON, each character": (each_character("\\u{:04x}"), 6),
    "code, in braces": (each_character("\\u{{{:02x}}}"), 6),
    "HTML, each character": (each_character("&#{:03};"), 6),
    "HTML in HTML": (each_character("&amp;#{:03};"), 10),
}


@pytest.fixture
def redactor() -> Redactor:
    made = Redactor()
    made.add(Secret(TOKEN))
    return made


@pytest.mark.parametrize("name", WIDTHS)
def test_the_start_of_a_secret_at_the_end_is_replaced(redactor: Redactor, name: str) -> None:
    """From 8 characters on, the start of a secret is replaced, also where the last one is cut itself."""
    spell, width = WIDTHS[name]
    spelled = spell(TOKEN)
    for length in range(len(spelled) + 1):
        text = f"It is {spelled[:length]}"
        # HTML needs no semicolon.
        expected = f"It is {REDACTED}" if length >= 8 * width - spelled.endswith(";") else text
        assert redactor.scrub_end(text) == expected, text


@pytest.mark.parametrize("before", ["", "u", "us"])
@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode, base64.encodebytes])
def test_the_start_of_a_secret_in_base64_at_the_end_is_replaced(
    redactor: Redactor, before: str, encode: Callable[[bytes], bytes]
) -> None:
    """The same holds for base64 of 8 characters and more, in lines too."""
    spelled = encode(f"{before}{TOKEN}".encode()).decode().strip()
    # As many characters as hold bits of what is before the secret.
    start = -(-len(before) * 8 // 6)
    for length in range(start + 8, len(spelled)):
        assert redactor.scrub_end(f"It is {spelled[:length]}") == f"It is {spelled[:start]}{REDACTED}"


@pytest.mark.parametrize("name", SPELLINGS)
def test_whole_secrets_are_replaced_too(redactor: Redactor, name: str) -> None:
    """A text is scrubbed as any other, before its end and where it ends with a whole secret."""
    spelled = SPELLINGS[name](TOKEN)
    assert redactor.scrub_end(f"{spelled} is {spelled}") == f"{REDACTED} is {REDACTED}"


def test_a_secret_that_starts_as_it_ends_is_replaced_as_a_whole() -> None:
    """Where the end of a whole secret is the start of one too, nothing of it is left."""
    made = Redactor()
    made.add(Secret("abcdefgh-abcdefgh"))
    assert made.scrub_end("It is abcdefgh-abcdefgh") == f"It is {REDACTED}"


@pytest.mark.parametrize("text", ["", "It is over.", "It is %", "sk-T0k/en+x and more", "100&", f"{TOKEN} ends\\"])
def test_another_end_stays(redactor: Redactor, text: str) -> None:
    """What ends without the start of a secret is scrubbed, and keeps its end."""
    assert redactor.scrub_end(text) == redactor.scrub(text) == text.replace(TOKEN, REDACTED)
    assert Redactor().scrub_end(text) == text


def test_the_longest_start_is_replaced() -> None:
    """Of two secrets that start alike, all that is of either is replaced."""
    made = Redactor()
    for secret in (f"{NASTY[:-1]}?", NASTY):
        made.add(Secret(secret))
    assert made.scrub_end(f"It is {NASTY[:-1]}") == f"It is {REDACTED}"
