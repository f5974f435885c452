"""The README's picture of a red run: a real run against the fake server, printed by the product.

`python -m tests.docs.picture` makes it anew. What differs from run to run (times, ids) is set to fixed values, so that
a test can compare the picture with what the product prints today.
"""

import re
from io import StringIO
from pathlib import Path

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console

from fake_server import FakeServer, load_script
from remote_evals import EvalCase, EvalReport, EvalResult, EvalRunner, Redactor, RemoteTarget, Timing
from remote_evals.reporters import print_summary

PROJECT = Path(__file__).parents[2]
PICTURE = PROJECT / "examples" / "red-run.svg"
SCRIPT = PROJECT / "examples" / "refund.fake.yaml"
COMMAND = "remote-evals run"
_TIMES_MS = {"policy question": 1420.0, "order lookup": 1900.0, "refund": 1.0}

# A port that nobody listens on: those below 1024 are not given out.
NOBODY = "http://127.0.0.1:9/support"

# A picture asks for no font of another host.
_FONT_FACES = re.compile(r"\s*@font-face \{.*?\}(?=\s*(@font-face|\.))", re.DOTALL)


class _Screen(StringIO):
    def isatty(self) -> bool:
        """Lines are wrapped for people alone."""
        return True


def draw() -> str:
    """Return the picture as SVG."""
    console = Console(file=_Screen(), width=112, record=True, force_terminal=True, color_system="truecolor")
    print_summary(run(), console, Redactor())
    return console.export_svg(title=COMMAND, code_format=_FONT_FACES.sub("", CONSOLE_SVG_FORMAT), unique_id="red-run")


def run() -> EvalReport:
    """Return the report of three cases: one passes, one fails, and one does not reach its deployment."""
    with FakeServer(load_script(SCRIPT)) as server:
        target = RemoteTarget(server.url, token=server.token)
        cases = [
            EvalCase(
                name="policy question",
                prompt="How many days do I have to return an item?",
                expected_output_contains="30 days",
            ),
            EvalCase(
                name="order lookup",
                prompt="Where is order 41?",
                expected_tools=[{"name": "lookup_order", "args": {"orderId": "42"}}],
                max_steps=5,
            ),
        ]
        evals = [eval_ for case in cases for eval_ in case.make_evals(target=target)]
        lost = EvalCase(name="refund", prompt="Please refund order 41.", expected_tools=["issue_refund"])
        report = EvalRunner().run([*evals, *lost.make_evals(target=RemoteTarget(NOBODY, retries=0))])
    shown = f"http://127.0.0.1:8000, {NOBODY}"
    return report.model_copy(
        update={"results": tuple(map(_fix, report.results)), "target": shown, "duration_ms": 1930.0}
    )


def _fix(result: EvalResult) -> EvalResult:
    fixed = {"trace_id": "4f1c9a02d5e847b3a6120d9c7e85f341", "timing": Timing(total_ms=_TIMES_MS[result.name])}
    run, turns = result.run.model_copy(update=fixed), tuple(turn.model_copy(update=fixed) for turn in result.turns)
    return result.model_copy(update={"session_id": "eval-7d03c2e91a", "run": run, "turns": turns})


if __name__ == "__main__":
    PICTURE.write_text(draw(), "utf-8")
