"""Headers that people give: which can be sent, and which hold a credential by their name."""

import base64
import binascii
import re
from collections.abc import Collection, Iterator, Mapping
from urllib.parse import parse_qsl, urlsplit

from ..core.text import suggest
from .search import MIN_SECRET_CHARS, explain_short_secret

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


_PAIR = re.compile(r'([\w.-]+)=(?:"([^"]*)"|([^\s",;]+))')
# What a list of pairs in an Authorization holds beside credentials.
_OPEN_PAIRS = {"algorithm", "headers", "nc", "qop", "realm", "signedheaders", "uri", "username"}
_RANDOM = re.compile(r"(?=.*[A-Za-z])(?=.*[0-9]).{16,}")


def find_credentials(headers: Mapping[str, str], named: Collection[str] = ()) -> Iterator[str]:
    """Yield the secrets of 8 characters and more in headers that are `named` or hold a credential by their name.

    These are whole values, what stands behind `Bearer `, what `Basic` encodes, the values in a list of `key="value"`,
    and those cookies that are a credential by their name or look random.
    """
    secret = {name.lower() for name in named}
    for name, value in headers.items():
        if name.lower() in secret or is_credential_name(name):
            yield from (part for part in _parts(name, value) if len(part) >= MIN_SECRET_CHARS)


def find_url_credentials(url: str) -> Iterator[str]:
    """Yield the values of 8 characters and more of query parameters that hold a credential by their name."""
    pairs = parse_qsl(urlsplit(url).query)
    yield from (value for name, value in pairs if is_credential_parameter(name) and len(value) >= MIN_SECRET_CHARS)


def name_credentials(url: str, headers: Mapping[str, str], named: Collection[str] = ()) -> Iterator[str]:
    """Yield what holds secrets: "the header X-Api-Key", "the query of the URL"."""
    for name, value in headers.items():
        if any(find_credentials({name: value}, named)):
            yield f"the header {name}"
    if any(find_url_credentials(url)):
        yield "the query of the URL"


def _parts(name: str, value: str) -> Iterator[str]:
    yield value
    if name.lower() == "cookie":
        yield from _cookies(value)
        return
    yield (behind := skip_scheme(name, value))
    if value[:6].lower() == "basic ":
        yield from _basic_parts(behind)
    for key, quoted, bare in _PAIR.findall(behind):
        if key.lower() not in _OPEN_PAIRS:
            yield quoted or bare


def _cookies(value: str) -> Iterator[str]:
    for pair in value.split(";"):
        name, _, text = (part.strip(' "') for part in pair.partition("="))
        if is_credential_name(name) or _RANDOM.fullmatch(text):
            yield text


def _basic_parts(encoded: str) -> Iterator[str]:
    """Yield what Basic authentication encodes, `user:password`, and the password alone; without one, the user is it."""
    try:
        pair = base64.b64decode(encoded, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return
    yield pair
    user, _, password = pair.partition(":")
    yield password or user
