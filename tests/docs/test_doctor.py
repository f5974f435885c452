"""The page of `doctor`: its checks, their values and the JSON are those of the code, and what it prints is as shown."""

import ast
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from remote_evals.cli.doctor import doctor
from remote_evals.doctor import CHECKS, render_json_page
from remote_evals.doctor.connection import FEW_DAYS
from remote_evals.doctor.page import FORMAT_VERSION
from remote_evals.doctor.turn_checks import MAX_HELD_MS, MAX_SILENCE_MS, MIN_SPAN_MS
from tests.docs.command_lines import COMMANDS, explain_command_line, list_options
from tests.docs.pages import (
    fenced_blocks,
    find_broken_links,
    find_code,
    find_long_lines,
    find_table,
    named_options,
    read,
    read_written,
)
from tests.serving.certificates import Authority
from tests.serving.command import ROOT, remote_evals
from tests.serving.deployments import serve
from tests.serving.diagnosis import BEARER, TOKEN, Agent, examine_at, find

PAGE = "remote_evals/doctor/README.md"
TEXT = " ".join(read(PAGE).split())
ROWS = find_table(PAGE, "check").rows

# What differs from one time to the next.
VOLATILE = r"evals \d[\w.]*|:\d{4,5}\b|\b\d+(\.\d+)?m?s\b|\beval-[0-9a-f]{24}|\b[0-9a-f]{32}\b"


def test_the_page_is_sound() -> None:
    """Its lines are short, its links lead somewhere, and the options that it names exist."""
    assert list(find_broken_links(PAGE)) == []
    assert find_long_lines(PAGE) == []
    assert named_options(TEXT) <= {option for command in COMMANDS for option in list_options(command)}


def test_the_command_can_be_run() -> None:
    """The command line has options that exist."""
    (block,) = fenced_blocks(PAGE, "")
    assert [wrong for line in block.splitlines() if (wrong := explain_command_line(line))] == []


def test_what_doctor_prints_is_on_the_page() -> None:
    """The page shows what the command prints; REMOTE_EVALS_UPDATE_SNAPSHOTS=1 writes it first."""
    (command,) = re.findall(r"`remote-evals (doctor --fake [^`]*)`", TEXT)
    text = f"```text\n{remote_evals(*command.split()).out}```\n"
    assert re.sub(VOLATILE, "…", read_written(PAGE, "page", text)) == re.sub(VOLATILE, "…", text)


def test_every_check_is_a_row() -> None:
    """The table has each check by its name and its label, in the order of the page."""
    assert [(find_code(row[0])[0], row[1]) for row in ROWS] == list(CHECKS.items())


def test_what_warns_and_what_fails_is_said_of_each_check() -> None:
    """A row says when its check warns, or fails, exactly if there is code for it."""
    # Both checks of access share their code.
    access = {"no_token", "wrong_token"}
    assert {find_code(row[0])[0] for row in ROWS if row[3]} == {*_list_checks_of("warned"), *access}
    assert {find_code(row[0])[0] for row in ROWS if row[4]} == {*_list_checks_of("failed", "add_failure"), *access}


def _list_checks_of(*functions: str) -> Iterator[str]:
    """Yield the checks that are named in calls of these functions."""
    for path in sorted((ROOT / "remote_evals" / "doctor").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in functions:
                yield from (str(given.value) for given in node.args[:1] if isinstance(given, ast.Constant))


def test_the_numbers_are_those_of_the_code() -> None:
    """The days, the times and the format that the page tells are those of the code."""
    assert f"under {FEW_DAYS} days left" in TEXT
    assert f"a run under {MIN_SPAN_MS:.0f} ms" in TEXT
    assert f"held back {MAX_HELD_MS / 1000:.0f} s, or half of the run" in TEXT
    assert f"over {MAX_SILENCE_MS / 1000:.0f} s without a keep-alive" in TEXT
    assert f"This is format {FORMAT_VERSION}." in TEXT


def test_the_exit_codes_are_those_of_the_help() -> None:
    """The table has every exit code of the help, once."""
    told = [code for row in find_table(PAGE, "exit code").rows for code in re.findall(r"\d+", row[0])]
    assert told == re.findall(r"\b\d+\b", (doctor.__doc__ or "").partition("Exit codes:")[2])


async def test_every_key_of_the_json_is_described() -> None:
    """The tables have each key of the document and of a finding, and no other."""
    diagnosis, _ = await examine_at("http://127.0.0.1:1")
    document = json.loads(render_json_page(diagnosis, datetime(2026, 1, 2, tzinfo=UTC)))
    keys = [*document, *(f"summary.{status}" for status in document["summary"])]
    assert sorted(_list_described("key of the document")) == sorted(keys)
    assert sorted(_list_described("key of a finding")) == sorted(document["findings"][0])


def _list_described(title: str) -> list[str]:
    return [key for row in find_table(PAGE, title).rows for key in find_code(row[0])]


async def test_every_value_of_a_finding_is_described(tmp_path: Path) -> None:
    """The table has the values of each check that a good deployment and three odd ones give, and no other."""
    authority, agent = Authority(tmp_path), Agent(BEARER)
    async with agent.serve(authority.certify("127.0.0.1")) as url:
        found = [await find(url, TOKEN, ca_bundle=authority.bundle)]
    for fault in ("compressed", "seq-gap", None):
        with serve({"text": "a b c d e f", "delay": "80ms", **({"fault": fault} if fault else {})}) as server:
            found.append(await find(server.url))
    values: dict[str, set[str]] = {check: set() for check in CHECKS}
    for finding in (finding for findings in found for finding in findings.values()):
        values[finding.check] |= finding.values.keys()
    rows = find_table(PAGE, "values of").rows
    assert {find_code(row[0])[0]: {*find_code(row[1])} for row in rows} == values


async def test_a_failure_ends_the_checks_that_are_told() -> None:
    """A failed turn has only its code as values, and leaves all that follow not checked."""
    with serve(fault="html") as server:
        found = await find(server.url, TOKEN)
    assert found["turn"].values == {"code": "REMOTE_STREAM"}
    later = list(CHECKS)[list(CHECKS).index("turn") + 1 :]
    assert {found[check].status for check in later} == {"not_checked"}
