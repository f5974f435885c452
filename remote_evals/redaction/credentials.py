"""Credentials in the headers and the URL of a request.

Says which headers can be sent, which headers, cookies and query parameters hold a credential by their name, and which
parts of their values are secret.
"""

import base64
import binascii
import re
from collections.abc import Collection, Iterator, Mapping
from urllib.parse import parse_qsl, urlsplit

from ..core.text import suggest
from .search import MIN_SECRET_CHARS, explain_short_secret

_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_HEADER_VALUE = re.compile(r"[\t -~]*")
# These frame the request, which is the client's business: a wrong one would cut the request off.
_CLIENT_HEADERS = {"connection", "content-length", "content-type", "host", "transfer-encoding"}
# These hold nothing but a credential; other names, such as Idempotency-Key, may only look like one's.
_ONLY_CREDENTIALS = {"authorization", "proxy-authorization", "x-api-key", "api-key", "x-auth-token"}
_SCHEME = re.compile(r"^(?:Bearer|Basic|Token|ApiKey|Digest)\s+", re.IGNORECASE)
_ANY_SCHEME = re.compile(r"^\S+\s+")

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
# Matches names written as lower-case words with dashes between. Only whole words count, so that X-Author does not
# match, and some count only at the end: X-Session-Kind and X-Key-Count describe a credential and hold none.
_CREDENTIAL_NAME = re.compile(
    r"(?:^|-)(?:authorization|authentication|bearer|bypass|cookie|credentials?|jwt|passwd|pwd|sig|signature"
    r"|[a-z]*(?:token|secret|password|passphrase)|(?:api|access|secret|private|subscription)-?key)(?:-|$)"
    r"|(?:^|-)(?:o?auth|key|sid|sess|session|[a-z]*sess(?:ion)?-?id)$"
)

_PAIR = re.compile(r'([\w.-]+)=(?:"([^"]*)"|([^\s",;]+))')
# The pairs of an Authorization header that are no credentials.
_PUBLIC_PAIRS = {"algorithm", "headers", "nc", "qop", "realm", "signedheaders", "uri", "username"}
_RANDOM = re.compile(r"(?=.*[A-Za-z])(?=.*[0-9]).{16,}")


def check_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the headers unchanged. Raises `ValueError`, which never quotes a value, for one that cannot be sent."""
    for name, value in headers.items():
        if problem := _explain_bad_header(name, value):
            raise ValueError(problem)
    return dict(headers)


def _explain_bad_header(name: str, value: str) -> str | None:
    if not _HEADER_NAME.fullmatch(name):
        return "a header's name is letters, digits and dashes, without spaces"
    if name.lower() in _CLIENT_HEADERS:
        return f"the header {name} is set by the request itself; leave it out"
    if not _HEADER_VALUE.fullmatch(value):
        return f"the value of the header {name} has characters other than visible ASCII and spaces"
    if name.lower() in _ONLY_CREDENTIALS and (problem := explain_short_secret(_strip_scheme(name, value))):
        return f"the value of the header {name} cannot be hidden: {problem}"
    return None


def check_secret_headers(names: Collection[str], headers: Mapping[str, str]) -> None:
    """Raise `ValueError` if a name is not among the headers, or if its value is too short to be kept secret."""
    values = {name.lower(): value for name, value in headers.items()}
    for name in names:
        if not _HEADER_NAME.fullmatch(name):
            # The name is not quoted: it may hold the header's value too.
            raise ValueError("a secret header is given by its name alone; its value belongs in the headers")
        if name.lower() not in values:
            raise ValueError(f"the secret header {name!r} is not among the headers; {suggest(name, list(headers))}")
        if problem := explain_short_secret(_strip_scheme(name, values[name.lower()])):
            raise ValueError(f"the value of the secret header {name} cannot be hidden: {problem}")


def is_credential_name(name: str) -> bool:
    """Return whether a header, cookie or variable of this name usually holds a credential, as `X-Api-Key` does."""
    return _CREDENTIAL_NAME.search("-".join(_WORD.findall(name)).lower()) is not None


def is_credential_parameter(name: str) -> bool:
    """Return whether a query parameter of this name usually holds a credential; `code` and `pass` count here too."""
    return name.lower() in ("code", "pass") or is_credential_name(name)


def find_credentials(headers: Mapping[str, str], named: Collection[str] = ()) -> Iterator[str]:
    """Yield the secrets of at least 8 characters in headers that are `named` or have the name of a credential.

    These are the whole value, what follows `Bearer `, what `Basic` encodes, each value in a list of `key="value"`, and
    each cookie that has the name of a credential or looks random.
    """
    secret = {name.lower() for name in named}
    for name, value in headers.items():
        if name.lower() in secret or is_credential_name(name):
            yield from (part for part in _split_credential(name, value) if len(part) >= MIN_SECRET_CHARS)


def find_url_credentials(url: str) -> Iterator[str]:
    """Yield the values of at least 8 characters of query parameters that have the name of a credential."""
    pairs = parse_qsl(urlsplit(url).query)
    yield from (value for name, value in pairs if is_credential_parameter(name) and len(value) >= MIN_SECRET_CHARS)


def name_credentials(url: str, headers: Mapping[str, str], named: Collection[str] = ()) -> Iterator[str]:
    """Yield the names of what holds secrets: "the header X-Api-Key", "the query of the URL"."""
    for name, value in headers.items():
        if any(find_credentials({name: value}, named)):
            yield f"the header {name}"
    if any(find_url_credentials(url)):
        yield "the query of the URL"


def _split_credential(name: str, value: str) -> Iterator[str]:
    yield value
    if name.lower() == "cookie":
        yield from _find_cookies(value)
        return
    yield (credential := _strip_scheme(name, value))
    if value[:6].lower() == "basic ":
        yield from _decode_basic(credential)
    for key, quoted, bare in _PAIR.findall(credential):
        if key.lower() not in _PUBLIC_PAIRS:
            yield quoted or bare


def _strip_scheme(name: str, value: str) -> str:
    """Return a credential without its scheme, such as `Bearer `; in an Authorization header any word may be one."""
    scheme = _ANY_SCHEME if name.lower().endswith("authorization") else _SCHEME
    return scheme.sub("", value.strip(), count=1)


def _find_cookies(value: str) -> Iterator[str]:
    for pair in value.split(";"):
        name, _, text = (part.strip(' "') for part in pair.partition("="))
        if is_credential_name(name) or _RANDOM.fullmatch(text):
            yield text


def _decode_basic(encoded: str) -> Iterator[str]:
    """Yield what Basic authentication encodes: `user:password`, and the password alone, or the user if it is empty."""
    try:
        pair = base64.b64decode(encoded, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return
    yield pair
    user, _, password = pair.partition(":")
    yield password or user
