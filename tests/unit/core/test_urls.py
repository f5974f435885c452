"""Which URLs of deployments are accepted, how they are joined, and how they are shown."""

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
    """The base URL of a deployment keeps its path and query, without what would break a path below it."""
    assert parse_base_url(text) == url


@pytest.mark.parametrize("text", ["", "host", "host:8080", "ftp://host", "https://", "https://:80", "/path", "${URL}"])
def test_what_is_no_url_of_a_deployment_is_refused(text: str) -> None:
    """Anything but an http or https URL with a host is rejected with an example of a valid one."""
    with pytest.raises(ValueError, match="is not a URL of a deployment; write it as https://host or https://host/path"):
        parse_base_url(text)


@pytest.mark.parametrize("text", ["https://host:99999", "https://host:port"])
def test_an_impossible_port_is_refused(text: str) -> None:
    """An invalid port is reported before any request."""
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
    """A URL with a user name or password is rejected, however it is mistyped, and the message holds neither."""
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
    """The path and query of the base URL are kept."""
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


URL_WITH_KEY = "https://host/a?api_key=hunter22"
WAYS_TO_SHOW: dict[str, Callable[[PrivateUrl], str]] = {
    "str": str,
    "repr": repr,
    "format": "{}".format,
    "wide format": "{:>99}".format,
    "f-string": lambda url: f"at {url}",
    "percent": lambda url: "%s %r" % (url, url),  # noqa: UP031 - as loggers do
    "in a list": lambda url: str([url]),
}


@pytest.mark.parametrize("name", WAYS_TO_SHOW)
def test_no_way_to_show_a_url_shows_its_query(name: str) -> None:
    """A parsed or joined URL is shown without its query, which may hold a credential, however it becomes text."""
    for url in (parse_base_url(URL_WITH_KEY), join_url(URL_WITH_KEY, "/chat")):
        shown = WAYS_TO_SHOW[name](url)
        assert "https://host/a" in shown
        assert "hunter22" not in shown


def test_targets_and_judges_show_no_query() -> None:
    """The URLs of a target and a judge, and the objects that hold them, show no credential from the query."""
    target, judge = RemoteTarget(URL_WITH_KEY), LLMJudge(URL_WITH_KEY, "m")
    shown = f"{target.url} {target.url!r} {vars(target)} {judge.url} {judge.url!r} {vars(judge)}"
    assert "hunter22" not in shown


def test_a_url_is_whole_wherever_it_is_used() -> None:
    """Code that parses, compares or sends a URL gets all of it, and `reveal` returns it as a plain string."""
    url = parse_base_url(URL_WITH_KEY)
    assert url == URL_WITH_KEY
    assert (type(url.reveal()), url.reveal()) == (str, URL_WITH_KEY)
    assert urlsplit(url).query == "api_key=hunter22"
    assert str(httpx.Request("GET", url).url) == URL_WITH_KEY
    assert join_url(url, "/chat") == "https://host/a/chat?api_key=hunter22"
