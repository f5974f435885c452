"""The `/chat` routes: a turn, the decision that a paused turn waits for, a transcript."""

import asyncio
from typing import Any
from uuid import uuid4

from starlette.requests import Request
from starlette.responses import Response

from fake_server import answers
from fake_server.agents import parse_decision
from fake_server.faults import TimesCounter
from fake_server.requests import get_text, parse_body
from fake_server.script import Script, fill_placeholders
from fake_server.sessions import Exchange, Run, Session, Sessions
from fake_server.stream import EventStream, LiveFrames
from fake_server.turn import Turn, make_refused_run

_BAD_TURN = "Request body must be JSON with 'sessionId' and 'input' strings (or the deprecated 'message')"
_BAD_DECISION = "Request body must be JSON with 'approved' (and optional 'note') or 'answer'"


class Chat:
    """Answers the `/chat` routes from a script; a turn waits for the turn before it in its session."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._aborts = script.when_client_leaves == "abort"
        self._identity = {"agentName": script.agent, "agentId": str(uuid4())}
        self._sessions = Sessions()
        self._counter = TimesCounter()

    async def turn(self, request: Request) -> Response:
        """Answer `POST /chat`."""
        body = parse_body(request)
        session_id, message = body.get("sessionId"), body.get("input")
        if not isinstance(session_id, str) or not (isinstance(message, list) or (message and isinstance(message, str))):
            return answers.make_error(400, _BAD_TURN)
        session = self._open_session(session_id)
        async with session.lock:
            await session.wait_until_idle()
            return await self._stream(request, session, self._make_run(session, message, request))

    async def approval(self, request: Request) -> Response:
        """Answer `POST /chat/<session>/approvals/<id>`."""
        session, approval_id = self._open_session(request.path_params["session"]), request.path_params["approval"]
        decision = parse_decision(parse_body(request))
        if decision is None:
            return answers.make_error(400, _BAD_DECISION)
        async with session.lock:
            await session.wait_until_idle()
            found = session.paused.turn.find_request(approval_id) if session.paused else None
            if session.paused is None or found is None:
                return answers.unknown_approval(approval_id)
            if refusal := answers.refuse_decision(found):
                return refusal
            return await self._stream(request, session, session.paused.resume(found, decision))

    async def transcript(self, request: Request) -> Response:
        """Answer `GET /chat/<session>`."""
        return answers.make_json(self._open_session(request.path_params["session"]).make_transcript())

    def _open_session(self, session_id: str) -> Session:
        if not self._sessions.is_valid(session_id):
            raise answers.Refusal(answers.bad_session(session_id))
        return self._sessions.open(session_id)

    def _make_run(self, session: Session, message: str | list[Any], request: Request) -> Run:
        text, number = get_text(message), session.turns + 1
        if session.paused:
            return _refuse_while_paused(session.id, session.paused.turn.requests[0].id)
        reply = next((each for each in self._script.replies if each.when.holds_in_turn(text, number)), None)
        if reply is None:
            return _refuse_without_reply(session.id, text, number)
        authorization = request.headers.get("authorization", "")
        words = {"input": text, "session": session.id, "turn": str(number), "authorization": authorization}
        turn = Turn(fill_placeholders(reply, words), text, self._identity)
        return Exchange(session, message, turn, reply.fault).start()

    async def _stream(self, request: Request, session: Session, run: Run) -> Response:
        faults = [*self._script.fault, *run.faults]
        fault = self._counter.take(fault for fault in faults if fault.applies_to(run.request))
        if fault and (answer := await answers.answer_early(fault, request)):
            return answer
        frames = LiveFrames()
        session.running = asyncio.create_task(frames.play(run.begin(), run.record))
        return EventStream(frames, fault, on_leave=session.abort if self._aborts else None)


def _refuse_while_paused(session_id: str, approval_id: str) -> Run:
    message = f"Session '{session_id}' is paused awaiting approval '{approval_id}': decide it first"
    return _refuse("SessionAwaitingApprovalError", message, "LOUSHO_SESSION_AWAITING_APPROVAL")


def _refuse_without_reply(session_id: str, text: str, turn: int) -> Run:
    message = (
        f"The script has no reply for input {text!r} in turn {turn} of session '{session_id}':"
        f" add one, such as  - {{when: {{input: {text[:40]!r}}}, text: ...}}"
    )
    return _refuse("NoReplyError", message, "FAKE_SERVER_NO_REPLY")


def _refuse(name: str, message: str, code: str) -> Run:
    return Run("chat", [], lambda: make_refused_run(name, message, code))
