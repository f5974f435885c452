"""The cases of the soak and their expected outcomes: most are healthy, and some meet a fault of any kind.

The faults are those of the fault matrix that end without a time limit. Two kinds are left out: a rejected token, which
ends the whole run, and faults that strike only some requests, because those could be of any case.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from random import Random

from fake_server import Script
from remote_evals import EvalCase
from tests.integration.faults.entries import FAULTS
from tests.integration.faults.matrix import Outcome, Strike, passes
from tests.integration.faults.outcomes import make_case, make_script

_FAULT_RATE = 0.05
_LEFT_OUT = {"unauthorized"}
_ENTRIES = [
    entry
    for entry in FAULTS
    if entry.timer is None and not any(fault["name"] in _LEFT_OUT or "times" in fault for fault in entry.faults)
]
_HEALTHY = {"when": {"matches": "^case [0-9]+$"}, "text": "This is {{input}}."}


@dataclass(frozen=True)
class Planned:
    """A case, and the fault that strikes it, or None."""

    case: EvalCase
    strike: Strike | None

    @property
    def outcome(self) -> Outcome:
        """The expected outcome."""
        return self.strike.entry.outcome if self.strike else passes()


def plan_batches(seed: str, batches: int, size: int) -> Iterator[list[Planned]]:
    """Yield batches of `size` cases; the same seed gives the same cases."""
    rng = Random(seed)  # noqa: S311 - a plan is no secret
    for batch in range(batches):
        yield [_plan_case(rng, number) for number in range(batch * size, (batch + 1) * size)]


def make_soak_script() -> Script:
    """Return the script that answers any plan."""
    script = make_script(strike for entry in _ENTRIES for strike in entry.strikes())
    [reply] = Script.model_validate({"replies": [_HEALTHY]}).replies
    return script.model_copy(update={"replies": [reply, *script.replies]})


def count_requests(batches: Iterable[Iterable[Planned]]) -> Counter[str]:
    """Return how often the server must get each prompt, and each decision under its `name_decision`."""
    return Counter(prompt for planned in batches for one in planned for prompt in _list_requests(one))


def name_decision(prompt: str) -> str:
    """Return the name under which the decision of a turn with this prompt is counted."""
    return f"{prompt} (decided)"


def _plan_case(rng: Random, number: int) -> Planned:
    name = f"case {number}"
    if rng.random() >= _FAULT_RATE:
        return Planned(EvalCase.model_validate({"name": name, "prompt": name, "must_contain": f"is {name}."}), None)
    strike = rng.choice(list(rng.choice(_ENTRIES).strikes()))
    return Planned(EvalCase.model_validate({**make_case(strike), "name": f"{name}: {strike}"}), strike)


def _list_requests(planned: Planned) -> Iterator[str]:
    case, tries = planned.case, planned.outcome.tries
    *before, last = [turn.prompt for turn in case.turns] or [case.prompt]
    yield from (str(prompt) for prompt in before)
    yield from [str(last or name_decision(str(before[-1])))] * tries
