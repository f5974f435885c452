"""Whether a deployment is up: what is waited out, how long, and what is told when the time is over."""

import asyncio
import pickle
import re
import socket
from contextlib import AsyncExitStack

import pytest

from remote_evals import RemoteTarget, UsageError
from remote_evals.errors import NotReadyError
from remote_evals.targets import readiness as _readiness
from remote_evals.targets import wait_until_ready
from tests.serving.deployments import PATIENT, WHOLE_RUN, Connection, listen, sending, serve
from tests.serving.health import DOWN, LONG_S, UP, Deployment, Pauses, deployed, status
from tests.serving.leaks import TOKEN
from tests.serving.ports import closed_port


async def test_the_fake_server_is_ready() -> None:
    """A deployment that wants a token for its turns is ready without it."""
    with serve(token=TOKEN) as server:
        await wait_until_ready(RemoteTarget(server.url, limits=PATIENT), 0, {})


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


async def test_a_wait_of_nothing_asks_once() -> None:
    """Without time to wait, the first answer decides."""
    async with deployed(DOWN) as deployment:
        with pytest.raises(
            NotReadyError, match=r"asked 1 time\(s\), the last time: the answer was 503: warming\. Check"
        ):
            await deployment.wait(0)
    assert (len(deployment.asked), deployment.pauses) == (1, [])


async def test_the_end_of_the_time_is_told() -> None:
    """When the time is over, where, how long, how often, the last answer and what to try are told on one line."""
    async with deployed(DOWN) as deployment:
        target = RemoteTarget(f"{deployment.url}?key=hidden", limits=PATIENT)
        with pytest.raises(NotReadyError) as caught:
            await wait_until_ready(target, 0.05, {})
    told = re.fullmatch(r"(\S+): not ready after \S+, asked (\d+) time\(s\), the last time: (.*)", str(caught.value))
    assert told, str(caught.value)
    assert told[1] == f"{deployment.url}/health"
    assert int(told[2]) == len(deployment.asked)
    assert told[3] == "the answer was 503: warming. Check the deployment's logs, or wait longer by --wait."
    assert caught.value.code == "NOT_READY"


async def test_a_last_request_is_sent_when_the_time_is_over() -> None:
    """No pause outlasts the time, so that what comes up at its end is seen."""
    async with deployed(status("503 Not Yet", "", "retry-after: 9"), UP) as deployment:
        await deployment.wait(2)
    assert 0 < deployment.pauses[0] <= 2


async def test_a_refused_connection_is_told() -> None:
    """Where nobody listens, the system's own words are the last answer."""
    with closed_port() as host:
        target = RemoteTarget(f"http://{host}", limits=PATIENT)
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


def test_the_error_survives_another_process() -> None:
    """A pickled error comes back with its message and fields."""
    error = NotReadyError("https://agent/health", "not ready", "Wait longer")
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 - pickled a moment ago
    assert (str(again), vars(again)) == ("https://agent/health: not ready. Wait longer.", vars(error))
