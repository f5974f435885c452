"""URLs of deployments: which are accepted, how they are put together, and what of them is shown."""

from collections.abc import Callable
from urllib.parse import urlsplit

import httpx
import pytest

from remote_evals import LLMJudge, RemoteTarget
from remote_evals.core.urls import PrivateUrl, join_url, parse_base_url, show_url


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("https://host", "https://host"),
        ("https://host/", "https://host"),
        ("  http://host:8080/api/agent/  ", "http://host:8080/api/agent"),
        ("HTTPS://Host/Path", "https://Host/Path"),
        ("https://host/a?key=1#part", "https://host/a?key=1"),
        ("http://[::1]:80", "http://[::1]:80"),
    ],
)
def test_a_base_url_loses_its_trailing_slash_and_fragment(text: str, url: str) -> None:
    """The base URL of a deployment keeps its path and query, and nothing that would break a path below it."""
    assert parse_base_url(text) == url


@pytest.mark.parametrize("text", ["", "host", "host:8080", "ftp://host", "https://", "https://:80", "/path", "${URL}"])
def test_what_is_no_url_of_a_deployment_is_refused(text: str) -> None:
    """Anything but http or https with a host is refused, with the way to write it."""
    with pytest.raises(ValueError, match="is not a URL of a deployment; write it as https://host or https://host/path"):
        parse_base_url(text)


@pytest.mark.parametrize("text", ["https://host:99999", "https://host:port"])
def test_an_impossible_port_is_refused(text: str) -> None:
    """A port that cannot be is told before any request."""
    with pytest.raises(ValueError, match=r"has no valid (host and )?port"):
        parse_base_url(text)


@pytest.mark.parametrize(
    "text",
    [
        "https://user:hunter2@host",
        "https://hunter2@host",
        "https://:hunter2@host",
        "https://user:hunter2@",
        "https://user:hunter2@host:99999",
        "https://user:hunter2@[bad",
        "ftp://user:hunter2@host",
        "//user:hunter2@host",
        "user:hunter2@host",
        "https:/user:hunter2@host",
        "https:user:hunter2@host",
        "https://user:hunter2/x@host",
        "https://host:port/?key=hunter2#hunter2",
    ],
)
def test_no_password_is_ever_repeated(text: str) -> None:
    """A URL with a user name or password is refused, however it was mistyped, and the message holds neither."""
    with pytest.raises(ValueError, match=r"URL|https") as caught:
        parse_base_url(text)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("base", "url"),
    [
        ("https://host", "https://host/chat"),
        ("https://host/api/agent/", "https://host/api/agent/chat"),
        ("https://host/api?key=1", "https://host/api/chat?key=1"),
    ],
)
def test_a_path_is_joined_below_the_base(base: str, url: str) -> None:
    """The base URL's own path and query stay."""
    assert join_url(base, "/chat") == url


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://user:pw@host:1/path?key=1#part", "https://host:1/path"),
        ("https://host", "https://host"),
        ("https://user:p@w@host/", "https://host/"),
        ("https://[bad", "the given URL"),
    ],
)
def test_a_url_is_shown_without_what_may_be_secret(url: str, shown: str) -> None:
    """Userinfo, query and fragment are never shown."""
    assert show_url(url) == shown


KEPT = "https://host/a?api_key=hunter22"
WAYS: dict[str, Callable[[PrivateUrl], str]] = {
    "str": str,
    "repr": repr,
    "format": "{}".format,
    "wide format": "{:>99}".format,
    "f-string": lambda url: f"at {url}",
    "percent": lambda url: "%s %r" % (url, url),  # noqa: UP031 - as loggers do
    "in a list": lambda url: str([url]),
}


@pytest.mark.parametrize("name", WAYS)
def test_no_way_to_show_a_url_shows_its_query(name: str) -> None:
    """A URL that is kept is shown without its query, which may hold a credential, however it becomes text."""
    for url in (parse_base_url(KEPT), join_url(KEPT, "/chat")):
        shown = WAYS[name](url)
        assert "https://host/a" in shown
        assert "hunter22" not in shown


def test_targets_and_judges_show_no_query() -> None:
    """The URLs of a target and of a judge, and what holds them, show no credential of their query."""
    target, judge = RemoteTarget(KEPT), LLMJudge(KEPT, "m")
    shown = f"{target.url} {target.url!r} {vars(target)} {judge.url} {judge.url!r} {vars(judge)}"
    assert "hunter22" not in shown


def test_a_url_is_whole_wherever_it_is_used() -> None:
    """What takes a URL apart, compares it or sends it has all of it; `reveal` gives it as text."""
    url = parse_base_url(KEPT)
    assert url == KEPT
    assert (type(url.reveal()), url.reveal()) == (str, KEPT)
    assert urlsplit(url).query == "api_key=hunter22"
    assert str(httpx.Request("GET", url).url) == KEPT
    assert join_url(url, "/chat") == "https://host/a/chat?api_key=hunter22"
