"""Every fault, at every place, has its own status, error and exit code, and blames the right side."""

import asyncio
import json
import re
from pathlib import Path

import pytest

from fake_server import FakeServer
from fake_server.faults import PARAMETERS
from remote_evals.cli.exits import decide_exit_code
from remote_evals.transport import client
from tests.docs.pages import read_written
from tests.integration.faults.between_turns import BETWEEN_TURNS, FIRST_REPLY
from tests.integration.faults.entries import AGENT, FAULTS
from tests.integration.faults.matrix import END, IN_STREAM, REPLY, TOKEN, Outcome
from tests.integration.faults.network import SCENARIOS
from tests.integration.faults.outcomes import RowResult, make_case, make_script, run_scenario, run_strikes
from tests.integration.faults.table import render_table
from tests.serving.command import remote_evals

ALL_STRIKES = [strike for entry in (*AGENT, *FAULTS) for strike in entry.strikes()]
STRIKES = {str(strike): strike for strike in ALL_STRIKES}
SCENES = {str(scenario): scenario for scenario in (*SCENARIOS, *BETWEEN_TURNS)}

# No text or step is left at that place for these faults to change.
HARMLESS = {("invalid-utf8", END), ("no-step-done", END)}


@pytest.fixture(scope="module")
def matrix(tmp_path_factory: pytest.TempPathFactory) -> dict[str, RowResult]:
    """Return the result of each row, by name; all rows run at once."""

    async def run() -> dict[str, RowResult]:
        folder = tmp_path_factory.mktemp("scenes")
        async with asyncio.TaskGroup() as group:
            strikes = group.create_task(run_strikes(STRIKES))
            scenes = {name: group.create_task(run_scenario(scene, folder)) for name, scene in SCENES.items()}
        return {**strikes.result(), **{name: scene.result() for name, scene in scenes.items()}}

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(client, "pause", lambda _: 0.0)
        return asyncio.run(run())


def assert_outcome(row: RowResult, outcome: Outcome, says: str) -> None:
    """Assert status, code, exit code and attempts, and that the phrase stands where it belongs."""
    result, error = row.result, row.result.error
    assert (result.status, error and error.code) == (outcome.status, outcome.code), error or result.failures
    assert decide_exit_code(row.report) == outcome.exit_code
    assert result.run.retries + 1 == outcome.tries
    said = [error.message] if error else [failure.message for failure in result.failures] or result.run.warnings
    assert any(says in one for one in said) if says else not said, said
    if error:
        assert re.findall(r"\((\d+) attempts\)", error.message) == [str(outcome.tries)] * (outcome.tries > 1)


@pytest.mark.slow
@pytest.mark.parametrize("name", STRIKES)
def test_a_fault_has_its_outcome(name: str, matrix: dict[str, RowResult]) -> None:
    """A fault has the outcome of its row, its request is sent as often as that says, and the reply so far is kept."""
    strike, row = STRIKES[name], matrix[name]
    outcome, run = strike.entry.outcome, row.result.run
    assert_outcome(row, outcome, strike.says)
    assert row.sent == outcome.tries
    if strike.fault:
        assert re.fullmatch(REPLY if run.finish_reason else strike.moment.reply + outcome.more, run.reply)


@pytest.mark.slow
@pytest.mark.parametrize("name", SCENES)
def test_trouble_around_a_deployment_has_its_outcome(name: str, matrix: dict[str, RowResult]) -> None:
    """A problem of the network, the server or the token ends with the outcome of its row."""
    assert_outcome(matrix[name], SCENES[name].outcome, SCENES[name].says)


@pytest.mark.slow
def test_what_came_before_a_later_turn_is_kept(matrix: dict[str, RowResult]) -> None:
    """A fault in a later turn leaves the first turn whole in the report."""
    firsts = [matrix[name].result.turns[0] for name, strike in STRIKES.items() if strike.request == "a later turn"]
    assert {(turn.reply, turn.finish_reason, len(turn.tool_calls)) for turn in firsts} == {(REPLY, "stop", 1)}


@pytest.mark.slow
def test_what_came_before_the_trouble_between_turns_is_kept(matrix: dict[str, RowResult]) -> None:
    """A problem between two turns leaves the first turn whole in the report."""
    results = [matrix[str(scenario)].result for scenario in BETWEEN_TURNS]
    assert [len(result.turns) for result in results] == [2] * len(results)
    assert {(result.turns[0].reply, result.turns[0].finish_reason) for result in results} == {(FIRST_REPLY, "stop")}


@pytest.mark.slow
def test_only_a_whole_stream_is_judged(matrix: dict[str, RowResult]) -> None:
    """A case fails only with a whole stream, and is an error only with an incomplete one."""
    wrong = []
    for name, row in matrix.items():
        run = row.result.run
        is_whole = run.finish_reason is not None and "events" not in run.missing
        if row.result.status == ("error" if is_whole else "failed"):
            wrong.append(name)
    assert not wrong


def test_every_fault_is_in_the_matrix() -> None:
    """The matrix has every fault of the fake server, and no row twice."""
    assert len(STRIKES) == len(ALL_STRIKES)
    assert {strike.fault["name"] for strike in STRIKES.values() if strike.fault} == set(PARAMETERS)


def test_every_fault_strikes_wherever_it_can() -> None:
    """A fault that may come after any event is tested at every place of a stream."""
    tested = {(strike.fault["name"], strike.place) for strike in STRIKES.values() if strike.fault}
    possible = {(name, place) for name, takes in PARAMETERS.items() if "after" in takes for place in IN_STREAM}
    assert possible - tested == HARMLESS


def test_the_page_has_the_table() -> None:
    """The table of tests/README.md is that of these rows; REMOTE_EVALS_UPDATE_SNAPSHOTS=1 writes it first."""
    table = render_table([*AGENT, *SCENARIOS, *BETWEEN_TURNS, *FAULTS])
    assert read_written("tests/README.md", "fault matrix", table) == table


@pytest.mark.parametrize(
    "name",
    [
        "unauthorized, instead of a stream, the first turn",
        "cut, in a tool call, a decision",
        "unavailable retry_after=0 times=2, instead of a stream, a later turn",
    ],
)
def test_the_command_agrees(name: str, tmp_path: Path) -> None:
    """The command exits with the code of the row, and prints its phrase."""
    strike = STRIKES[name]
    suite = tmp_path / "s.eval.json"
    suite.write_text(json.dumps({"cases": [make_case(strike)]}), "utf-8")
    with FakeServer(make_script([strike])) as server:
        done = remote_evals("run", suite, "--url", server.url, env={"REMOTE_EVALS_TOKEN": TOKEN, "COLUMNS": "500"})
    assert done.code == strike.entry.outcome.exit_code, done.all
    assert f"[{strike.entry.outcome.status.upper().removesuffix('ED')}] {name}" in done.out
    assert strike.says in done.out
