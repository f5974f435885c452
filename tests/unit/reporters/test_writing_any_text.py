"""With any text of an agent, a suite or a deployment, every report can be written, and none contains a secret."""

import json
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from xml.etree.ElementTree import fromstring
from xml.parsers.expat import ParserCreate

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remote_evals.redaction import Redactor, Secret
from remote_evals.reporters import (
    parse_json_report,
    print_summary,
    render_annotations,
    render_json_report,
    render_junit,
    render_markdown,
    render_summary,
    scrub_report,
    write_report,
)
from remote_evals.results import (
    AssertionResult,
    CaseError,
    EvalReport,
    EvalResult,
    PendingApproval,
    RunError,
    RunResult,
    ToolCall,
)
from tests.unit.reporters.report_samples import case, log, report, run, screen

TEXT = st.text(st.characters())
RENDERERS: list[Callable[[EvalReport], str]] = [
    render_annotations,
    render_json_report,
    render_junit,
    render_markdown,
    render_summary,
]


def texts(data: Callable[[], str], value: Callable[[], Any]) -> EvalReport:
    """Return a report in which every text comes from `data` and every JSON value from `value`."""
    failure = RunError(name=data(), message=data(), code=data())
    tool = ToolCall(
        id=data(), name=data(), args={data(): value()}, subagent_path=(data(),), result=value(), error=failure
    )
    pending = PendingApproval(
        approval_id=data(), tool_call_id=data(), tool=data(), args={data(): value()}, question={data(): value()}
    )
    turns: tuple[RunResult, ...] = tuple(
        run(
            tool,
            tool,
            reply=data(),
            finish_reason=data(),
            object=value(),
            pending_approval=pending,
            error=failure,
            last_event=data(),
            run_id=data(),
            trace_id=data(),
        )
        for _ in range(2)
    )
    asserted = [
        AssertionResult(name=data(), kind=kind, passed=False, score=0, message=data()) for kind in ("gate", "soft")
    ]
    asserted.append(AssertionResult(name=data(), passed=True, score=1, message=data(), skipped=True))
    results: list[EvalResult] = [
        case(
            data(),
            *turns,
            status=status,
            case=data(),
            suite=data(),
            file=data(),
            tags=(data(), data()),
            session_id=data(),
            assertions=tuple(asserted),
            error=CaseError(code=data(), message=data()),
        )
        for status in ("passed", "failed", "error", "skipped")
    ]
    return report(*results, target=data(), tool_version=data(), started_at=data())


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT | st.binary(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT | st.integers(), inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.slow
@settings(deadline=None)  # a slow machine is not a failure
@given(st.data())
def test_every_report_can_be_written(data: st.DataObject) -> None:
    """Any text in any field gives readable JSON, well-formed XML, Markdown and a summary, all in UTF-8."""
    # A few texts, each used in many places: drawing one for every field would be slow.
    drawn = data.draw(st.lists(TEXT, min_size=1, max_size=7))
    values = data.draw(st.lists(VALUES, min_size=1, max_size=3))
    count = iter(range(10_000))
    one = texts(lambda: drawn[next(count) % len(drawn)], lambda: values[next(count) % len(values)])

    def refuse(constant: str) -> None:
        raise ValueError(constant)

    text = render_json_report(one)
    json.loads(text.encode("ascii"), parse_constant=refuse)
    assert render_json_report(parse_json_report(text)) == text
    render_markdown(one).encode("utf-8")
    xml = render_junit(one).encode("utf-8")
    ParserCreate().Parse(xml, True)
    assert len(fromstring(xml).findall(".//testcase")) == len(one.cases)  # noqa: S314 - made here
    assert_harmless(render_summary(one))
    for console, file in (log(), screen(20)):
        print_summary(one, console, Redactor())
        assert_harmless(file.getvalue())


def assert_harmless(text: str) -> None:
    text.encode("utf-8")
    assert all(char == "\n" or char.isprintable() or ord(char) >= 0xA0 for char in text)


SECRETS = ["hunter22", "a&b<c>'d\"e", "ключ-日本語", "tab\tand\\slash"]


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("render", RENDERERS)
def test_no_secret_leaves_in_a_report(secret: str, render: Callable[[EvalReport], str]) -> None:
    """A report that is scrubbed before it is rendered contains the secret in no spelling of its format."""
    redactor = Redactor()
    redactor.add(Secret(secret))
    one = texts(lambda: f"x {secret} y", lambda: [secret, {"deep": (secret,)}, {secret}])
    with TemporaryDirectory() as folder:
        path = Path(folder) / "report"
        write_report(path, render(scrub_report(one, redactor)))
        written = path.read_text("utf-8")
    assert "[redacted]" in written
    for spelling in spellings(secret):
        assert spelling not in written


def test_a_secret_is_not_cut_in_half() -> None:
    """A secret where a text is cut or wrapped is redacted, not halved."""
    redactor = Redactor()
    redactor.add(Secret("hunter22" * 8))
    for room in range(150, 250):
        one = run(
            ToolCall(id="c", name="t", args={"a": f"{'x' * room}{'hunter22' * 8}"}),
            reply=f"{'x' * room}{'hunter22' * 8}",
        )
        console, file = screen(80)
        print_summary(report(case("a", one, status="failed")), console, redactor)
        assert "hunter" not in file.getvalue()


def spellings(secret: str) -> set[str]:
    escaped = secret.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    quoted = escaped.replace('"', "&quot;")
    return {secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1], escaped, quoted}
