"""However a secret is spelled, all of it is replaced, and nothing else."""

import base64
import re
from collections.abc import Callable

import pytest

from remote_evals.redaction import REDACTED, Redactor, Secret
from tests.unit.redaction.spellings import ESCAPED, NASTY, SPELLINGS, TOKEN, encode_base64


def make_redactor(*secrets: str) -> Redactor:
    redactor = Redactor()
    for secret in secrets:
        redactor.add(Secret(secret))
    return redactor


@pytest.mark.parametrize("secret", [NASTY, ESCAPED, TOKEN], ids=["nasty", "escaped", "token"])
@pytest.mark.parametrize("name", SPELLINGS)
def test_a_secret_is_found_in_every_spelling(name: str, secret: str) -> None:
    """A token is replaced in every encoding, and the text around it stays."""
    spelled = f"a({SPELLINGS[name](secret)})b"
    assert make_redactor(secret).scrub(spelled) == f"a({REDACTED})b"
    assert make_redactor("some-other-t0ken").scrub(spelled) == spelled


@pytest.mark.parametrize("at", [0, 16_370, 16_384])
@pytest.mark.parametrize("name", SPELLINGS)
def test_a_secret_is_found_anywhere_in_a_large_text(name: str, at: int) -> None:
    """A secret is found anywhere in a text, whatever is escaped far from it."""
    filler = "%41 \\n &amp; " * 3_000
    spelled = f"{filler[:at]}({SPELLINGS[name](TOKEN)}){filler[at:]}"
    assert make_redactor(TOKEN).scrub(spelled) == f"{filler[:at]}({REDACTED}){filler[at:]}"


@pytest.mark.parametrize("before", ["", "u", "us", "use", "user:", "a longer user name:"])
@pytest.mark.parametrize("behind", ["", "x", "xy", "xyz"])
@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
def test_a_secret_inside_longer_base64_is_found(before: str, behind: str, encode: Callable[[bytes], bytes]) -> None:
    """A token inside longer base64 is replaced, wherever it starts, and nothing else is."""
    token = "t0k/en?>~abcdefghi"
    scrubbed = make_redactor(token).scrub(f"Basic {encode(f'{before}{token}{behind}'.encode()).decode()} end")
    assert REDACTED in scrubbed
    left = "".join(re.findall(r"(?<=Basic )(.*)\[redacted\](.*)(?= end)", scrubbed)[0])
    # A base64 character at each end may hold some bits of the token's first and last character.
    assert len(left) <= (len(before) + len(behind)) * 4 / 3 + 3
    assert not any(encode(part.encode()).decode() in scrubbed for part in (token[1:7], token[2:8], token[3:9]))


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\n    ", " ", "\\n", "\\r\\n", "\\\\n", "%0A", "&#10;", "\\u000a"])
@pytest.mark.parametrize("width", [76, 64, 5])
def test_a_secret_in_wrapped_base64_is_found(width: int, line_end: str) -> None:
    """A token in wrapped base64 is replaced, wherever the lines break and however line ends are spelled."""
    redactor = make_redactor(TOKEN)
    for before in range(70):
        text = encode_base64(f"{'x' * before}{TOKEN}{'y' * 40}")
        wrapped = line_end.join(text[at : at + width] for at in range(0, len(text), width))
        scrubbed = redactor.scrub(f"It is {wrapped} ok")
        assert scrubbed.startswith("It is ")
        assert scrubbed.endswith(" ok")
        assert REDACTED in scrubbed
        left = scrubbed.replace(line_end, "").replace(REDACTED, "")
        assert len(left) <= (before + 40) * 4 / 3 + len("It is  ok") + 5


@pytest.mark.parametrize(
    "text",
    [
        "100% \\u00e9 &amp; \\n %zz \\u12 &#x;",
        "\\u{110000} &#9999999; &#xffffff; &nosuch; &nbsp; \\400 \\777 \\8",
        "%",
        "\\",
        "&",
        "\ud83d %41",
        "İ%C4%B0",
    ],
)
@pytest.mark.parametrize("secret", [NASTY, ESCAPED, TOKEN], ids=["nasty", "escaped", "token"])
def test_what_is_no_secret_keeps_its_spelling(text: str, secret: str) -> None:
    """Escapes that hold no secret stay as they are, even beside a secret."""
    redactor = make_redactor(secret)
    assert redactor.scrub(text) == text
    assert redactor.scrub(f"{text} {secret} {text}") == f"{text} {REDACTED} {text}"


@pytest.mark.parametrize("secret", ["%a9bcdefghij", "é%c3bcdefghij%c3", "bcdefghij%c3"])
def test_no_character_is_cut_in_two(secret: str) -> None:
    """A secret that ends inside a character once its escapes are undone does not split that character in a text."""
    redactor = make_redactor(secret)
    assert redactor.scrub(f"é{secret}é") == f"é{REDACTED}é"
    assert redactor.scrub("ébcdefghijé, 💬") in ("ébcdefghijé, 💬", f"{REDACTED}é, 💬", f"é{REDACTED}, 💬")
