"""The command line: `python -m fake_server SCRIPT`."""

import argparse
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from fake_server import FakeServer, ScriptError, load_script

REFERENCE = Path(__file__).with_name("reference.yaml")
# Windows runs no signal handler while a thread waits.
SIGNAL_POLL_S = 1.0

_EXAMPLE = """\
example script:

  token: demo-token
  replies:
    - when: {input: weather}
      steps:
        - tools: [{name: get_weather, args: {city: Paris}, result: {tempC: 21}}]
        - text: It is 21C in Paris.
    - text: I only know about the weather.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve a script until Ctrl-C or SIGTERM; return the exit code."""
    options = _parse_options(arguments)
    stopping = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda _number, _frame: stopping.set())
    try:
        server = FakeServer(load_script(options.script), host=options.host, port=options.port)
        server.start()
    except (ScriptError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    print(server.url, flush=True)
    while not stopping.wait(SIGNAL_POLL_S):
        pass
    server.stop()
    return 0


def _parse_options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "python -m fake_server",
        description="Run a fake agent deployment that answers the /chat protocol from a YAML script.",
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("script", help="the YAML script that says what to answer")
    parser.add_argument(
        "--reference",
        action="version",
        version=REFERENCE.read_text("utf-8"),
        help="print a script that explains every key, and exit",
    )
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen on (default: 127.0.0.1)")
    parser.add_argument("--port", type=int, default=0, help="the port to listen on (default: a free one)")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
