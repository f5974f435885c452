"""A session takes one turn at a time and remembers the turns that ended well."""

import itertools
import select
from concurrent.futures import ThreadPoolExecutor

from fake_server import FakeServer
from tests.fake_server.wire_client import ask, one, raw_turn, read_until, serve, transcript

SLOW = {"text": "one two three four five", "delay": "20ms"}


def contents(server: FakeServer, session: str = "s") -> list[str]:
    """Return the texts of the transcript."""
    return [message["content"] for message in transcript(server, session)["messages"]]


def test_a_session_remembers_what_was_said() -> None:
    """The transcript has every input and every reply, in order."""
    with serve([{"when": {"turn": 1}, "text": "first"}, {"text": "second"}]) as server:
        ask(server, "one")
        ask(server, "two")
        assert transcript(server)["messages"] == [
            {"role": "user", "content": "one"},
            {"role": "assistant", "content": "first"},
            {"role": "user", "content": "two"},
            {"role": "assistant", "content": "second"},
        ]


def test_a_failed_turn_is_not_remembered() -> None:
    """A failed turn is not in the transcript."""
    with serve([{"error": {"name": "Boom"}}]) as server:
        ask(server)
        assert transcript(server)["messages"] == []


def test_the_transcript_is_complete_when_the_last_event_arrives() -> None:
    """The turn is in the transcript by the time its client reads run.done."""
    with serve([{"text": "hello"}]) as server, raw_turn(server) as connection:
        read_until(connection, b"run.done")
        assert len(transcript(server)["messages"]) == 2


def test_a_second_turn_of_a_session_gets_no_headers_until_the_first_ends() -> None:
    """A second turn of a session gets no byte until the first has ended."""
    with serve([SLOW]) as server, raw_turn(server, "first") as first:
        read_until(first, b"run.start")
        with raw_turn(server, "second") as second:
            server.wait_for_requests(2)
            read_until(first, b"two ")
            assert not select.select([second], [], [], 0)[0]
            read_until(first, b"event: done")
            read_until(second, b"event: done")
        assert contents(server)[::2] == ["first", "second"]


def test_many_turns_of_a_session_never_overlap() -> None:
    """No two turns of one session overlap in time."""
    with serve([{"text": "a b c", "delay": "2ms"}]) as server, ThreadPoolExecutor(8) as pool:
        runs = list(pool.map(lambda _: ask(server), range(8)))
    spans = sorted((run[0]["timestamp"], run[-1]["timestamp"]) for run in runs)
    assert all(earlier[1] <= later[0] for earlier, later in itertools.pairwise(spans))


def test_turns_of_two_sessions_overlap() -> None:
    """Turns of two sessions run at the same time."""
    with serve([SLOW]) as server, raw_turn(server, session="a") as first:
        read_until(first, b"run.start")
        with raw_turn(server, session="b") as second:
            read_until(second, b"run.start")
            assert not contents(server, "a")


def test_a_client_that_leaves_does_not_stop_the_turn() -> None:
    """A turn whose client left runs to its end, and the next turn waits for it."""
    with serve([{"when": {"turn": 1}, **SLOW}, {"text": "next"}]) as server:
        with raw_turn(server, "leaving") as connection:
            read_until(connection, b"text.delta")
        assert one(ask(server, "back"), "run.done")["text"] == "next"
        assert contents(server) == ["leaving", SLOW["text"], "back", "next"]
