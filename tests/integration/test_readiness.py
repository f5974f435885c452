"""Whether a deployment is up, and is the new build: what is waited out, what is not, and what is told."""

import asyncio
import pickle
import re
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import chain, repeat

import pytest

from remote_evals import RemoteStatusError, RemoteTarget, UsageError
from remote_evals.errors import NotReadyError
from remote_evals.redaction import REDACTED
from remote_evals.targets import _readiness, read_health, wait_until_ready
from tests.integration.serving import PATIENT, WHOLE_RUN, Connection, listen, sending, serve
from tests.integration.serving_leaks import API_KEY, TOKEN, assert_error_keeps_secrets

UP = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"
DOWN = b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 7\r\n\r\nwarming"
OLD = b"HTTP/1.1 200 OK\r\nx-version:  1.4.1\r\ncontent-length: 0\r\n\r\n"
NEW = b"HTTP/1.1 200 OK\r\nx-version: \t1.4.2 \r\ncontent-length: 0\r\n\r\n"
EXPECTED = {"X-Version": " 1.4.2"}
LONG_S = 600.0


class Pauses(list[float]):
    """The seconds that would have been waited."""

    async def __call__(self, seconds: float) -> None:
        """Take the time as passed."""
        self.append(seconds)
        await asyncio.sleep(0)


class Deployment:
    """What answers, the last answer again and again, and what was asked."""

    def __init__(self, answers: Sequence[bytes]) -> None:
        self.asked: list[Connection] = []
        self.pauses = Pauses()
        self.url = ""
        self._answers = chain(answers, repeat(answers[-1]))

    async def answer(self, connection: Connection) -> None:
        """Send the next answer; an empty one is a connection that is closed without."""
        self.asked.append(connection)
        await connection.send([next(self._answers)])

    async def wait(self, wait_s: float = LONG_S, expected: dict[str, str] | None = None, **options: object) -> None:
        """Wait for it, without the time that it takes."""
        target = RemoteTarget(self.url, **{"limits": PATIENT, **options})  # type: ignore[arg-type]
        await wait_until_ready(target, wait_s, expected or {}, pause=self.pauses)


@asynccontextmanager
async def deployed(*answers: bytes, path: str = "") -> AsyncIterator[Deployment]:
    """Answer each connection by the next of the answers."""
    deployment = Deployment(answers)
    async with listen(deployment.answer) as host:
        deployment.url = f"http://{host}{path}"
        yield deployment


def status(line: str, body: str = "", *headers: str) -> bytes:
    """Return an answer of this status."""
    fields = "".join(f"{header}\r\n" for header in headers)
    return f"HTTP/1.1 {line}\r\n{fields}content-length: {len(body.encode())}\r\n\r\n{body}".encode()


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


async def test_the_fake_server_is_ready() -> None:
    """A deployment that wants a token for its turns is ready without it."""
    with serve(token=TOKEN) as server:
        await wait_until_ready(RemoteTarget(server.url, limits=PATIENT), 0, {})


@pytest.mark.parametrize("answer", [status("204 No Content"), b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n"])
async def test_any_2xx_is_ready_whatever_its_body(answer: bytes) -> None:
    """The status decides: a body that is empty, or never comes, is not waited for."""
    async with listen(sending(answer)) as host:
        await wait_until_ready(RemoteTarget(f"http://{host}", limits=PATIENT), 0, {})


@pytest.mark.parametrize(
    "answer",
    [
        *(status(line) for line in ("404 Not Found", "429 Too Many", "502 Bad", "503 Not Yet", "504 Timeout")),
        b"",
        b"HTTP/1.1 200",
        b"+PONG\r\n",
    ],
    ids=["404", "429", "502", "503", "504", "closed", "broken off", "not HTTP"],
)
async def test_what_a_starting_deployment_answers_is_waited_out(answer: bytes) -> None:
    """What may pass is asked again, until the deployment is up."""
    async with deployed(answer, answer, UP) as deployment:
        await deployment.wait()
    assert len(deployment.asked) == 3


async def test_pauses_grow_from_a_quarter_of_a_second_to_two() -> None:
    """A deployment is asked less often the longer it takes, and never at the same moments as others ask it."""
    async with deployed(*[DOWN] * 6, UP) as deployment:
        await deployment.wait()
    for pause, least in zip(deployment.pauses, [0.25, 0.5, 1, 1.75, 1.75, 1.75], strict=True):
        assert least <= pause <= least + 0.25
    assert len(set(deployment.pauses)) == 6


@pytest.mark.parametrize(("header", "seconds"), [("3", 3.0), ("3600", 10.0), ("0", 0.25)])
async def test_a_retry_after_is_honoured_within_bounds(header: str, seconds: float) -> None:
    """A deployment that says when to come back is asked then, but neither at once nor in an hour."""
    async with deployed(status("503 Not Yet", "", f"retry-after: {header}"), UP) as deployment:
        await deployment.wait()
    assert deployment.pauses == [seconds]


async def test_a_server_that_starts_late_is_waited_for() -> None:
    """A refused connection is one that may come about, as soon as somebody listens on the port."""
    deployment = Deployment([UP])
    async with AsyncExitStack() as stack:
        port = stack.enter_context(socket.socket())
        port.bind(("127.0.0.1", 0))

        async def serve_once(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            connection = Connection(reader, writer)
            await connection.read_request()
            await deployment.answer(connection)
            writer.close()

        async def pause(seconds: float) -> None:
            await deployment.pauses(seconds)
            if len(deployment.pauses) == 3:
                await stack.enter_async_context(await asyncio.start_server(serve_once, sock=port))

        target = RemoteTarget("http://{}:{}".format(*port.getsockname()), limits=PATIENT)
        await wait_until_ready(target, LONG_S, {}, pause=pause)
    assert (len(deployment.pauses), len(deployment.asked)) == (3, 1)


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


async def test_a_wait_of_nothing_asks_once() -> None:
    """Without time to wait, the first answer decides."""
    async with deployed(DOWN) as deployment:
        with pytest.raises(NotReadyError, match=r"asked 1 time\(s\): the last answer was 503: warming\. Check the dep"):
            await deployment.wait(0)
    assert (len(deployment.asked), deployment.pauses) == (1, [])


async def test_the_end_of_the_time_is_told() -> None:
    """When the time is over, where, how long, how often, the last answer and what to try are told on one line."""
    async with deployed(DOWN) as deployment:
        target = RemoteTarget(f"{deployment.url}?key=hidden", limits=PATIENT)
        with pytest.raises(NotReadyError) as caught:
            await wait_until_ready(target, 0.05, {})
    told = re.fullmatch(r"(\S+): not ready after \S+, asked (\d+) time\(s\): (.*)", str(caught.value))
    assert told, str(caught.value)
    assert told[1] == f"{deployment.url}/health"
    assert int(told[2]) == len(deployment.asked)
    assert told[3] == "the last answer was 503: warming. Check the deployment's logs, or wait longer by --wait."
    assert caught.value.code == "NOT_READY"


async def test_a_last_request_is_sent_when_the_time_is_over() -> None:
    """No pause outlasts the time, so that what comes up at its end is seen."""
    async with deployed(status("503 Not Yet", "", "retry-after: 9"), UP) as deployment:
        await deployment.wait(2)
    assert 0 < deployment.pauses[0] <= 2


async def test_a_refused_connection_is_told() -> None:
    """Where nobody listens, the system's own words are the last answer."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        target = RemoteTarget("http://{}:{}".format(*bound.getsockname()), limits=PATIENT)
        with pytest.raises(NotReadyError, match=r": could not connect \(Connection refused\)\. Check that the deploy"):
            await wait_until_ready(target, 0, {})


@pytest.mark.parametrize(
    ("url", "happened"),
    [("https://{}", "the TLS handshake failed"), ("http://agent.invalid", "the host name was not found")],
    ids=["TLS", "DNS"],
)
async def test_no_connection_is_waited_out_whatever_the_reason(url: str, happened: str) -> None:
    """A name or certificate that is not there yet may come: only the end of the time tells."""
    async with listen(sending(b"plain\r\n\r\n"), speaks_http=False) as host:
        with pytest.raises(NotReadyError, match=happened):
            await wait_until_ready(RemoteTarget(url.format(host), limits=PATIENT), 0, {})


async def test_silence_is_waited_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """A deployment that takes the request and does not answer is told to be silent, and asked again."""
    monkeypatch.setattr(_readiness, "MAX_HEALTH_S", 0.05)
    pauses, asked = Pauses(), []

    async def answer(connection: Connection) -> None:
        asked.append(connection)
        await connection.send([UP] if len(asked) > 2 else [])
        await connection.gone()

    async with listen(answer) as host:
        target = RemoteTarget(f"http://{host}", limits=PATIENT)
        with pytest.raises(NotReadyError, match=r"timed out: no response headers within 50ms\. The deployment, or the"):
            await wait_until_ready(target, 0, {})
        await wait_until_ready(target, LONG_S, {}, pause=pauses)
    assert len(pauses) == len(asked) - 2


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


async def test_a_new_build_is_one_that_answers_three_times_in_a_row() -> None:
    """While old and new answer in turns the wait goes on; each answer is asked for over a connection of its own."""
    async with deployed(DOWN, NEW, OLD, NEW, NEW, OLD, NEW) as deployment:
        await deployment.wait(expected=EXPECTED)
    assert len(deployment.asked) == 9
    quick = [pause == 0.05 for pause in deployment.pauses]
    assert quick == [False, True, False, True, True, False, True, True]


@pytest.mark.parametrize(
    ("answer", "happened"), [(OLD, "X-Version was '1.4.1', not '1.4.2'"), (UP, "X-Version was missing, not '1.4.2'")]
)
async def test_another_build_is_not_ready(answer: bytes, happened: str) -> None:
    """A 2xx with another value, or with none, is an old build: both are told, and what to look at."""
    async with deployed(answer, answer, NEW) as deployment:
        with pytest.raises(NotReadyError) as caught:
            await deployment.wait(0, EXPECTED)
        assert caught.value.happened.endswith(f"asked 1 time(s): {happened}")
        assert "the deploy is done and that its build sends this header" in caught.value.advice
        await deployment.wait(expected=EXPECTED)


async def test_every_expected_header_must_be_there() -> None:
    """Of several headers all must have their value."""
    both = status("200 OK", "", "x-version: 1.4.2", "x-region: eu")
    async with deployed(both) as deployment:
        await deployment.wait(0, {"x-version": "1.4.2", "X-REGION": "eu"})
        with pytest.raises(NotReadyError, match="X-Region was 'eu', not 'us'"):
            await deployment.wait(0, {"x-version": "1.4.2", "X-Region": "us"})


async def test_builds_in_turns_are_told() -> None:
    """Whoever ran out of time between two builds reads that the awaited one answered too."""
    async with deployed(NEW, NEW, OLD) as deployment:
        with pytest.raises(NotReadyError, match=r"not '1\.4\.2', though 2 answer\(s\) were as awaited\. Check"):
            await deployment.wait(0, EXPECTED)


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


async def test_an_entered_target_stays_open_and_another_is_closed_again() -> None:
    """A target in use is asked over its own way and goes on; one that is not is left as it was found."""

    async def answer(connection: Connection) -> None:
        await connection.send([UP] if connection.request_line.startswith("GET") else WHOLE_RUN)

    async with listen(answer) as host:
        target = RemoteTarget(f"http://{host}", limits=PATIENT)
        async with target:
            await wait_until_ready(target, 0, {})
            async with target.open_session() as session:
                assert (await session.send("hi", 1)).reply == "Hello."
        await wait_until_ready(target, 0, {})
        with pytest.raises(UsageError, match="is not open"):
            target.open_session()


async def test_one_answer_can_be_had_as_it_is() -> None:
    """A single answer is a value whatever its status, and a body that hangs does not hide the status."""
    hangs = b"HTTP/1.1 503 No\r\nX-Version: 1.4.2\r\ncontent-length: 99\r\n\r\nwarming "
    async with listen(sending(hangs)) as host:
        health = await read_health(RemoteTarget(f"http://{host}?key=1", limits=PATIENT), 0.6)
    assert (health.url, health.status, health.headers["x-version"]) == (f"http://{host}/health", 503, "1.4.2")
    assert health.elapsed_ms > 0
    assert health.failure is not None
    assert health.failure.happened == "the answer was 503: warming"


def test_the_error_survives_another_process() -> None:
    """A pickled error comes back with its message and fields."""
    error = NotReadyError("https://agent/health", "not ready", "Wait longer")
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 - pickled a moment ago
    assert (str(again), vars(again)) == ("https://agent/health: not ready. Wait longer.", vars(error))
