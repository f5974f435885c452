"""Answers that are no stream: the server's own refusals, and those a fault puts in its place."""

import json
from collections.abc import Mapping

from starlette.responses import Response

from fake_server._wire import to_json, without_none
from fake_server.faults import Fault

BODY_LIMIT = 1024 * 1024

_BAD_SESSION = (
    "Invalid session id {}: use 1-128 characters from A-Z, a-z, 0-9, '_' and '-' (e.g. 'user-42')."
    " Omit the id to get a generated one.\n"
    "[LOUSHO_SESSION_ID_INVALID] Use 1-128 characters from A-Z, a-z, 0-9, '_' and '-', or omit the id."
    " (https://github.com/LinuxDevil/agent-sdk/blob/main/docs/errors.md#lousho_session_id_invalid)"
)
_PAGE = "<!DOCTYPE html>\n<html><head><title>{0}</title></head><body><h1>{0}</h1></body></html>\n"


class Refused(Exception):  # noqa: N818 - what it carries is the answer
    """Ends the handling of a request with an answer."""

    def __init__(self, answer: Response) -> None:
        super().__init__(answer.status_code)
        self.answer = answer


def plain(status: int, body: str) -> Response:
    """Return a text/plain answer."""
    return Response(body, status, {"content-type": "text/plain"})


def page(status: int, title: str, headers: Mapping[str, str] | None = None) -> Response:
    """Return the HTML page of a proxy."""
    return Response(_PAGE.format(title), status, {"content-type": "text/html", **(headers or {})})


def as_json(body: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return a JSON answer."""
    return Response(to_json(body), status, {"content-type": "application/json", **(headers or {})})


def error(status: int, message: str, code: str | None = None, headers: Mapping[str, str] | None = None) -> Response:
    """Return the answer to a request that is refused before a stream starts."""
    return as_json(without_none({"error": message, "code": code}), status, headers)


def unauthorized() -> Response:
    """Return the answer to a missing or wrong token."""
    return error(401, "Unauthorized", headers={"cache-control": "no-store", "www-authenticate": "Bearer"})


def too_large() -> Response:
    """Return the answer to a body over the limit."""
    return error(413, f"Request body exceeds {BODY_LIMIT} byte limit")


def bad_session(session_id: str) -> Response:
    """Return the answer to an id that cannot name a session."""
    return error(400, _BAD_SESSION.format(json.dumps(session_id)))


def unknown_approval(approval_id: str) -> Response:
    """Return the answer to a decision on what is not, or no longer, pending."""
    message = f"No pending approval '{approval_id}' (it was decided already, or the agent was reloaded)"
    return error(404, message, "LOUSHO_APPROVAL_NOT_FOUND")


def answer_of(fault: Fault) -> Response:
    """Return what a fault answers in place of a stream."""
    wait = {} if fault.retry_after is None else {"retry-after": str(fault.retry_after)}
    match fault.name:
        case "unauthorized":
            return unauthorized()
        case "forbidden":
            return error(403, "Forbidden")
        case "rate-limited":
            return error(429, "Too Many Requests", headers={"retry-after": "1", **wait})
        case "server-error":
            return error(500, "The request failed. The server log has the details.")
        case "unavailable":
            return page(503, "503 Service Temporarily Unavailable", wait)
        case "html":
            return page(200, "Sign in")
        case "redirect":
            return Response(status_code=302, headers={"location": fault.location})
        case _:
            return _custom(fault)


def _custom(fault: Fault) -> Response:
    body = fault.body
    answer = plain(fault.status, body) if isinstance(body, str) else as_json(body, fault.status)
    answer.headers.update(fault.headers)
    return answer
