"""Headers that people give: which can be sent, and which hold a secret."""

import base64
import binascii
import re
from collections.abc import Collection, Iterator, Mapping

from .echoes import MIN_SECRET_CHARS, explain_short_secret
from .strict import suggest

_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_VALUE = re.compile(r"[\t -~]*")
# What frames the request is the client's own business: a wrong one would cut the request off.
_OURS = {"connection", "content-length", "content-type", "host", "transfer-encoding"}
# Nothing but a credential, where other names may only look like one's, as X-Author does.
_ONLY_CREDENTIALS = {"authorization", "proxy-authorization", "x-api-key", "api-key", "x-auth-token"}
_CREDENTIAL = re.compile(r"auth|cookie|token|secret|passw|credential|api[-_]?key|access[-_]?key|session", re.IGNORECASE)
_SCHEME = re.compile(r"^(?:Bearer|Basic|Token|ApiKey|Digest)\s+", re.IGNORECASE)
_ANY_SCHEME = re.compile(r"^\S+\s+")


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
        if mistake := explain_short_secret(_skip_scheme(name, values[name.lower()])):
            raise ValueError(f"the value of the secret header {name} cannot be hidden: {mistake}")


def is_credential_name(name: str) -> bool:
    """Say whether a header or parameter of this name holds a credential by custom, as `X-Api-Key` does."""
    return _CREDENTIAL.search(name) is not None


def find_credentials(headers: Mapping[str, str], named: Collection[str] = ()) -> Iterator[str]:
    """Yield the secrets of 8 characters and more in headers that are `named` or hold a credential by custom.

    These are whole values, what stands behind `Bearer `, what `Basic` encodes, and each cookie's value.
    """
    secret = {name.lower() for name in named}
    for name, value in headers.items():
        if name.lower() in secret or is_credential_name(name):
            yield from (part for part in _parts(name, value) if len(part) >= MIN_SECRET_CHARS)


def _find_mistake(name: str, value: str) -> str | None:
    if not _NAME.fullmatch(name):
        return "a header's name is letters, digits and dashes, without spaces"
    if name.lower() in _OURS:
        return f"the header {name} is set by the request itself; leave it out"
    if not _VALUE.fullmatch(value):
        return f"the value of the header {name} has characters other than visible ASCII and spaces"
    if name.lower() in _ONLY_CREDENTIALS and (mistake := explain_short_secret(_skip_scheme(name, value))):
        return f"the value of the header {name} cannot be hidden: {mistake}"
    return None


def _parts(name: str, value: str) -> Iterator[str]:
    yield value
    yield (behind := _skip_scheme(name, value))
    if value[:6].lower() == "basic ":
        yield from _basic_parts(behind)
    if name.lower() == "cookie":
        yield from (pair.partition("=")[2].strip(' "') for pair in value.split(";"))


def _skip_scheme(name: str, value: str) -> str:
    """Return a credential without the `Bearer ` before it; an Authorization may have any word there."""
    scheme = _ANY_SCHEME if name.lower().endswith("authorization") else _SCHEME
    return scheme.sub("", value.strip(), count=1)


def _basic_parts(encoded: str) -> Iterator[str]:
    """Yield what Basic authentication encodes: `user:password`, and the password alone."""
    try:
        pair = base64.b64decode(encoded, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return
    yield pair
    yield pair.partition(":")[2]
