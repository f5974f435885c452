import base64
import copy
import html
import io
import json
import logging
import pickle
import re
import time
import traceback
from collections.abc import Callable
from typing import Any
from urllib.parse import quote, quote_plus

import pytest

from remote_evals.redaction import REDACTED, Redactor, Secret
from remote_evals.results import RunError
from tests.unit.builders import call, deepest, run

TOKEN = 'tök/en+1 "&=~\\x'


@pytest.fixture
def redactor() -> Redactor:
    made = Redactor()
    made.add(Secret(TOKEN))
    return made


def test_only_reveal_gives_the_text() -> None:
    """A secret gives its text to the one who asks for it."""
    assert Secret(TOKEN).reveal() == TOKEN


@pytest.mark.parametrize(
    "show",
    [
        repr,
        str,
        ascii,
        lambda s: f"{s}",
        lambda s: f"{s!r:>40}",
        "%s".__mod__,
        lambda s: str([s]),
        lambda s: str(dir(s)),
    ],
    ids=["repr", "str", "ascii", "format", "format repr", "percent", "in a list", "dir"],
)
def test_no_way_to_show_a_secret_shows_it(show: Callable[[Secret], str]) -> None:
    """However a secret is turned into text, the text is not its own."""
    assert "hunter2" not in show(Secret("hunter2"))


@pytest.mark.parametrize("leave", [pickle.dumps, copy.copy, copy.deepcopy, json.dumps])
def test_a_secret_does_not_leave_the_process(leave: Callable[[Secret], object]) -> None:
    """A secret can be neither pickled, copied nor written as JSON."""
    with pytest.raises(TypeError):
        leave(Secret("hunter2"))


def test_a_traceback_with_locals_shows_no_secret(redactor: Redactor) -> None:
    """A traceback that prints every local variable, as error trackers do, holds no secret."""

    def fail(token: Secret, known: Redactor) -> None:
        raise RuntimeError(f"failed with {token}")

    secret = Secret("hunter2")
    redactor.add(secret)
    with pytest.raises(RuntimeError) as caught:
        fail(secret, redactor)
    shown = "".join(traceback.TracebackException.from_exception(caught.value, capture_locals=True).format())
    assert "Secret('[redacted]')" in shown
    assert "hunter2" not in shown


def test_a_log_shows_no_secret() -> None:
    """A secret that is logged is shown as redacted."""
    stream = io.StringIO()
    logger = logging.Logger("test")
    logger.addHandler(logging.StreamHandler(stream))
    logger.warning("the token is %s", Secret("hunter2"))
    assert stream.getvalue() == "the token is Secret('[redacted]')\n"


def test_a_redactor_does_not_carry_its_secrets_away(redactor: Redactor) -> None:
    """What a redactor knows is neither in its repr nor in its pickle."""
    redactor.add(Secret("hunter2"))
    assert "hunter2" not in repr(redactor)
    try:
        pickled = pickle.dumps(redactor)
    except TypeError:
        return
    assert b"hunter2" not in pickled


def mixed_case(text: str) -> str:
    """Return the text with every other hexadecimal digit of its percent-encodings in small letters."""
    return re.sub("%([0-9A-F])([0-9A-F])", lambda found: f"%{found[1].lower()}{found[2]}", quote(text, safe=""))


def each_character(form: str) -> Callable[[str], str]:
    """Return what writes each character, or byte where it is percent-encoded, in a form of its number."""
    return lambda text: "".join(form.format(one) for one in (text.encode() if "%" in form else map(ord, text)))


SPELLINGS: list[tuple[str, Callable[[str], str]]] = [
    ("plain", str),
    ("URL", lambda text: quote(text, safe="")),
    ("URL path", quote),
    ("URL form", quote_plus),
    ("URL in lower case", lambda text: quote(text, safe="").lower()),
    ("URL in mixed case", mixed_case),
    ("URL, each byte", each_character("%{:02x}")),
    ("URL in a URL", lambda text: quote(quote(text, safe=""), safe="")),
    ("base64", lambda text: base64.b64encode(text.encode()).decode()),
    ("base64 without padding", lambda text: base64.b64encode(text.encode()).decode().rstrip("=")),
    ("URL-safe base64", lambda text: base64.urlsafe_b64encode(text.encode()).decode()),
    ("JSON", lambda text: json.dumps(text)[1:-1]),
    ("JSON in UTF-8", lambda text: json.dumps(text, ensure_ascii=False)[1:-1]),
    ("JSON with escaped slashes", lambda text: json.dumps(text)[1:-1].replace("/", "\\/")),
    ("JSON in JSON", lambda text: json.dumps(json.dumps(text)[1:-1])[1:-1]),
    ("JSON, each character", each_character("\\u{:04x}")),
    ("JSON, each character in capitals", each_character("\\u{:04X}")),
    ("URL in JSON", lambda text: json.dumps(quote(text, safe=""))[1:-1].replace("%", "\\u0025")),
    ("HTML", html.escape),
    ("HTML, each character", each_character("&#{};")),
    ("HTML, each character in hexadecimal", each_character("&#x{:x};")),
    ("base64 in a URL", lambda text: quote(base64.b64encode(text.encode()), safe="")),
    ("capitals", lambda text: text.replace("t", "T").replace("en", "EN")),
]


@pytest.mark.parametrize("spell", [spell for _, spell in SPELLINGS], ids=[name for name, _ in SPELLINGS])
def test_a_secret_is_found_in_every_spelling(redactor: Redactor, spell: Callable[[str], str]) -> None:
    """A token that a server echoes is replaced however it was encoded, the text around it stays."""
    assert redactor.scrub(f"a({spell(TOKEN)})b") == f"a({REDACTED})b"


@pytest.mark.parametrize("before", ["", "u", "us", "use", "user:", "a longer user name:"])
@pytest.mark.parametrize("behind", ["", "x", "xy", "xyz"])
@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
def test_a_secret_inside_longer_base64_is_found(before: str, behind: str, encode: Callable[[bytes], bytes]) -> None:
    """A token that is only a part of what was encoded is replaced, wherever it starts, and with it no more than it."""
    token = "t0k/en?>~abcdefghi"
    redactor = Redactor()
    redactor.add(Secret(token))
    scrubbed = redactor.scrub(f"Basic {encode(f'{before}{token}{behind}'.encode()).decode()} end")
    assert REDACTED in scrubbed
    left = "".join(re.findall(r"(?<=Basic )(.*)\[redacted\](.*)(?= end)", scrubbed)[0])
    # A character of base64 at each end may hold some bits of the token's first and last.
    assert len(left) <= (len(before) + len(behind)) * 4 / 3 + 3
    assert not any(encode(part.encode()).decode() in scrubbed for part in (token[1:7], token[2:8], token[3:9]))


def test_short_secrets_are_not_looked_for_in_base64() -> None:
    """Three letters of base64 are found by chance, so only long secrets are looked for in it."""
    redactor = Redactor()
    redactor.add(Secret("ab"))
    assert redactor.scrub("a YWI YWJj word, and ab") == f"a YWI YWJj word, and {REDACTED}"


@pytest.mark.parametrize("text", ["100% \\u00e9 &amp; \\n %zz \\u12 &#x;", "%", "\\", "&", "\ud83d %41", "İ%C4%B0"])
def test_what_is_no_secret_keeps_its_spelling(redactor: Redactor, text: str) -> None:
    """Escapes that hold no secret stay as they were written, beside one that does too."""
    assert redactor.scrub(text) == text
    assert redactor.scrub(f"{text} {TOKEN} {text}") == f"{text} {REDACTED} {text}"


def test_many_escapes_take_little_time(redactor: Redactor) -> None:
    """A hostile body, all escapes and halves of secrets, is scrubbed in linear time."""
    bodies = ["\\" * 300_000, "%25" * 100_000, "&#" * 150_000, TOKEN[:-1] * 20_000, f"{TOKEN} " * 20_000]
    started = time.process_time()
    for body in bodies:
        redactor.scrub(body)
    assert time.process_time() - started < 5


def test_several_secrets_are_all_replaced() -> None:
    """Of two secrets, one a part of the other, nothing is left over."""
    redactor = Redactor()
    for text in ("abc", "abcdef", "", "abc"):
        redactor.add(Secret(text))
    assert redactor.scrub("abcdef abc ab") == f"{REDACTED} {REDACTED} ab"


def test_a_secret_with_a_lone_surrogate_is_replaced() -> None:
    """Even a token that UTF-8 cannot hold is found."""
    redactor = Redactor()
    redactor.add(Secret("a\ud83db"))
    assert redactor.scrub("x a\ud83db y") == f"x {REDACTED} y"


def test_without_a_secret_nothing_changes() -> None:
    """A redactor that knows nothing gives back what it was given."""
    redactor = Redactor()
    redactor.add(Secret(""))
    value = {"a": [1, "b"]}
    assert (redactor.scrub("text"), redactor.scrub_value(value)) == ("text", value)


def test_every_string_of_a_value_is_scrubbed(redactor: Redactor) -> None:
    """Strings are scrubbed at any depth, keys too, and everything else stays as it is."""
    value = {"a": [TOKEN, {TOKEN: (TOKEN, 1, True, None, 1.5)}], 7: TOKEN}
    expected = {"a": [REDACTED, {REDACTED: (REDACTED, 1, True, None, 1.5)}], 7: REDACTED}
    assert redactor.scrub_value(value) == expected


def test_a_run_is_scrubbed_as_a_whole(redactor: Redactor) -> None:
    """Wherever a server echoes the token in a run, it is replaced: in the reply, a call, an error, the object."""
    echoed = run(
        call(TOKEN, {"a": [TOKEN]}, result={TOKEN: TOKEN}, error=RunError(name=TOKEN, message=TOKEN)),
        reply=f"Bearer {TOKEN}",
        object=[TOKEN],
        error=RunError(name="x", message=TOKEN, code=TOKEN),
        finish_reason=TOKEN,
    )
    scrubbed = redactor.scrub_value(echoed)
    assert repr(TOKEN)[1:-1] not in str(scrubbed.model_dump())
    assert repr(TOKEN)[1:-1] in str(echoed.model_dump())
    assert (scrubbed.reply, scrubbed.steps, scrubbed.usage) == (f"Bearer {REDACTED}", echoed.steps, echoed.usage)
    assert isinstance(scrubbed.tool_calls[0].error, RunError)


def test_the_value_itself_stays_as_it_was(redactor: Redactor) -> None:
    """Scrubbing makes a new value."""
    value = {"a": [TOKEN]}
    redactor.scrub_value(value)
    assert value == {"a": [TOKEN]}


@pytest.mark.parametrize("wrap", [lambda v: v, lambda v: {"a": v}], ids=["list", "object"])
def test_the_deepest_json_never_breaks_the_redactor(redactor: Redactor, wrap: Callable[[Any], Any]) -> None:
    """A value nested as deep as JSON can be parsed is scrubbed without raising."""
    assert redactor.scrub_value(wrap(deepest())) is not None
