"""The page on reliability: what it says of requests, limits, secrets and waits is what happens."""

import base64
import inspect
import re
from datetime import UTC, datetime
from urllib.parse import quote

import pytest

from fake_server import FakeServer, load_script
from remote_evals import (
    EvalCase,
    EvalRunner,
    Limits,
    NotReadyError,
    RemoteStatusError,
    RemoteStreamError,
    RemoteTarget,
    UsageError,
)
from remote_evals.cli.run_setup import DEFAULT_WAIT_S
from remote_evals.core.durations import parse_duration
from remote_evals.protocols.json_events import MAX_DEPTH
from remote_evals.redaction import Redactor, Secret
from remote_evals.targets import readiness, stream_reader, wait_until_ready
from remote_evals.targets.exchange import SOON_S
from remote_evals.transport.limits import SizeLimits
from remote_evals.transport.responses import MAX_BODY_S, MAX_TEXT_CHARS, parse_retry_after
from tests.docs.command_lines import COMMANDS, explain_command_line, list_options
from tests.docs.pages import (
    fenced_blocks,
    find_broken_links,
    find_code,
    find_long_lines,
    find_table,
    named_options,
    read,
)
from tests.serving.command import ROOT, run_python
from tests.serving.deployments import PATIENT, REFUND, RUN_DONE, Connection, listen, serve

PAGE = "remote_evals/targets/README.md"
TEXT = " ".join(read(PAGE).split())

SECRET = "s3cr3t tok/en"


def test_links_options_and_lines_are_sound() -> None:
    """Every link leads somewhere, every option exists, and no line is too long to be read."""
    assert list(find_broken_links(PAGE)) == []
    assert find_long_lines(PAGE) == []
    assert named_options(TEXT) <= {option for command in COMMANDS for option in list_options(command)}
    lines = [line for block in fenced_blocks(PAGE, "") for line in block.splitlines()]
    assert [wrong for line in lines if (wrong := explain_command_line(line))] == []


def test_the_python_runs() -> None:
    """The target in code runs as it stands, at the URL of a fake deployment."""
    (code,) = fenced_blocks(PAGE, "python")
    with FakeServer(load_script(ROOT / "examples" / "refund.fake.yaml")) as server:
        done = run_python("-c", code.replace("http://127.0.0.1:8000/support", server.url))
    assert done.code == 0, done.all


TIMES = find_table(PAGE, "limit of time").rows


@pytest.mark.parametrize("row", TIMES, ids=lambda row: row[0])
def test_a_limit_of_time_is_the_default(row: list[str]) -> None:
    """Each time is the default of the field or parameter beside it, and each option is one of `run`."""
    _, told, option, in_code = row
    assert named_options(option) <= list_options("run")
    owner, name = re.findall(r"\w+", in_code)[:2]
    runner = inspect.signature(EvalRunner).parameters
    default = getattr(Limits(), name) if owner == "Limits" else runner[name].default
    assert (parse_duration(told) if told != "none" else 0) == default


def test_every_limit_of_time_is_told() -> None:
    """The table has each of `Limits`."""
    assert {name for row in TIMES for name in re.findall(r"Limits\.(\w+)", row[3])} == set(Limits.__slots__)


def test_the_fixed_limits_of_time_are_those_of_the_code() -> None:
    """The limits that no option changes are as told."""
    times = {row[0]: parse_duration(row[1]) for row in find_table(PAGE, "fixed limit of time").rows}
    assert times == {
        "an answer of the deployment's health": readiness.MAX_HEALTH_S,
        "reading the body of an error": MAX_BODY_S,
        "waiting for the end of the stream after the run has ended": stream_reader.MAX_END_S,
    }


def test_the_limits_of_size_are_those_of_the_code() -> None:
    """Each size is that of the field beside it, and the table has all of them."""
    rows = find_table(PAGE, "limit of size").rows
    fields = {row[2]: row[1] for row in rows if row[2]}
    assert set(fields) == {f"`SizeLimits.{name}`" for name in SizeLimits.__slots__}
    for name in SizeLimits.__slots__:
        assert parse_size(fields[f"`SizeLimits.{name}`"]) == getattr(SizeLimits(), name), name
    others = {row[0]: int(row[1].split()[0]) for row in rows if not row[2]}
    assert others == {"nesting of an event": MAX_DEPTH, "the body of an error, as far as it is shown": MAX_TEXT_CHARS}


def parse_size(text: str) -> int:
    """Return a number with commas, or one of MiB or KiB."""
    number, _, unit = text.partition(" ")
    return int(number.replace(",", "")) * {"": 1, "KiB": 2**10, "MiB": 2**20}[unit]


@pytest.mark.parametrize(("headers", "is_read"), [(120, True), (129, False)])
async def test_the_number_of_headers_is_limited(headers: int, is_read: bool) -> None:
    """An answer may have 128 headers."""

    async def answer(connection: Connection) -> None:
        many = b"".join(b"x-%d: a\r\n" % number for number in range(headers - 1))
        await connection.send([b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n", many, b"\r\n", RUN_DONE])

    async with listen(answer) as host, RemoteTarget(f"http://{host}") as target, target.open_session() as session:
        if is_read:
            assert (await session.send("hi", 1)).finish_reason == "stop"
        else:
            with pytest.raises(RemoteStreamError, match="headers"):
                await session.send("hi", 1)


RETRIES = find_table(PAGE, "what happened", "sent again").rows
STATUSES = {int(code): row[1] for row in RETRIES for code in find_code(row[0]) if "later" not in row[0]}


@pytest.mark.parametrize("status", STATUSES)
async def test_a_status_is_sent_again_as_told(status: int) -> None:
    """A request that got one of these statuses is sent twice more, or never again."""
    fault = {"name": "status", "status": status, "headers": {"Retry-After": "0"}}
    with serve({"text": "x", "fault": fault}) as server:
        async with RemoteTarget(server.url, limits=PATIENT) as target, target.open_session() as session:
            with pytest.raises(Exception, match=str(status)):
                await session.send("hi", 1)
        assert len(server.requests) == {"yes": 3, "no": 1}[STATUSES[status]]


def test_the_numbers_of_retries_are_those_of_the_code() -> None:
    """How often, how soon and after which pause a request is sent again is as told."""
    assert f"up to {RemoteTarget('http://127.0.0.1:1').retries} more times" in TEXT
    assert f"within {SOON_S:.0f} s and before any stream" in TEXT
    longest = parse_retry_after("999999", datetime.now(UTC))
    assert f"what `Retry-After` says, at most {longest:.0f} s" in TEXT


HEADER_ROWS = [row[0] for row in find_table(PAGE, "secret", "what of it").rows if "name of a credential" in row[0]]


@pytest.mark.parametrize("name", find_code(HEADER_ROWS[0]))
def test_a_header_of_such_a_name_is_secret(name: str) -> None:
    """The value of each header that the page names is hidden, with and without `Bearer`."""
    target = RemoteTarget("http://127.0.0.1:1", headers={name: "Bearer abcd-4711-efgh"})
    assert target.redactor.scrub("Bearer abcd-4711-efgh") == "[redacted]"
    if name != "Cookie":
        assert target.redactor.scrub("it is abcd-4711-efgh") == "it is [redacted]"


def test_other_secrets_are_hidden_as_told() -> None:
    """Named headers, parts of credentials, and query parameters are hidden."""
    basic = base64.b64encode(b"me:pa55word-9").decode()
    target = RemoteTarget(
        "http://127.0.0.1:1/x?api_key=query-key-1&page=long-enough-2",
        headers={
            "Authorization": f"Basic {basic}",
            "X-Tenant": "tenant-4711",
            "Cookie": "theme=dark-mode; sid=cookie-key-3; visit=0a1b2c3d4e5f6a7b",
        },
        secret_headers=["X-Tenant"],
    )
    hidden = ["tenant-4711", basic, "pa55word-9", "cookie-key-3", "0a1b2c3d4e5f6a7b", "query-key-1"]
    assert {target.redactor.scrub(text) for text in hidden} == {"[redacted]"}
    assert target.redactor.scrub("dark-mode long-enough-2") == "dark-mode long-enough-2"
    assert target.description == "http://127.0.0.1:1/x"


def make_redactor() -> Redactor:
    """Return a redactor that knows the secret of the page's examples."""
    redactor = Redactor()
    redactor.add(Secret(SECRET))
    return redactor


SPELLINGS = find_table(PAGE, "spelling").rows


@pytest.mark.parametrize("row", SPELLINGS, ids=lambda row: row[0])
def test_a_spelling_is_hidden(row: list[str]) -> None:
    """Each example of a spelling is redacted, also inside a longer text; pieces make one text first."""
    assert SECRET in find_table(PAGE, "spelling").titles[1]
    spelled = "".join(find_code(row[1]))
    assert spelled != SECRET or "split" in row[0]
    assert make_redactor().scrub(f'{{"a": "{spelled}"}}') == '{"a": "[redacted]"}'


def test_layers_of_spellings_are_hidden() -> None:
    """Three layers of escapes are undone."""
    spelled = SECRET
    for _ in range(3):
        spelled = quote(spelled, safe="")
    assert make_redactor().scrub(spelled) == "[redacted]"


def test_a_long_base64_is_hidden_where_the_secret_is() -> None:
    """Base64 of a longer text, wrapped into lines, does not show the secret."""
    whole = base64.encodebytes(f"before it, {SECRET}, and behind it {'x' * 60}".encode()).decode()
    assert whole.count("\n") > 1
    assert "[redacted]" in make_redactor().scrub(whole)


def test_the_start_of_a_secret_is_hidden_at_the_end_of_a_broken_reply() -> None:
    """A reply that was cut off inside a secret does not end with 8 characters of it or more."""
    assert make_redactor().scrub_end(f"it is {SECRET[:8]}") == "it is [redacted]"
    assert make_redactor().scrub_end(f"it is {SECRET[:7]}") == f"it is {SECRET[:7]}"


def test_what_is_said_not_to_be_hidden_is_not() -> None:
    """Hexadecimal and characters in between are shown, as the page warns."""
    examples = [find_code(row[0])[0] for row in find_table(PAGE, "not hidden").rows if find_code(row[0])]
    assert examples[0] == SECRET.encode().hex()
    plain = [text for text in examples if not text.startswith("-")]
    assert [make_redactor().scrub(text) for text in plain] == plain


SHORT = [name for name in find_code(find_table(PAGE, "not hidden").rows[0][1]) if not name.startswith("-")]


@pytest.mark.parametrize("name", SHORT)
def test_a_short_credential_is_rejected(name: str) -> None:
    """A value of 7 characters is rejected as token, in headers that hold nothing but credentials, and if named."""
    with pytest.raises(UsageError, match=r"\b8\b"):
        RemoteTarget("http://127.0.0.1:1", "abcd-12")
    with pytest.raises(ValueError, match=r"\b8\b"):
        RemoteTarget("http://127.0.0.1:1", headers={name: "abcd-12"})
    with pytest.raises(ValueError, match=r"\b8\b"):
        RemoteTarget("http://127.0.0.1:1", headers={"X-Tenant": "abcd-12"}, secret_headers=["X-Tenant"])
    assert RemoteTarget("http://127.0.0.1:1", headers={"X-Tenant": "abcd-12", "X-Session-Id": "abcd-12"})


def test_the_percent_encodings_are_right() -> None:
    """What a password in a proxy's address must be written as is what URLs have."""
    pairs = re.findall(r"`(\W)` is `(%\w\w)`", TEXT)
    assert len(pairs) == 3
    assert all(quote(character, safe="") == encoded for character, encoded in pairs)


def test_secrets_over_plain_http_are_refused() -> None:
    """A secret goes over plain http to this machine alone, unless it is allowed; a password in a URL is rejected."""
    RemoteTarget("http://127.0.0.1:1", "abcd-4711-efgh")
    RemoteTarget("http://agent.example.com", "abcd-4711-efgh", insecure_http=True)
    with pytest.raises(UsageError, match="--insecure-http"):
        RemoteTarget("http://agent.example.com", "abcd-4711-efgh")
    with pytest.raises(ValueError, match="password"):
        RemoteTarget("https://me:secret@agent.example.com")


def test_the_numbers_of_the_wait_are_those_of_the_code() -> None:
    """The times and counts of the wait for a deployment are as told."""
    assert readiness.ANSWERS_IN_A_ROW == 3
    assert "three answers in a row" in TEXT
    least, most = readiness.MIN_PAUSE_S, readiness.MAX_PAUSE_S
    asked = (
        f"after {least:.2f} s to {most:.0f} s, or when `Retry-After` says, up to {readiness.MAX_RETRY_AFTER_S:.0f} s"
    )
    assert asked in TEXT
    assert f"no answer within {readiness.MAX_HEALTH_S:.0f} s" in TEXT
    assert f"`--expect-header` without `--wait` waits {DEFAULT_WAIT_S:.0f} s" in TEXT


NOT_YET = [
    int(code) for code in re.findall(r"`(\d{3})`", re.findall(r"Not ready yet is .*? or another build", TEXT)[0])
]


@pytest.mark.parametrize("status", [*NOT_YET, 400, 401, 403, 500, 501])
async def test_a_status_of_the_health_is_waited_for_as_told(status: int) -> None:
    """The statuses that the page names are waited for, and any other ends the wait at once."""
    fault = {"name": "status", "status": status}
    with serve(health={"fault": fault}) as server:
        target = RemoteTarget(server.url, "abcd-4711-efgh", headers={"X-Tenant": "tenant"})
        with pytest.raises(NotReadyError if status in NOT_YET else RemoteStatusError):
            await wait_until_ready(target, 0.2, {})
        asked = server.requests
    assert len(asked) == 1 or status in NOT_YET
    assert {("authorization" in request.headers, request.headers.get("x-tenant")) for request in asked} == {
        (False, "tenant")
    }


async def test_the_requests_of_a_turn_share_a_trace() -> None:
    """Each request has a `traceparent`, and those of one turn have the trace id that its report shows."""
    case = EvalCase.model_validate(
        {"name": "a", "turns": [{"prompt": "refund", "finish_reason": "awaiting-approval"}, {"approve": True}]}
    )
    with serve(REFUND) as server:
        report = await EvalRunner(RemoteTarget(server.url, limits=PATIENT)).arun(case)
        sent = [request.headers["traceparent"] for request in server.requests]
    assert report.pass_rate == 1.0, report.summary()
    assert len(set(sent)) == 2
    assert {header.split("-")[1] for header in sent} == {report.results[0].turns[0].trace_id}
