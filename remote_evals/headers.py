"""Headers that people give: which can be sent, and which hold a credential."""

import re
from collections.abc import Iterator, Mapping

# Shorter, and hiding it would blot out other words too.
MIN_SECRET_CHARS = 8

_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_VALUE = re.compile(r"[\t -~]*")
# What frames the request is the client's own business: a wrong one would cut the request off.
_OURS = {"connection", "content-length", "content-type", "host", "transfer-encoding"}
_CREDENTIAL = re.compile(r"auth|cookie|token|secret|passw|credential|api[-_]?key|access[-_]?key|session", re.IGNORECASE)
_SCHEME = re.compile(r"(?:Bearer|Basic|Token|ApiKey|Digest)\s+", re.IGNORECASE)


def check_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the headers as given. Raises `ValueError`, which never repeats a value, for one that cannot be sent."""
    for name, value in headers.items():
        if not _NAME.fullmatch(name):
            raise ValueError("a header's name is letters, digits and dashes, without spaces")
        if name.lower() in _OURS:
            raise ValueError(f"the header {name} is set by the request itself; leave it out")
        if not _VALUE.fullmatch(value):
            raise ValueError(f"the value of the header {name} has characters other than visible ASCII and spaces")
    return dict(headers)


def is_credential_name(name: str) -> bool:
    """Say whether a header or parameter of this name holds a credential by custom, as `X-Api-Key` does."""
    return _CREDENTIAL.search(name) is not None


def find_credentials(headers: Mapping[str, str]) -> Iterator[str]:
    """Yield the secrets of 8 characters and more: whole values, what stands behind `Bearer `, each cookie's value."""
    for name, value in headers.items():
        if is_credential_name(name) and len(value) >= MIN_SECRET_CHARS:
            yield value
            yield _SCHEME.sub("", value, count=1)
            if name.lower() == "cookie":
                values = (pair.partition("=")[2].strip() for pair in value.split(";"))
                yield from (one for one in values if len(one) >= MIN_SECRET_CHARS)
