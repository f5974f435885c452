"""What `GET /health` is asked with, and what its answers mean: which are told at once, and in which words."""

import re

import pytest

from remote_evals import RemoteStatusError, RemoteTarget
from remote_evals.errors import NotReadyError
from remote_evals.redaction import REDACTED
from remote_evals.targets import read_health, wait_until_ready
from tests.serving.deployments import PATIENT, listen, sending
from tests.serving.health import EXPECTED, UP, deployed, status
from tests.serving.leaks import API_KEY, TOKEN, assert_error_keeps_secrets


async def test_health_is_asked_below_the_base_url_with_the_headers_and_without_the_token() -> None:
    """One GET of /health below the URL's path, with its query and the target's own headers; the token stays here."""
    async with deployed(UP, path="/agent/?key=1") as deployment:
        await deployment.wait(token=TOKEN, headers={"X-Api-Key": API_KEY})
    (asked,) = deployment.asked
    assert asked.request_line == "GET /agent/health?key=1 HTTP/1.1"
    assert asked.header("X-Api-Key") == API_KEY
    assert asked.header("Authorization") is None
    assert TOKEN not in str(asked.headers)
    assert deployment.pauses == []


@pytest.mark.parametrize("answer", [status("204 No Content"), b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n"])
async def test_any_2xx_is_ready_whatever_its_body(answer: bytes) -> None:
    """The status decides: a body that is empty, or never comes, is not waited for."""
    async with listen(sending(answer)) as host:
        await wait_until_ready(RemoteTarget(f"http://{host}", limits=PATIENT), 0, {})


@pytest.mark.parametrize(
    ("answer", "happened", "advice"),
    [
        (status("401 No", "who?"), "none was sent (401: who?)", "/health is asked without the token"),
        (status("403 No", "not you"), "not allowed (403: not you)", "/health is asked without the token"),
        (status("500 Oops", '{"error": "no model"}'), "the answer was 500: no model", "Check the deployment's logs"),
        (status("400 Bad"), "the answer was 400", "Give the deployment's base URL"),
        (status("302 Found", "", "location: https://sso.test/login?t=1"), "a redirect to https://sso.test", "a login"),
    ],
    ids=["401", "403", "500", "400", "redirect"],
)
async def test_what_waiting_does_not_mend_is_told_at_once(answer: bytes, happened: str, advice: str) -> None:
    """Any other answer ends the wait: it says what was answered and what to do, and blames no token."""
    async with deployed(answer, UP) as deployment:
        with pytest.raises(RemoteStatusError) as caught:
            await deployment.wait()
    error = caught.value
    assert (len(deployment.asked), deployment.pauses) == (1, [])
    assert str(error) == f"{deployment.url}/health: {error.happened}. {error.advice}."
    assert happened in error.happened
    assert advice in error.advice
    assert answer.startswith(b"HTTP/1.1 %d " % error.status)


async def test_a_refused_token_of_the_targets_own_headers_is_told() -> None:
    """Whoever gives the token as a header sends it here too, and reads that it was refused."""
    async with deployed(status("401 No")) as deployment:
        with pytest.raises(RemoteStatusError, match=r"the token was refused \(401\)\. Check that the token is current"):
            await deployment.wait(headers={"Authorization": f"Bearer {TOKEN}"})


async def test_a_closed_connection_is_told_in_words_of_its_own() -> None:
    """What broke is the answer to /health, so nobody reads of events and runs."""
    async with deployed(b"") as deployment:
        with pytest.raises(NotReadyError, match="the connection was closed before it answered") as caught:
            await deployment.wait(0)
    assert not re.search(r"event|\brun\b|token", str(caught.value))


@pytest.mark.parametrize(
    ("path", "advice"),
    [
        ("/a/chat", "Leave /chat off the URL: it is added."),
        ("/a/health", "Leave /health off the URL: it is added."),
        ("/a", "Check the URL, and that the deployment answers GET /health."),
    ],
)
async def test_a_url_with_too_much_is_told(path: str, advice: str) -> None:
    """A 404 for the whole time is a wrong URL, and the likely mistake is named."""
    async with deployed(status("404 Not Found"), path=path) as deployment:
        with pytest.raises(NotReadyError) as caught:
            await deployment.wait(0)
    assert str(caught.value).endswith(advice)


async def test_what_is_quoted_is_short_and_printable_and_holds_no_secret() -> None:
    """However much a deployment says, and whatever it echoes, one harmless line without a secret is told."""
    noise = f"\x1b[2J you sent {API_KEY} " + "and so on " * 7_000
    for answers, expected in (
        ([status("503 No", noise)], None),
        ([status("500 No", noise)], None),
        ([status("200 OK", "", f"x-version: {API_KEY} {'y' * 400}")], EXPECTED),
    ):
        async with deployed(*answers) as deployment:
            with pytest.raises((NotReadyError, RemoteStatusError)) as caught:
                await deployment.wait(0, expected, headers={"X-Api-Key": API_KEY})
        told = str(caught.value)
        assert REDACTED in told
        assert told.isprintable()
        assert len(told) < 500
        assert_error_keeps_secrets(caught.value)


async def test_one_answer_can_be_had_as_it_is() -> None:
    """A single answer is a value whatever its status, and a body that hangs does not hide the status."""
    hangs = b"HTTP/1.1 503 No\r\nX-Version: 1.4.2\r\ncontent-length: 99\r\n\r\nwarming "
    async with listen(sending(hangs)) as host:
        health = await read_health(RemoteTarget(f"http://{host}?key=1", limits=PATIENT), 0.6)
    assert (health.url, health.status, health.headers["x-version"]) == (f"http://{host}/health", 503, "1.4.2")
    assert health.elapsed_ms > 0
    assert health.failure is not None
    assert health.failure.happened == "the answer was 503: warming"
