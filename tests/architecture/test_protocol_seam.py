"""Only `protocols/` knows what a deployment speaks, and the fake server knows it on its own."""

import ast
import re

import pytest

from tests.architecture.source import FAKE_SERVER, SOURCES, Source

# Event types, fields, paths and frames of `/chat`; words such as "error" mean something elsewhere too.
OF_THE_WIRE = re.compile(
    r"(run|step|tool|text|reasoning|approval|permission)\.(start|done|delta|error|resume|requested|decision)"
    r"|/chat(/(?!completions).*)?|/health|event: done|sessionId|toolCallId|approvalId|finishReason|runId"
)


@pytest.mark.parametrize(
    "source", [source for source in SOURCES if source.parts[0] != "protocols"], ids=lambda source: source.name
)
def test_nothing_outside_knows_the_wire(source: Source) -> None:
    """No value outside `protocols/` is an event type, a field, a path or a frame of the `/chat` protocol."""
    values = (node.value for node in ast.walk(source.tree) if isinstance(node, ast.Constant))
    assert [value for value in values if isinstance(value, str) and OF_THE_WIRE.fullmatch(value)] == []


def test_the_fake_server_is_written_apart() -> None:
    """The fake server imports nothing from the package, so that a field name wrong in both cannot hide."""
    assert all("remote_evals" not in path.read_text("utf-8") for path in FAKE_SERVER.rglob("*.py"))
