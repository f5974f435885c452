"""What the `/chat` protocol says in place of a run, or of its end: its error codes, and what to try after each."""

import json
from typing import Any

from ...errors import Refusal

NOT_WAITED_FOR = "The deployment no longer waits for this decision, or never did"

_ADVICE = {
    "LOUSHO_APPROVAL_CONFLICT": "Another request decided this first: check that nothing else decides in this session",
    "LOUSHO_APPROVAL_FORBIDDEN": (
        "The token is good, but its user may not decide this approval: give the token of one who may"
    ),
    "LOUSHO_APPROVAL_NOT_FOUND": NOT_WAITED_FOR,
    "LOUSHO_SESSION_AWAITING_APPROVAL": "Approve, reject or answer what the session waits for before the next prompt",
    "LOUSHO_SESSION_FORBIDDEN": (
        "The token is good, but the session is another user's: check that all turns of a case have the same user"
    ),
    "LOUSHO_SIGNIN_PENDING": "Nobody has signed in yet: open the sign-in's URL, sign in there, and decide after that",
}
_OF_A_GOOD_TOKEN = {"LOUSHO_APPROVAL_FORBIDDEN", "LOUSHO_SESSION_FORBIDDEN"}


def find_advice(code: str | None) -> str | None:
    """Return what to try after an error with this code, or None for a code that is not known."""
    return _ADVICE.get(code or "")


def read_refusal(body: str) -> Refusal:
    """Return what the body of a refused request says, which is `{"error", "code"?}` unless a proxy answered."""
    answer = _parse_object(body)
    text, code = (value if isinstance(value, str) else None for value in map(answer.get, ("error", "code")))
    return Refusal(text=text, code=code, advice=find_advice(code), accepts_token=code in _OF_A_GOOD_TOKEN)


def _parse_object(body: str) -> dict[str, Any]:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
