"""`Secret` is never shown, and `Redactor` replaces secrets in texts, values and models."""

import copy
import io
import json
import logging
import pickle
import traceback
from collections.abc import Callable
from typing import Any

import pytest

from remote_evals.redaction import REDACTED, Redactor, Secret
from remote_evals.results import RunError, Usage
from tests.builders import call, deepest, run

TOKEN = 'tök/en+1 "&=~\\x'


@pytest.fixture
def redactor() -> Redactor:
    redactor = Redactor()
    redactor.add(Secret(TOKEN))
    return redactor


def test_only_reveal_gives_the_text() -> None:
    """A secret returns its text from `reveal` only."""
    assert Secret(TOKEN).reveal() == TOKEN


@pytest.mark.parametrize(
    "show",
    [
        repr,
        str,
        ascii,
        lambda secret: f"{secret}",
        lambda secret: f"{secret!r:>40}",
        "%s".__mod__,
        lambda secret: str([secret]),
        lambda secret: str(dir(secret)),
    ],
    ids=["repr", "str", "ascii", "format", "format repr", "percent", "in a list", "dir"],
)
def test_no_way_to_show_a_secret_shows_it(show: Callable[[Secret], str]) -> None:
    """However a secret is converted to text, the result does not hold it."""
    assert "hunter22" not in show(Secret("hunter22"))


@pytest.mark.parametrize("leave", [pickle.dumps, copy.copy, copy.deepcopy, json.dumps])
def test_a_secret_does_not_leave_the_process(leave: Callable[[Secret], object]) -> None:
    """A secret cannot be pickled, copied or written as JSON."""
    with pytest.raises(TypeError):
        leave(Secret("hunter22"))


def test_a_traceback_with_locals_shows_no_secret(redactor: Redactor) -> None:
    """A traceback with all local variables, as error trackers record it, holds no secret."""

    def fail(token: Secret, known: Redactor) -> None:
        raise RuntimeError(f"failed with {token}")

    secret = Secret("hunter22")
    redactor.add(secret)
    with pytest.raises(RuntimeError) as caught:
        fail(secret, redactor)
    shown = "".join(traceback.TracebackException.from_exception(caught.value, capture_locals=True).format())
    assert "Secret('[redacted]')" in shown
    assert "hunter22" not in shown


def test_a_log_shows_no_secret() -> None:
    """A secret that is logged is shown as redacted."""
    stream = io.StringIO()
    logger = logging.Logger("test")
    logger.addHandler(logging.StreamHandler(stream))
    logger.warning("the token is %s", Secret("hunter22"))
    assert stream.getvalue() == "the token is Secret('[redacted]')\n"


def test_a_redactor_does_not_carry_its_secrets_away(redactor: Redactor) -> None:
    """The secrets of a redactor are neither in its repr nor in its pickle."""
    redactor.add(Secret("hunter22"))
    assert "hunter22" not in repr(redactor)
    try:
        pickled = pickle.dumps(redactor)
    except TypeError:
        return
    assert b"hunter22" not in pickled


@pytest.mark.parametrize("short", ["", "e", "passed", "hunter2"])
def test_what_is_short_is_no_secret(short: str) -> None:
    """A secret of fewer than 8 characters is not hidden, since that would blot out other words."""
    redactor = Redactor()
    redactor.add(Secret(short))
    value = {"passed": [f"the eval {short}ed", 7]}
    assert redactor.scrub_value(value) is value


def test_several_secrets_are_all_replaced() -> None:
    """If one secret is part of another, both are replaced completely."""
    redactor = Redactor()
    for text in ("abcdefgh", "abcdefghijk", "", "abcdefgh"):
        redactor.add(Secret(text))
    assert redactor.scrub("abcdefghijk abcdefgh abcdefg") == f"{REDACTED} {REDACTED} abcdefg"


def test_a_secret_with_a_lone_surrogate_is_replaced() -> None:
    """A token that UTF-8 cannot encode is found too."""
    redactor = Redactor()
    redactor.add(Secret("token-a\ud83db"))
    assert redactor.scrub("x token-a\ud83db y") == f"x {REDACTED} y"


def test_without_a_secret_nothing_changes() -> None:
    """A redactor without secrets returns what it is given."""
    redactor = Redactor()
    redactor.add(Secret(""))
    value = {"a": [1, "b"]}
    assert (redactor.scrub("text"), redactor.scrub_value(value)) == ("text", value)


def test_every_string_of_a_value_is_scrubbed(redactor: Redactor) -> None:
    """Strings are scrubbed at any depth, including keys, and everything else stays as it is."""
    value = {"a": [TOKEN, {TOKEN: (TOKEN, 1, True, None, 1.5)}], 7: TOKEN}
    expected = {"a": [REDACTED, {REDACTED: (REDACTED, 1, True, None, 1.5)}], 7: REDACTED}
    assert redactor.scrub_value(value) == expected


DIGITS = "1234567890123456"


@pytest.mark.parametrize("number", [int(DIGITS), -int(DIGITS), int(f"9{DIGITS}9"), float(DIGITS)])
def test_a_secret_that_comes_back_as_a_number_is_replaced(number: float) -> None:
    """A secret of digits is found in a JSON number, and other numbers stay as they are."""
    redactor = Redactor()
    redactor.add(Secret(DIGITS))
    scrubbed = redactor.scrub_value({"a": [number, 41, 1.5, True, None, 10**5000]})
    assert DIGITS not in str(scrubbed["a"][:5])
    assert REDACTED in scrubbed["a"][0]
    assert scrubbed["a"][1:] == [41, 1.5, True, None, 10**5000]


def test_what_a_model_counts_stays_a_number() -> None:
    """A number is kept in a numeric field of a model, and scrubbed in a field of any type."""
    redactor = Redactor()
    redactor.add(Secret(DIGITS))
    usage = Usage(input_tokens=int(DIGITS), output_tokens=0, total_tokens=int(DIGITS))
    scrubbed = redactor.scrub_value(run(call("a", result=int(DIGITS)), usage=usage))
    assert (scrubbed.usage, scrubbed.tool_calls[0].result) == (usage, REDACTED)


def test_a_run_is_scrubbed_as_a_whole(redactor: Redactor) -> None:
    """A token is replaced everywhere in a run: in the reply, a call, an error and the object."""
    original = run(
        call(TOKEN, {"a": [TOKEN]}, result={TOKEN: TOKEN}, error=RunError(name=TOKEN, message=TOKEN)),
        reply=f"Bearer {TOKEN}",
        object=[TOKEN],
        error=RunError(name="x", message=TOKEN, code=TOKEN),
        finish_reason=TOKEN,
    )
    scrubbed = redactor.scrub_value(original)
    assert repr(TOKEN)[1:-1] not in str(scrubbed.model_dump())
    assert repr(TOKEN)[1:-1] in str(original.model_dump())
    assert (scrubbed.reply, scrubbed.steps, scrubbed.usage) == (f"Bearer {REDACTED}", original.steps, original.usage)
    assert isinstance(scrubbed.tool_calls[0].error, RunError)


def test_the_value_itself_stays_as_it_was(redactor: Redactor) -> None:
    """Scrubbing returns a new value and leaves the given one as it was."""
    value = {"a": [TOKEN]}
    redactor.scrub_value(value)
    assert value == {"a": [TOKEN]}


@pytest.mark.parametrize("wrap", [lambda value: value, lambda value: {"a": value}], ids=["list", "object"])
def test_the_deepest_json_never_breaks_the_redactor(redactor: Redactor, wrap: Callable[[Any], Any]) -> None:
    """A value nested as deeply as JSON can be parsed is scrubbed without raising."""
    assert redactor.scrub_value(wrap(deepest())) is not None


MARKS = [
    "[redacted]",
    "REDACTED",
    "[redacted",
    "x[redacted]",
    "]starts-with-its-end",
    "ends-with-its-start[",
    "***[redacted]***",
]


@pytest.mark.parametrize("secret", MARKS)
def test_a_secret_spelled_like_the_mark_is_hidden(secret: str) -> None:
    """A secret that equals, holds or overlaps `[redacted]` is replaced with another mark."""
    redactor = Redactor()
    redactor.add(Secret(secret))
    for text in (secret, f"x{secret}y", f"{secret[0]}{secret}{secret[1:]}"):
        assert secret.lower() not in redactor.scrub(text).lower()
    assert redactor.scrub(f"a {secret} b") in ("a *** b", "a ### b")


def test_other_secrets_are_marked_as_redacted() -> None:
    """A secret that merely contains the word "redacted" is replaced with `[redacted]`."""
    redactor = Redactor()
    redactor.add(Secret("a-redacted-thing"))
    assert redactor.scrub("a-redacted-thing") == "[redacted]"
