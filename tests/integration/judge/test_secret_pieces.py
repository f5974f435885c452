"""Half a key is a key too: an echo of the judge is scrubbed before it is cut."""

import json
from typing import Any

import pytest

from remote_evals.errors import JudgeError, JudgeUnparseableError
from remote_evals.judging import LLMJudge
from remote_evals.judging.base import MAX_START_CHARS
from tests.serving.deployments import serve

KEY = "Aq1zXs2wDe3cVf4rBg5tNh6yMj7u"
PIECES = {KEY[at : at + 6] for at in range(len(KEY) - 5)}
LONGEST_START = 60

BODIES: dict[str, tuple[int, Any]] = {
    "message": (401, {"error": {"message": "{}"}}),
    "error": (500, {"error": "{}"}),
    "text": (503, "{}"),
    "JSON": (500, {"detail": "{}"}),
    "no completion": (200, {"error": "{}"}),
    "page": (200, "{}"),
}


def around(limit: int) -> list[int]:
    """Return offsets at which the key is before, across and after a limit."""
    return [limit - len(KEY) - LONGEST_START, *range(limit - len(KEY) - 20, limit + 1, 3), limit]


async def get_failure(replies: Any) -> JudgeError:
    with serve(judge={"api_key": KEY, "replies": [replies]}) as server, pytest.raises(JudgeError) as caught:
        await LLMJudge(server.url, "m", api_key=KEY).grade(rubric="r", request="q", reply="a")
    return caught.value


def assert_no_piece(error: JudgeError) -> None:
    """Assert that the error contains no six characters of the key in a row."""
    shown = f"{error!r} {error} {vars(error)!r}"
    assert not [piece for piece in PIECES if piece in shown], str(error)


@pytest.mark.parametrize("offset", around(MAX_START_CHARS))
@pytest.mark.parametrize("name", BODIES)
async def test_a_key_at_the_cut_of_an_error(name: str, offset: int) -> None:
    """No piece of a key is left where the quote of a judge's error is cut."""
    status, body = BODIES[name]
    echo = f"{'x ' * (offset // 2)}{KEY} and more {KEY}"
    body = json.loads(json.dumps(body).replace("{}", echo))
    fault = {"name": "status", "status": status, "body": body}
    assert_no_piece(await get_failure({"verdict": {"score": 1}, "fault": fault}))


@pytest.mark.parametrize("offset", around(LONGEST_START))
async def test_a_key_at_the_cut_of_a_content_type(offset: int) -> None:
    """No piece of a key is left where the type of an answer is cut."""
    headers = {"content-type": f"text/{'x' * (offset % 300)}{KEY}"}
    fault = {"name": "status", "status": 200, "body": "x", "headers": headers}
    assert_no_piece(await get_failure({"verdict": {"score": 1}, "fault": fault}))


@pytest.mark.parametrize("offset", around(MAX_START_CHARS))
@pytest.mark.parametrize("finish_reason", ["stop", "length"])
async def test_a_key_at_the_cut_of_what_is_no_verdict(offset: int, finish_reason: str) -> None:
    """No piece of a key is left where an answer without a verdict is cut."""
    content = f"{'x ' * (offset // 2)}{KEY} and more"
    error = await get_failure({"content": content, "finish_reason": finish_reason})
    assert isinstance(error, JudgeUnparseableError)
    assert_no_piece(error)
