"""Answers that are not a stream: those of the server itself, and those that a fault gives instead."""

import asyncio
import json
from collections.abc import Mapping
from contextlib import suppress

from starlette.requests import Request
from starlette.responses import Response

from fake_server.agents import Request as PendingRequest
from fake_server.events import to_json, without_none
from fake_server.faults import ANSWERS, Fault
from fake_server.stream import BrokenConnection, wait_for_disconnect

BODY_LIMIT = 1024 * 1024

_BAD_SESSION = (
    "Invalid session id {}: use 1-128 characters from A-Z, a-z, 0-9, '_' and '-' (e.g. 'user-42')."
    " Omit the id to get a generated one.\n"
    "[LOUSHO_SESSION_ID_INVALID] Use 1-128 characters from A-Z, a-z, 0-9, '_' and '-', or omit the id."
    " (https://github.com/LinuxDevil/agent-sdk/blob/main/docs/errors.md#lousho_session_id_invalid)"
)
_PAGE = "<!DOCTYPE html>\n<html><head><title>{0}</title></head><body><h1>{0}</h1></body></html>\n"


class Refusal(Exception):  # noqa: N818 - it carries the answer
    """Ends the handling of a request with an answer."""

    def __init__(self, answer: Response) -> None:
        super().__init__(answer.status_code)
        self.answer = answer


def make_text(status: int, body: str) -> Response:
    """Return a text/plain answer."""
    return Response(body, status, {"content-type": "text/plain"})


def make_page(status: int, title: str, headers: Mapping[str, str] | None = None) -> Response:
    """Return an HTML page, as a proxy answers."""
    return Response(_PAGE.format(title), status, {"content-type": "text/html", **(headers or {})})


def make_json(body: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return a JSON answer."""
    return Response(to_json(body), status, {"content-type": "application/json", **(headers or {})})


def make_error(
    status: int, message: str, code: str | None = None, headers: Mapping[str, str] | None = None
) -> Response:
    """Return the answer to a request that is refused before a stream starts."""
    return make_json(without_none({"error": message, "code": code}), status, headers)


def unauthorized() -> Response:
    """Return the answer to a missing or wrong token."""
    return make_error(401, "Unauthorized", headers={"cache-control": "no-store", "www-authenticate": "Bearer"})


def too_large() -> Response:
    """Return the answer to a body over the limit."""
    return make_error(413, f"Request body exceeds {BODY_LIMIT} byte limit")


def bad_session(session_id: str) -> Response:
    """Return the answer to an invalid session id."""
    return make_error(400, _BAD_SESSION.format(json.dumps(session_id)))


def unknown_approval(approval_id: str) -> Response:
    """Return the answer to a decision on an approval that is not pending."""
    message = f"No pending approval '{approval_id}' (it was decided already, or the agent was reloaded)"
    return make_error(404, message, "LOUSHO_APPROVAL_NOT_FOUND")


def refuse_decision(request: PendingRequest) -> Response | None:
    """Return the answer to a decision that was made already or comes before its sign-in, or None if it counts."""
    if request.decision is not None:
        message = f"Approval '{request.id}' was decided by another request"
        return make_error(409, message, "LOUSHO_APPROVAL_CONFLICT")
    if request.awaits_sign_in():
        message = f"Approval '{request.id}' waits for the user to sign in"
        return make_error(409, message, "LOUSHO_SIGNIN_PENDING")
    return None


async def answer_early(fault: Fault, request: Request) -> Response | None:
    """Return the answer of a fault that strikes before the headers, or None if it strikes later."""
    if fault.name in ANSWERS:
        return _make_fault_answer(fault)
    if fault.name == "no-headers":
        with suppress(TimeoutError):
            async with asyncio.timeout(fault.for_s):
                await wait_for_disconnect(request.receive)
                # the client has left: this reaches nobody, and the turn never starts
                return Response()
    return BrokenConnection(by_reset=fault.name == "reset") if fault.before_headers else None


def _make_fault_answer(fault: Fault) -> Response:
    wait = {} if fault.retry_after is None else {"retry-after": str(fault.retry_after)}
    match fault.name:
        case "unauthorized":
            return unauthorized()
        case "forbidden":
            return make_error(403, "Forbidden")
        case "rate-limited":
            return make_error(429, "Too Many Requests", headers={"retry-after": "1", **wait})
        case "server-error":
            return make_error(500, "The request failed. The server log has the details.")
        case "unavailable":
            return make_page(503, "503 Service Temporarily Unavailable", wait)
        case "html":
            return make_page(200, "Sign in")
        case "redirect":
            return Response(status_code=302, headers={"location": fault.location})
        case _:
            return _make_custom_answer(fault)


def _make_custom_answer(fault: Fault) -> Response:
    body = fault.body
    answer = make_text(fault.status, body) if isinstance(body, str) else make_json(body, fault.status)
    answer.headers.update(fault.headers)
    return answer
