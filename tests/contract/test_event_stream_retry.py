"""Fields that ask a client to reconnect: a turn must not, because its POST may refund money."""

import pytest

from remote_evals import RemoteStreamError, RemoteTarget
from tests.contract.replay import STREAM_HEAD, Connection, chunks, listen


@pytest.mark.parametrize("fields", [b"retry: 1\n\n", b"id: 7\nretry: 0\n", b"retry: 1\nevent: x\nid: 7\n"])
async def test_a_stream_that_asks_for_it_is_not_taken_up_again(fields: bytes) -> None:
    """A stream with `id` and `retry` that ends too early is broken, and its request is sent once."""
    requests: list[str | None] = []

    async def answer(connection: Connection) -> None:
        requests.append(connection.header("Last-Event-ID"))
        await connection.send([STREAM_HEAD, *chunks([fields + b'data: {"type":"text.delta","text":"Half"}\n\n'])])

    async with listen(answer) as host, RemoteTarget(f"http://{host}") as target, target.open_session() as session:
        with pytest.raises(RemoteStreamError, match=r"before run\.done"):
            await session.send("hi", 1)
        assert session.partial
        assert session.partial.reply == "Half"
    assert requests == [None]
