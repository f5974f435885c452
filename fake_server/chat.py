"""The `/chat` routes: a turn, a decision about one that waits, a transcript."""

import asyncio
from typing import Any
from uuid import uuid4

from starlette.requests import Request
from starlette.responses import Response

from fake_server import _answers as answers
from fake_server._decision import parse_decision
from fake_server._incoming import before_headers, parse_body
from fake_server._reply import fill, find_reply, text_of
from fake_server._stream import EventStream, LiveFrames
from fake_server._times import TimesCounter
from fake_server.script import Script
from fake_server.sessions import Exchange, Run, Session, Sessions
from fake_server.turn import Turn, refusal

_BAD_TURN = "Request body must be JSON with 'sessionId' and 'input' strings (or the deprecated 'message')"
_BAD_DECISION = "Request body must be JSON with 'approved' (and optional 'note') or 'answer'"


class Chat:
    """Answers the `/chat` routes from a script; a turn of a session waits for the one before it."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._identity = {"agentName": script.agent, "agentId": str(uuid4())}
        self._sessions = Sessions()
        self._counter = TimesCounter()

    async def transcript(self, request: Request) -> Response:
        """Answer `GET /chat/<session>`."""
        return answers.as_json(self._session(request.path_params["session"]).transcript())

    async def turn(self, request: Request) -> Response:
        """Answer `POST /chat`."""
        body = parse_body(request)
        session_id, message = body.get("sessionId"), body.get("input")
        if not isinstance(session_id, str) or not (isinstance(message, list) or (message and isinstance(message, str))):
            return answers.error(400, _BAD_TURN)
        session = self._session(session_id)
        async with session.entrance:
            await session.idle()
            return await self._stream(request, session, self._run(session, message, request))

    async def approval(self, request: Request) -> Response:
        """Answer `POST /chat/<session>/approvals/<id>`."""
        session, approval_id = self._session(request.path_params["session"]), request.path_params["approval"]
        decision = parse_decision(parse_body(request))
        if decision is None:
            return answers.error(400, _BAD_DECISION)
        async with session.entrance:
            await session.idle()
            if session.paused is None or session.paused.approval_id != approval_id:
                return answers.unknown_approval(approval_id)
            return await self._stream(request, session, session.paused.exchange.next_run(decision))

    def _session(self, session_id: str) -> Session:
        if not self._sessions.is_valid(session_id):
            raise answers.Refused(answers.bad_session(session_id))
        return self._sessions.open(session_id)

    def _run(self, session: Session, message: str | list[Any], request: Request) -> Run:
        text, turn = text_of(message), session.turns + 1
        if session.paused:
            return _still_paused(session.id, session.paused.approval_id)
        reply = find_reply(self._script, text, turn)
        if reply is None:
            return _no_reply(session.id, text, turn)
        authorization = request.headers.get("authorization", "")
        words = {"input": text, "session": session.id, "turn": str(turn), "authorization": authorization}
        played = Turn(fill(reply, words), text, self._identity)
        return Exchange(session, message, played, reply.fault).first_run()

    async def _stream(self, request: Request, session: Session, run: Run) -> Response:
        faults = [*self._script.fault, *run.faults]
        fault = self._counter.take(fault for fault in faults if fault.may_strike(run.request))
        if fault and (answer := await before_headers(fault, request)):
            return answer
        frames = LiveFrames()
        session.running = asyncio.create_task(frames.play(run.begin(), run.record))
        return EventStream(frames, fault)


def _still_paused(session_id: str, approval_id: str) -> Run:
    message = f"Session '{session_id}' is paused awaiting approval '{approval_id}': decide it first"
    return _failing("SessionAwaitingApprovalError", message, "LOUSHO_SESSION_AWAITING_APPROVAL")


def _no_reply(session_id: str, text: str, turn: int) -> Run:
    message = (
        f"The script has no reply for input {text!r} in turn {turn} of session '{session_id}':"
        f" add one, such as  - {{when: {{input: {text[:40]!r}}}, text: ...}}"
    )
    return _failing("NoReplyError", message, "FAKE_SERVER_NO_REPLY")


def _failing(name: str, message: str, code: str) -> Run:
    return Run("chat", [], lambda: refusal(name, message, code))
