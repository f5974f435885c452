"""What is measured and what is expected of it: one function per question, from a running server to rows."""

import shutil
import sys
import sysconfig
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from .processes import Figures, measure_duration, measure_module, measure_script
from .rounds import Measurement, run_rounds
from .server import SLOW_S
from .table import Row

# How many times as fast as each of these the client must be; None without a target.
_OTHERS = {
    "plain": ("httpx + httpx-sse", 3.5),
    "aiohttp": ("httpx-aiohttp + httpx-sse", None),
    "node": ("node fetch", None),
}

# Numbers of streams, and how many times the ideal time they may take.
_CROWDS = {500: 1.3, 2_000: 2.0}
_MAX_BLOCK_S = 0.3
_MAX_KIB = 25
_LIMIT_S = 120


def measure_transfers(url: str, events: int, rounds: int) -> Iterator[Row]:
    """Measure one long stream, read as fast as possible."""
    measurements: dict[str, Measurement] = {
        "remote": partial(measure_module, "transfers", "remote", f"{url}/fast"),
        "plain": partial(measure_module, "transfers", "plain", f"{url}/fast"),
        "aiohttp": partial(measure_module, "transfers", "aiohttp", f"{url}/fast"),
    }
    if node := shutil.which("node"):
        script = str(Path(__file__).with_name("transfer.mjs"))
        measurements["node"] = partial(measure_script, [node, script, f"{url}/fast"])
    figures = run_rounds(measurements, rounds)
    if len({taken["chars"] for taken in figures.values()}) > 1:
        raise AssertionError(f"the clients did not read the same text: {figures}")
    rates = {name: events / taken["seconds"] for name, taken in figures.items()}
    for name, (described, least) in _OTHERS.items():
        what, measured = f"{events:,} events", f"{rates['remote']:,.0f} /s"
        if name not in rates:
            yield Row(what, measured, f"{described}: not measured")
            continue
        ratio = rates["remote"] / rates[name]
        compared = f"{described}: {rates[name]:,.0f} /s"
        yield Row(what, measured, compared, ratio, f">= {least}x" if least else "", ratio >= least if least else None)


def measure_crowds(url: str, rounds: int) -> Iterator[Row]:
    """Measure many slow streams at once."""
    measurements: dict[str, Measurement] = {}
    for streams in _CROWDS:
        measurements[f"remote {streams}"] = partial(_measure_crowd, "remote", streams, url)
        measurements[f"plain {streams}"] = partial(_measure_crowd, "plain", streams, url)
    figures = run_rounds(measurements, rounds)
    for streams, most in _CROWDS.items():
        yield from _crowd_rows(streams, most, figures[f"remote {streams}"], figures.get(f"plain {streams}"))


def _measure_crowd(way: str, streams: int, url: str) -> Figures:
    slow, held = (
        measure_module("crowd", way, str(streams), url, answer, limit_s=_LIMIT_S)
        for answer in ("slow", f"held/{streams}")
    )
    return {**slow, "kib_per_stream": held["kib_per_stream"], "errors": slow["errors"] + held["errors"]}


def _crowd_rows(streams: int, most: float, taken: Figures, plain: Figures | None) -> Iterator[Row]:
    what = f"{streams:,} streams"
    ratio = taken["seconds"] / SLOW_S
    time = f"{taken['seconds']:.2f} s"
    yield Row(f"{what}: time", time, f"ideal: {SLOW_S:.2f} s", ratio, f"<= {most}x", ratio <= most)
    if plain:
        yield _figure_row(f"{what}: time", "seconds", "s", taken, plain, None)
    yield _figure_row(f"{what}: errors", "errors", "", taken, plain, 0)
    block_limit = _MAX_BLOCK_S if streams <= 500 else None
    yield _figure_row(f"{what}: longest block of the loop", "block_s", "s", taken, plain, block_limit)
    yield _figure_row(f"{what}: memory a stream", "kib_per_stream", "KiB", taken, plain, _MAX_KIB)


def _figure_row(what: str, figure: str, unit: str, taken: Figures, plain: Figures | None, most: float | None) -> Row:
    measured = taken[figure]
    return Row(
        what,
        f"{measured:.3g} {unit}".strip(),
        f"httpx: {plain[figure]:.3g} {unit}".strip() if plain else "",
        measured / plain[figure] if plain and plain[figure] else None,
        "" if most is None else f"<= {most:g} {unit}".strip(),
        None if most is None else measured <= most,
    )


def measure_startup(rounds: int) -> Iterator[Row]:
    """Measure the time that the command takes to print its version, compared with Python doing nothing."""
    script = Path(sysconfig.get_path("scripts"), "remote-evals")
    version = [str(script), "--version"]
    nothing = [sys.executable, "-c", "pass"]
    measurements: dict[str, Measurement] = {
        "version": partial(measure_duration, version),
        "nothing": partial(measure_duration, nothing),
    }
    figures = run_rounds(measurements, rounds * 4)
    took, bare = figures["version"]["seconds"], figures["nothing"]["seconds"]
    ratio = took / bare
    compared = f"python -c pass: {bare * 1000:.0f} ms"
    yield Row("remote-evals --version", f"{took * 1000:.0f} ms", compared, ratio, "<= 6x", ratio <= 6)
