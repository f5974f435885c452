"""Headers that people give: which can be sent, and which hold a credential by their name."""

import re
from collections.abc import Collection, Mapping

from .needles import explain_short_secret
from .strict import suggest

_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_VALUE = re.compile(r"[\t -~]*")
# What frames the request is the client's own business: a wrong one would cut the request off.
_OURS = {"connection", "content-length", "content-type", "host", "transfer-encoding"}
# Nothing but a credential, where other names may only look like one's, as Idempotency-Key does.
_ONLY_CREDENTIALS = {"authorization", "proxy-authorization", "x-api-key", "api-key", "x-auth-token"}
_SCHEME = re.compile(r"^(?:Bearer|Basic|Token|ApiKey|Digest)\s+", re.IGNORECASE)
_ANY_SCHEME = re.compile(r"^\S+\s+")

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
# In a name as words in small letters with dashes between. Words count as a whole, so that X-Author is none, and some
# only at the end: X-Session-Kind and X-Key-Count say something of a credential, and hold none.
_CREDENTIAL = re.compile(
    r"(?:^|-)(?:authorization|authentication|bearer|bypass|cookie|credentials?|jwt|passwd|pwd|sig|signature"
    r"|[a-z]*(?:token|secret|password|passphrase)|(?:api|access|secret|private|subscription)-?key)(?:-|$)"
    r"|(?:^|-)(?:o?auth|key|sid|sess|session|[a-z]*sess(?:ion)?-?id)$"
)


def check_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the headers as given. Raises `ValueError`, which never repeats a value, for one that cannot be sent."""
    for name, value in headers.items():
        if mistake := _find_mistake(name, value):
            raise ValueError(mistake)
    return dict(headers)


def check_secret_headers(names: Collection[str], headers: Mapping[str, str]) -> None:
    """Raise `ValueError` for a name under which no header is sent, and for a value too short to be kept secret."""
    values = {name.lower(): value for name, value in headers.items()}
    for name in names:
        if not _NAME.fullmatch(name):
            # Not repeated: whoever mistakes it gives the header's value too.
            raise ValueError("a secret header is given by its name alone; its value belongs to the headers")
        if name.lower() not in values:
            raise ValueError(f"no header {name!r} is sent that could be secret; {suggest(name, list(headers))}")
        if mistake := explain_short_secret(skip_scheme(name, values[name.lower()])):
            raise ValueError(f"the value of the secret header {name} cannot be hidden: {mistake}")


def is_credential_name(name: str) -> bool:
    """Say whether a header, cookie or variable of this name holds a credential by custom, as `X-Api-Key` does."""
    return _CREDENTIAL.search("-".join(_WORD.findall(name)).lower()) is not None


def is_credential_parameter(name: str) -> bool:
    """Say whether a parameter of a URL's query holds a credential by its name; there `code` and `pass` do too."""
    return name.lower() in ("code", "pass") or is_credential_name(name)


def skip_scheme(name: str, value: str) -> str:
    """Return a credential without the `Bearer ` before it; an Authorization may have any word there."""
    scheme = _ANY_SCHEME if name.lower().endswith("authorization") else _SCHEME
    return scheme.sub("", value.strip(), count=1)


def _find_mistake(name: str, value: str) -> str | None:
    if not _NAME.fullmatch(name):
        return "a header's name is letters, digits and dashes, without spaces"
    if name.lower() in _OURS:
        return f"the header {name} is set by the request itself; leave it out"
    if not _VALUE.fullmatch(value):
        return f"the value of the header {name} has characters other than visible ASCII and spaces"
    if name.lower() in _ONLY_CREDENTIALS and (mistake := explain_short_secret(skip_scheme(name, value))):
        return f"the value of the header {name} cannot be hidden: {mistake}"
    return None
