"""What is secret of the headers and the URL of a request."""

import base64
import binascii
import re
from collections.abc import Collection, Iterator, Mapping
from urllib.parse import parse_qsl, urlsplit

from .headers import is_credential_name, is_credential_parameter, skip_scheme
from .needles import MIN_SECRET_CHARS

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
