"""An ASGI app as the agent: asked like a deployment, but without a socket."""

import json
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route

from fake_server import FakeServer, parse_script
from fake_server.app import App
from fake_server.requests import RequestLog
from remote_evals import Eval, EvalCase, EvalContext, EvalReport, EvalRunner, RemoteTarget, define_eval, includes
from tests.serving.deployments import PATIENT, greet, named

REPLIES: list[dict[str, Any]] = [
    {
        "when": {"input": "refund"},
        "steps": [
            {
                "reasoning": "They want it back.",
                "text": "Let me ask.",
                "tools": [
                    {"name": "lookup_order", "args": {"id": "41"}, "result": {"status": "shipped"}},
                    {"name": "issue_refund", "args": {"id": "41"}, "approval": True, "result": "refunded"},
                ],
                "usage": {"input": 10, "output": 5, "cost_usd": 0.001},
            },
            {"text": "Done.", "usage": {"input": 20, "output": 2, "cost_usd": 0.002}},
        ],
    },
    {
        "when": {"input": "research"},
        "steps": [
            {
                "tools": [
                    {
                        "name": "task",
                        "subagent": {
                            "name": "researcher",
                            "steps": [{"tools": [{"name": "search", "result": [1, 2]}]}],
                            "text": "Found.",
                        },
                    }
                ]
            },
            {"text": "It is found."},
        ],
        "object": {"found": True},
    },
    {"when": {"input": "crash"}, "error": {"name": "ProviderError", "message": "no model", "code": "PROVIDER_FAILED"}},
    {"when": {"input": "broken"}, "text": "Hello.", "fault": "server-error"},
    {"when": {"input": "long"}, "text": "Too long", "finish_reason": "length"},
    {"text": "You said {{input}} in turn {{turn}}: Grüße 🎉"},
]
SCRIPT = json.dumps({"replies": REPLIES})

ASKED: list[dict[str, Any]] = [
    {"prompt": "hi", "must_contain": "grüße 🎉", "must_not_contain": "sorry"},
    {"prompt": "hi", "must_contain": "nothing of that", "soft": {"must_contain": "nor that"}},
    {"turns": [{"prompt": "one", "must_contain": "turn 1"}, {"prompt": "two", "must_contain": "turn 2"}]},
    {
        "turns": [{"prompt": "refund"}, {"approve": True, "must_contain": "Done."}],
        "tool_order": ["lookup_order", "issue_refund"],
        "max_cost_usd": 0.004,
    },
    {"turns": [{"prompt": "refund"}, {"reject": "why"}]},
    {"prompt": "refund", "finish_reason": "awaiting-approval"},
    {"prompt": "refund"},
    {"prompt": "research", "expect_tools": [{"name": "search", "subagent": "researcher"}], "max_steps": 2},
    {"prompt": "crash"},
    {"prompt": "broken"},
    {"prompt": "long"},
    {"prompt": "repeated", "repeat": 2},
]
CASES = [EvalCase.model_validate({"name": str(number), **case}) for number, case in enumerate(ASKED)]

# The fields that differ between any two runs.
DIFFERS = {"timing", "session_id", "run_id", "trace_id", "duration_ms", "approval_id", "target"}


def app(script: str = SCRIPT) -> App:
    """Return the ASGI app inside the fake deployment."""
    return App(parse_script(script), RequestLog())


def without(value: Any, keys: set[str], url: str) -> Any:
    """Return the value without the keys, at any depth, and with the URL in its texts replaced by a name."""
    if isinstance(value, dict):
        return {key: without(part, keys, url) for key, part in value.items() if key not in keys}
    if isinstance(value, list | tuple):
        return [without(part, keys, url) for part in value]
    return value.replace(url, "the deployment") if isinstance(value, str) else value


def compared(report: EvalReport, url: str) -> list[Any]:
    return [without(result.model_dump(), DIFFERS, url) for result in report.results]


def test_the_same_cases_give_equal_results_in_process_and_over_a_socket() -> None:
    """The same cases give equal results in process and over a socket, except for times, ids and traces."""
    with FakeServer(parse_script(SCRIPT)) as server:
        remote = EvalRunner(RemoteTarget(server.url, limits=PATIENT)).run(CASES)
        over_socket = compared(remote, server.url)
    local = compared(EvalRunner(agent=app()).run(CASES), "http://in-process.localhost")
    assert [(one["name"], one["status"]) for one in local] == [(one["name"], one["status"]) for one in over_socket]
    for one, other in zip(local, over_socket, strict=True):
        assert one == other
    assert {one["status"] for one in local} == {"passed", "failed", "error"}


def test_evals_in_code_give_equal_results_too() -> None:
    """An eval in code gives equal results with its in-process agent and with a target that overrides it."""

    @define_eval(name="e", agent=app(), cases=[{"input": "one"}, {"input": "two", "label": "second"}], tags=["smoke"])
    async def test(t: EvalContext, case: dict[str, str]) -> None:
        await t.send(case["input"])
        await t.send("refund")
        await t.approve()
        t.completed()
        t.called_tool("issue_refund", times=1)
        t.check("transcript", json.dumps(await t.transcript()), includes("refund"))
        t.soft("word", t.reply, includes("sorry"))

    with FakeServer(parse_script(SCRIPT)) as server:
        remote = compared(EvalRunner(RemoteTarget(server.url, limits=PATIENT)).run(test), server.url)
    local = compared(EvalRunner().run(test), "http://in-process.localhost")
    assert local == remote
    assert [one["status"] for one in local] == ["passed", "passed"]


def test_an_app_of_a_factory_is_fresh_for_each_case() -> None:
    """A factory of apps is called once for each case."""
    made: list[App] = []

    def make() -> App:
        made.append(app())
        return made[-1]

    assert EvalRunner(agent=make).run(named("a", "b")).passed == 2
    assert len(made) == 2


def test_cases_of_one_app_have_sessions_of_their_own() -> None:
    """Cases that share an app do not see each other's turns."""
    report = EvalRunner(agent=app()).run(named(*"abcdefgh"))
    assert {result.output.partition(":")[0].rpartition(" in ")[2] for result in report.results} == {"turn 1"}
    assert len({result.session_id for result in report.results}) == 8


def events(*fields: dict[str, Any]) -> StreamingResponse:
    body = "".join(f"data: {json.dumps(one)}\n\n" for one in fields)
    return StreamingResponse(iter([body]), media_type="text/event-stream")


async def _chat(request: Request) -> StreamingResponse:
    asked = await request.json()
    return events({"type": "run.done", "finishReason": "stop", "text": f"{asked['input']}!"})


async def _raise(request: Request) -> StreamingResponse:
    raise LookupError("no model")


def test_any_starlette_app_can_be_asked() -> None:
    """An app of any framework that serves `/chat` is recognised as an agent by its signature."""
    agent = Starlette(routes=[Route("/chat", _chat, methods=["POST"])])
    [result] = EvalRunner(agent=agent).run(named("a")).results
    assert (result.status, result.output) == ("passed", "a!")


@pytest.mark.parametrize(
    ("routes", "status"), [([], "404"), ([Route("/chat", _raise, methods=["POST"])], "500")], ids=["no route", "raises"]
)
def test_an_app_that_fails_is_an_error_as_a_deployment_is(routes: list[Route], status: str) -> None:
    """An app without the route, or whose route raises, gives the same error as when it is deployed."""
    [result] = EvalRunner(agent=Starlette(routes=routes)).run(Eval("a", greet)).results
    assert result.error is not None
    assert (result.status, result.error.code) == ("error", "REMOTE_STATUS")
    assert status in result.error.message
    assert "http://in-process.localhost/chat" in result.error.message


def test_the_report_names_the_app() -> None:
    """The target of a report on an app is the name of its class."""
    assert EvalRunner(agent=app()).run(named("a")).target == "in process: App"
