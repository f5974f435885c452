"""Base URLs of deployments: which are accepted, and how they are shown."""

import ipaddress
import re
from collections.abc import Collection
from urllib.parse import SplitResult, urlsplit, urlunsplit

_NO_HOST = re.compile(r"[\x00-\x20\x7f\"<>\\^`{|}]")


class PrivateUrl(str):
    """A URL whose query may hold a credential, so that it is shown without it: in text, a log, a traceback's locals.

    To all else it is the whole URL, as any `str`; `reveal()` gives it as one.
    """

    __slots__ = ()

    def reveal(self) -> str:
        """Return the whole URL, to be put on the wire and nowhere else."""
        return super().__str__()

    def __str__(self) -> str:
        return show_url(self)

    def __repr__(self) -> str:
        return repr(show_url(self))

    def __format__(self, format_spec: str) -> str:
        return format(show_url(self), format_spec)


def parse_base_url(text: str) -> PrivateUrl:
    """Return the base URL of a deployment without a trailing slash or fragment; its path and query are kept.

    Raises `ValueError` for anything but http and https, for a URL without a host, and for one with userinfo: it
    would override the Authorization header, and a password does not belong into a URL.
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
    """Return the URL of a path below the base URL, whose own path and query stay."""
    parts = urlsplit(base)
    return PrivateUrl(urlunsplit((parts.scheme, parts.netloc, parts.path.rstrip("/") + path, parts.query, "")))


def is_loopback(url: str) -> bool:
    """Say whether a URL is one of this machine, so that nobody else can read what is sent there."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def explain_exposure(url: str, secrets: Collection[str]) -> str | None:
    """Return why secrets of these names must not be sent: over plain http to another machine, they could be read."""
    if not secrets or not url.startswith("http:") or is_loopback(url):
        return None
    return (
        f"{show_url(url)} is plain http, and {' and '.join(secrets)} could be read on the way there; use https, "
        "or allow it by --insecure-http (insecure_http=True in code)"
    )


def show_url(url: str) -> str:
    """Return a URL as it may be shown: no userinfo, no query, no fragment.

    Of what does not parse, nothing before an `@` is shown: it may be a password.
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return "the given URL"
    shown = urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
    is_sound = parts.netloc and has_valid_host(parts)
    return shown if is_sound or "@" not in shown else f"…@{shown.rpartition('@')[2]}"


def has_valid_host(parts: SplitResult) -> bool:
    """Say whether a URL has a host that can be looked up, and a port that can be connected to."""
    try:
        host = parts.hostname or ""
        return bool(host.encode("idna")) and not _NO_HOST.search(host) and parts.port != 0
    except ValueError:
        return False
