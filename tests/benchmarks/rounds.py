"""Interleaved rounds: each runs every measurement once, so that a slow moment of the machine affects them all alike."""

import sys
from collections.abc import Callable, Mapping
from statistics import median

from .processes import Figures, MeasurementFailedError

Measurement = Callable[[], Figures]


def run_rounds(measurements: Mapping[str, Measurement], rounds: int) -> dict[str, Figures]:
    """Return the median of each figure of each measurement, but the maximum of `errors`, because one is too many.

    A measurement that fails is reported on standard error and left out, so that the others are still reported.
    """
    figures: dict[str, list[Figures]] = {name: [] for name in measurements}
    for number in range(1, rounds + 1):
        for name in list(figures):
            print(f"round {number} of {rounds}: {name}", file=sys.stderr, flush=True)
            try:
                figures[name].append(measurements[name]())
            except MeasurementFailedError as failure:
                print(f"{name} is left out: {failure}", file=sys.stderr, flush=True)
                del figures[name]
    return {name: _combine(taken) for name, taken in figures.items()}


def _combine(taken: list[Figures]) -> Figures:
    return {
        name: max(one[name] for one in taken) if name == "errors" else median(one[name] for one in taken)
        for name in taken[0]
    }
