"""Which content types are event streams, and that these are read as UTF-8."""

import pytest

from remote_evals import RemoteStreamError, RemoteTarget
from tests.contract.replay import Connection, chunks, listen

FRAME = 'data: {"type":"run.done","finishReason":"stop","text":"é 日本"}\n\n'.encode()


async def read_reply(content_type: str) -> str:
    """Return the reply of a turn whose answer has this content type."""
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\nTransfer-Encoding: chunked\r\n\r\n".encode()

    async def answer(connection: Connection) -> None:
        await connection.send([head, *chunks([FRAME])])

    async with listen(answer) as host, RemoteTarget(f"http://{host}") as target, target.open_session() as session:
        return (await session.send("hi", 1)).reply


@pytest.mark.parametrize(
    "content_type",
    [
        "text/event-stream",
        "Text/Event-Stream; Charset=ISO-8859-1",
        "TEXT/EVENT-STREAM;charset=utf-16",
        "text/event-stream;charset=nonsense",
        "text/event-stream ; charset=utf-8",
        "text/event-stream;",
        "text/event-stream; a=b; charset=latin-1",
    ],
)
async def test_an_event_stream_is_utf8_whatever_its_type_says(content_type: str) -> None:
    """The content type may have any case, and its charset parameter is ignored."""
    assert await read_reply(content_type) == "é 日本"


@pytest.mark.parametrize(
    "content_type",
    ["", "text/event-streams", "text/event-stream-x", "x-text/event-stream", "text/event-stream charset=x"],
)
async def test_another_type_is_no_event_stream(content_type: str) -> None:
    """A content type that only resembles an event stream is an error."""
    with pytest.raises(RemoteStreamError, match="not an event stream"):
        await read_reply(content_type)
