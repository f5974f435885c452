"""The recordings replayed over a real socket, to the target and to the command."""

import asyncio
import json
import os
import re
import sys
from pathlib import Path

import pytest

from remote_evals import RemoteStatusError, RemoteStreamError, RemoteTarget, RemoteUnauthorizedError, RunResult
from remote_evals.errors import RemoteError
from remote_evals.results import PendingApproval, RunError, ToolCall, Usage
from tests.contract.facts import ANSWERS, FACTS, RECORDINGS, get_facts
from tests.contract.replay import replay

REFUSALS = [name for name in ANSWERS if FACTS[name]["status"] != 200]
PAGES = [name for name in ANSWERS if FACTS[name]["status"] == 200]


async def ask(url: str, name: str) -> RunResult:
    """Return the run of one prompt."""
    async with RemoteTarget(url) as target, target.open_session() as session:
        return await session.send(name, 1)


async def fail(name: str) -> RemoteError:
    """Return the error that a recording raises."""
    async with replay() as url:
        with pytest.raises(RemoteError) as caught:
            await ask(url, name)
    return caught.value


def quoted(name: str) -> str:
    """Return the part of a recorded answer that a message must quote: its error or its start, on one line."""
    body = FACTS[name]["body"]
    text = json.loads(body)["error"] if body.startswith('{"error"') else body
    line = " ".join(text.split())
    return line if len(line) <= 300 else f"{line[:299]}…"


@pytest.mark.parametrize("name", RECORDINGS)
async def test_a_recording_over_a_socket_rebuilds_to_its_facts(name: str) -> None:
    """A recorded stream, sent byte by byte, gives the facts that an independent reader found in it."""
    async with replay() as url:
        assert get_facts(await ask(url, name)) == FACTS[name]


async def test_all_recordings_at_once_do_not_mix() -> None:
    """Sessions that stream at the same time each get their own run."""
    async with replay() as url:
        runs = await asyncio.gather(*(ask(url, name) for name in RECORDINGS))
    assert [get_facts(run) for run in runs] == [FACTS[name] for name in RECORDINGS]


@pytest.mark.parametrize("name", REFUSALS)
async def test_a_recorded_refusal_is_the_right_error(name: str) -> None:
    """A recorded 401 is a rejected token, any other status is a status error, and both quote the answer on one line."""
    status = FACTS[name]["status"]
    error = await fail(name)
    assert type(error) is (RemoteUnauthorizedError if status == 401 else RemoteStatusError)
    assert getattr(error, "status", 401) == status
    assert f"{status}: {quoted(name)}" in error.happened
    assert len(str(error).splitlines()) == 1


@pytest.mark.parametrize("name", PAGES)
async def test_a_recorded_answer_of_another_route_is_no_stream(name: str) -> None:
    """A 200 that is not an event stream is a stream error that quotes the answer."""
    error = await fail(name)
    assert type(error) is RemoteStreamError
    assert "not an event stream" in error.happened
    assert FACTS[name]["body"][:200] in error.happened


async def test_the_command_rebuilds_all_recordings(tmp_path: Path) -> None:
    """The command runs one case per recording, and its JSON report has the facts of each of them."""
    suite, report = tmp_path / "all.eval.yaml", tmp_path / "report.json"
    suite.write_text(json.dumps({"cases": [{"name": name, "prompt": name} for name in RECORDINGS]}))
    clean = {key: value for key, value in os.environ.items() if not re.match("REMOTE_EVALS_|COV_|COVERAGE_", key)}
    async with replay() as url:
        arguments = ["-m", "remote_evals", "run", str(suite), "--url", url, "--json", str(report)]
        command = await asyncio.create_subprocess_exec(
            sys.executable, *arguments, env=clean, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
        )
        output, _ = await command.communicate()
    # The cases whose recordings end in an approval, an error or the step limit fail.
    assert command.returncode == 1, output.decode()
    rows = json.loads(report.read_text())["results"]
    assert {row["name"]: get_facts(make_run(row)) for row in rows} == {name: FACTS[name] for name in RECORDINGS}
    assert {row["name"] for row in rows if row["passed"]} == {
        name for name in RECORDINGS if FACTS[name]["finish_reason"] == "stop"
    }


def make_run(row: dict[str, object]) -> RunResult:
    """Return a row of the JSON report as a run, unvalidated because its text may hold lone surrogates."""
    read = json.loads(json.dumps(row))
    usage, approval, error = read["usage"], read["pending_approval"], read["run_error"]
    return RunResult.model_construct(
        reply=read["reply"],
        finish_reason=read["finish_reason"],
        object=read["object"],
        steps=read["steps"],
        usage=Usage(**usage) if usage else None,
        pending_approvals=(PendingApproval(**approval),) if approval else (),
        error=RunError(**error) if error else None,
        tool_calls=tuple(ToolCall(**call) for call in read["tool_calls"]),
    )
