"""Scrubbing blocks the event loop, and with it every other case, so it must be fast for any text."""

import json
import time
import tracemalloc

import pytest

from remote_evals.redaction import Redactor, Secret
from tests.unit.redaction.spellings import NASTY, TOKEN

MIB = 1024 * 1024
PROSE = "Your order 41 has shipped, and will arrive tomorrow.\n"
JSON = json.dumps({"items": [{"id": number, "note": 'He said "yes"\n to 50% é/ü'} for number in range(50)]})


def fill(text: str, size: int) -> str:
    return (text * (size // len(text) + 1))[:size]


TEXTS = {
    "prose": fill(PROSE, 4 * MIB),
    "prose with few escapes": fill(PROSE, 2 * MIB) + "%2541 \\n \\n &amp;" + fill(PROSE, 2 * MIB),
    "JSON": fill(JSON, 4 * MIB),
    "JSON in JSON": fill(json.dumps(JSON)[1:-1], 4 * MIB),
    "letters": "x" * 4 * MIB,
    "base64": fill("QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWZnaGlqa2xtbm9wcXJzdHV2d3h5eg", 4 * MIB),
}


@pytest.fixture
def redactor() -> Redactor:
    redactor = Redactor()
    redactor.add(Secret(TOKEN))
    return redactor


def measure_cpu_s(redactor: Redactor, text: str) -> float:
    started = time.thread_time()
    redactor.scrub(text)
    return time.thread_time() - started


@pytest.mark.parametrize("name", TEXTS)
def test_a_large_text_takes_a_moment(redactor: Redactor, name: str) -> None:
    """Scrubbing 4 MiB of ordinary text, with or without escapes, takes a fraction of a second."""
    # It takes a twentieth of a second, or more on a busy machine.
    assert min(measure_cpu_s(redactor, TEXTS[name]) for _ in range(2)) < 0.5


@pytest.mark.parametrize("name", ["prose with few escapes", "JSON in JSON"])
def test_a_large_text_takes_little_memory(redactor: Redactor, name: str) -> None:
    """Scrubbing takes less than twice the memory of the text in addition to it."""
    text = TEXTS[name]
    tracemalloc.start()
    try:
        redactor.scrub(text)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2 * len(text)


@pytest.mark.parametrize("secret", [NASTY, TOKEN], ids=["nasty", "token"])
def test_a_hostile_text_takes_linear_time(secret: str) -> None:
    """A text of only escapes and parts of secrets is scrubbed in linear time."""
    redactor = Redactor()
    redactor.add(Secret(secret))
    units = ["\\", "%25", "&#", "&amp;", "\\u005c", "\\n", secret[:-1], f"{secret} ", "%74", "\\n ", "&#0"]
    assert sum(measure_cpu_s(redactor, fill(unit, 300_000)) for unit in units) < 5
