"""However a secret is spelled, and whatever surrounds it, nothing of it is left."""

import base64
from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from remote_evals.redaction import REDACTED, Redactor, Secret

WORD = st.text("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~", min_size=8, max_size=40)
FORMS = [
    *["{0}", "%{1:02x}", "%{1:02X}", "%25{1:02x}", "\\u{1:04x}", "\\u{1:04X}", "\\\\u{1:04x}", "\\u{{{1:x}}}"],
    *["\\x{1:02x}", "\\{1:03o}", "%5Cx{1:02x}", "\\u0025{1:02x}", "&#{1};", "&#x{1:x};", "&#{1:07};", "&amp;#{1:03};"],
]
ENCODERS: list[Callable[[bytes], bytes]] = [base64.b64encode, base64.urlsafe_b64encode]


@given(WORD, st.data(), st.text(), st.text())
def test_a_secret_of_mixed_spellings(secret: str, data: st.DataObject, before: str, behind: str) -> None:
    """A secret whose characters are spelled in different ways is replaced, and the text around it stays."""
    forms = data.draw(st.lists(st.sampled_from(FORMS), min_size=len(secret), max_size=len(secret)))
    spelled = "".join(form.format(one, ord(one)) for form, one in zip(forms, secret, strict=True))
    redactor = Redactor()
    redactor.add(Secret(secret))
    # Spaces around it, since an escape before the secret could otherwise run into it.
    assert redactor.scrub(f"{before} {spelled} {behind}").endswith(f" {REDACTED} {redactor.scrub(behind)}")


@given(WORD, st.binary(max_size=9), st.binary(max_size=9), st.sampled_from(ENCODERS))
def test_a_secret_inside_longer_base64(
    secret: str, before: bytes, behind: bytes, encode: Callable[[bytes], bytes]
) -> None:
    """In base64 that holds a secret, only what encodes the bytes around it is left."""
    redactor = Redactor()
    redactor.add(Secret(secret))
    scrubbed = redactor.scrub(encode(before + secret.encode() + behind).decode())
    assert REDACTED in scrubbed
    assert len(scrubbed.replace(REDACTED, "")) <= (len(before) + len(behind)) * 4 / 3 + 5


# Includes secrets made of the marks that replace them, whole and in parts.
SECRETS = st.text(min_size=8) | st.lists(
    st.sampled_from([REDACTED, REDACTED[1:], REDACTED[:-1], REDACTED.upper(), "***", "[", "]", "*", "#", "a"]),
    min_size=1,
    max_size=4,
).map("".join).filter(lambda secret: len(secret) >= 8)


@given(SECRETS, st.data())
def test_any_text_and_any_secret(secret: str, data: st.DataObject) -> None:
    """Scrubbing never raises, and a secret in plain spelling is gone afterwards."""
    pieces = st.text() | st.sampled_from([secret[:1], secret[1:], secret[:-1], secret[-1:]])
    text = data.draw(pieces)
    redactor = Redactor()
    redactor.add(Secret(secret))
    assert redactor.scrub(f"{text}{secret}") != f"{text}{secret}"
    assert secret not in redactor.scrub(f"{text}{secret}{data.draw(pieces)}")


@given(st.text(), SECRETS, st.integers(min_value=0))
def test_any_text_that_is_cut_off(text: str, secret: str, length: int) -> None:
    """Wherever a text with a secret is cut off, at most the first 7 bytes of the secret are left at its end."""
    redactor = Redactor()
    redactor.add(Secret(secret))
    whole = f"{text}{secret}"
    scrubbed = redactor.scrub_end(whole[: length % (len(whole) + 1)])
    assert not any(scrubbed.endswith(secret[:shown]) for shown in range(8, len(secret) + 1))


@given(st.text("\\%&#;ux{}0123456789abcdef tokn"))
def test_what_holds_no_secret_is_not_changed(text: str) -> None:
    """A text of parts of escapes that holds no secret comes back unchanged."""
    redactor = Redactor()
    redactor.add(Secret("no-such-t0ken"))
    assert redactor.scrub(text) == text
