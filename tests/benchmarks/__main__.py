"""Measures, and prints the table."""

import argparse
from collections.abc import Callable, Iterator

from .figures import measure_crowds, measure_startup, measure_transfers
from .processes import pin_to_core
from .server import serve
from .table import Row, render_table

_QUESTIONS = ("events", "streams", "startup")


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description="How fast remote-evals is.")
    parser.add_argument("--events", type=int, default=200_000, help="events of the long stream (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="the median is of so many (default: %(default)s)")
    parser.add_argument("--only", choices=_QUESTIONS, action="append", help="only this question; may be repeated")
    options = parser.parse_args()

    pin_to_core(-1)
    with serve(options.events) as url:
        pin_to_core(0)
        questions: dict[str, Callable[[], Iterator[Row]]] = {
            "events": lambda: measure_transfers(url, options.events, options.rounds),
            "streams": lambda: measure_crowds(url, options.rounds),
            "startup": lambda: measure_startup(options.rounds),
        }
        rows = [row for name in options.only or _QUESTIONS for row in questions[name]()]
    print(render_table(rows))


if __name__ == "__main__":
    main()
