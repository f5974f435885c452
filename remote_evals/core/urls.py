"""URLs of deployments: which are accepted, how they are joined, and how they are shown without credentials."""

import ipaddress
import re
from collections.abc import Collection
from urllib.parse import SplitResult, urlsplit, urlunsplit

_INVALID_HOST_CHARS = re.compile(r"[\x00-\x20\x7f\"<>\\^`{|}]")


class PrivateUrl(str):
    """A URL that text, logs and the locals of a traceback show without its query, which may hold a credential.

    Otherwise it is a `str` of the whole URL; `reveal()` returns that as a plain `str`.
    """

    __slots__ = ()

    def reveal(self) -> str:
        """Return the whole URL, for sending only: it must not be shown."""
        return super().__str__()

    def __str__(self) -> str:
        return show_url(self)

    def __repr__(self) -> str:
        return repr(show_url(self))

    def __format__(self, format_spec: str) -> str:
        return format(show_url(self), format_spec)


def parse_base_url(text: str) -> PrivateUrl:
    """Return the base URL of a deployment without a trailing slash or fragment; its path and query are kept.

    Raises `ValueError` for anything but http and https, for a URL without a host, and for one with userinfo, which
    would override the Authorization header; a password does not belong in a URL anyway.
    """
    try:
        parts = urlsplit(text.strip())
    except ValueError as error:
        raise ValueError(f"the URL cannot be read: {error}") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(
            f"{show_url(text)!r} is not a URL of a deployment; write it as https://host or https://host/path"
        )
    if "@" in parts.netloc:
        raise ValueError(f"{show_url(text)} was given with a user name or password; remove it and give a token instead")
    if not has_valid_host(parts):
        raise ValueError(
            f"{show_url(text)!r} has no valid host and port; write it as https://host or https://host/path"
        )
    return PrivateUrl(urlunsplit((parts.scheme, parts.netloc, parts.path.rstrip("/"), parts.query, "")))


def join_url(base: str, path: str) -> PrivateUrl:
    """Return the URL of a path below the base URL, with the path and query of the base kept."""
    parts = urlsplit(base)
    return PrivateUrl(urlunsplit((parts.scheme, parts.netloc, parts.path.rstrip("/") + path, parts.query, "")))


def is_loopback(url: str) -> bool:
    """Return whether a URL points to this machine, so that what is sent there crosses no network."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def explain_exposure(url: str, secrets: Collection[str]) -> str | None:
    """Return why these secrets, given by their names, must not be sent to a URL, or None if they may.

    They must not go over plain http to another machine, since they could be read in transit.
    """
    if not secrets or not url.startswith("http:") or is_loopback(url):
        return None
    return (
        f"{show_url(url)} is plain http, and {' and '.join(secrets)} could be read in transit; use https, "
        "or allow it with --insecure-http (insecure_http=True in code)"
    )


def show_url(url: str) -> str:
    """Return a URL that is safe to show: without userinfo, query and fragment.

    If it does not parse, nothing before an `@` is shown, since that may be a password.
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return "the given URL"
    shown = urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
    is_valid = parts.netloc and has_valid_host(parts)
    return shown if is_valid or "@" not in shown else f"…@{shown.rpartition('@')[2]}"


def has_valid_host(parts: SplitResult) -> bool:
    """Return whether a URL has a host that can be looked up and a port that can be connected to."""
    try:
        host = parts.hostname or ""
        return bool(host.encode("idna")) and not _INVALID_HOST_CHARS.search(host) and parts.port != 0
    except ValueError:
        return False
