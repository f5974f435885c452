"""Base URLs of deployments: which are accepted, and how they are shown."""

from urllib.parse import urlsplit, urlunsplit


def parse_base_url(text: str) -> str:
    """Return the base URL of a deployment without a trailing slash or fragment; its path and query are kept.

    Raises `ValueError` for anything but http and https, for a URL without a host, and for one with userinfo: it
    would override the Authorization header, and a password does not belong into a URL.
    """
    parts = urlsplit(text.strip())
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(
            f"{show_url(text)!r} is not a URL of a deployment; write it as https://host or https://host/path"
        )
    if parts.username is not None or parts.password is not None:
        raise ValueError(f"{show_url(text)} was given with a user name or password; remove it and give a token instead")
    try:
        parts.port  # noqa: B018 - reading it is what checks it
    except ValueError as error:
        raise ValueError(f"{show_url(text)!r} has no valid port: {error}") from error
    return urlunsplit((parts.scheme, parts.netloc, parts.path.rstrip("/"), parts.query, ""))


def join_url(base: str, path: str) -> str:
    """Return the URL of a path below the base URL, whose own path and query stay."""
    parts = urlsplit(base)
    return urlunsplit((parts.scheme, parts.netloc, parts.path.rstrip("/") + path, parts.query, ""))


def show_url(url: str) -> str:
    """Return a URL as it may be shown: no userinfo, no query, no fragment."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "the given URL"
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
