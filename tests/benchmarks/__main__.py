"""Runs the benchmarks and prints the table; exits with 1 if the soak found a problem."""

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence

from .figures import measure_crowds, measure_startup, measure_transfers
from .processes import pin_to_core
from .server import serve
from .soak import measure_soak
from .table import Row, render_table

_QUESTIONS = ("events", "streams", "startup", "soak")


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks", description="Measure how fast and how stable remote-evals is."
    )
    parser.add_argument("--events", type=int, default=200_000, help="events of the long stream (default: %(default)s)")
    parser.add_argument(
        "--rounds", type=int, default=5, help="rounds that each median is taken of (default: %(default)s)"
    )
    parser.add_argument(
        "--only", choices=_QUESTIONS, action="append", help="answer only this question; may be repeated"
    )
    options = parser.parse_args()

    names = options.only or _QUESTIONS
    rows = list(_measure_speed(options, [name for name in names if name != "soak"]))
    soak = list(measure_soak()) if "soak" in names else []
    print(render_table([*rows, *soak]))
    if any(row.ok is False for row in soak):
        sys.exit(1)


def _measure_speed(options: argparse.Namespace, names: Sequence[str]) -> Iterator[Row]:
    if not names:
        return
    pin_to_core(-1)
    with serve(options.events) as url:
        pin_to_core(0)
        questions: dict[str, Callable[[], Iterator[Row]]] = {
            "events": lambda: measure_transfers(url, options.events, options.rounds),
            "streams": lambda: measure_crowds(url, options.rounds),
            "startup": lambda: measure_startup(options.rounds),
        }
        for name in names:
            yield from questions[name]()


if __name__ == "__main__":
    main()
