"""Which secrets may go over plain http, and where to."""

from typing import Any

import pytest

from remote_evals import LLMJudge, RemoteTarget, UsageError

TOKEN = "t0k3n-qW7xqW7x"
LOCAL = ["http://127.0.0.1:8000", "http://127.9.9.9", "http://[::1]:80", "http://localhost", "http://a.localhost/x"]
ELSEWHERE = [
    "http://agent.test",
    "http://192.0.2.1:8000/x",
    "http://[2001:db8::1]",
    "http://localhost.test",
    "HTTP://A.TEST",
]
SECRETS: dict[str, tuple[dict[str, Any], str]] = {
    "token": ({"token": TOKEN}, "the token"),
    "callable": ({"token": lambda: TOKEN}, "the token"),
    "Authorization": ({"headers": {"authorization": f"Bearer {TOKEN}"}}, "the header authorization"),
    "API key": ({"headers": {"X-Api-Key": TOKEN}}, "the header X-Api-Key"),
    "cookie": ({"headers": {"Cookie": f"sid={TOKEN}"}}, "the header Cookie"),
    "named": ({"headers": {"X-Tenant": TOKEN}, "secret_headers": ["x-tenant"]}, "the header X-Tenant"),
    "named alone": ({"headers": {"X-Tenant": TOKEN}, "secret_headers": "X-Tenant"}, "the header X-Tenant"),
    "two": ({"token": TOKEN, "headers": {"X-Api-Key": TOKEN}}, "the token and the header X-Api-Key"),
}


@pytest.mark.parametrize("url", ELSEWHERE)
@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_over_plain_http_is_refused(name: str, url: str) -> None:
    """A secret that others could read on its way is refused at once: where, why, and what to do."""
    given, what = SECRETS[name]
    with pytest.raises(UsageError) as caught:
        RemoteTarget(url, **given)
    assert str(caught.value) == (
        f"{url.replace('HTTP', 'http')} is plain http, and {what} could be read in transit; use https, or allow "
        "it with --insecure-http (insecure_http=True in code)"
    )


def test_a_credential_in_the_query_is_refused() -> None:
    """A credential in the URL itself goes over plain http no more than a header, and is not repeated."""
    with pytest.raises(UsageError, match=r"http://agent\.test/x is plain http, and the query of the URL") as caught:
        RemoteTarget(f"http://agent.test/x?api_key={TOKEN}")
    assert TOKEN not in str(caught.value)


@pytest.mark.parametrize("name", SECRETS)
def test_plain_http_can_be_allowed(name: str) -> None:
    """Whoever says so may send secrets over plain http."""
    assert RemoteTarget("http://agent.test", insecure_http=True, **SECRETS[name][0])


@pytest.mark.parametrize("url", [*LOCAL, "https://agent.test"])
@pytest.mark.parametrize("name", SECRETS)
def test_this_machine_and_tls_get_secrets(name: str, url: str) -> None:
    """To this machine itself, and over TLS to any other, secrets go without a word."""
    assert RemoteTarget(url, **SECRETS[name][0])


@pytest.mark.parametrize("url", ELSEWHERE)
def test_without_a_secret_plain_http_is_fine(url: str) -> None:
    """A deployment that wants no token may be anywhere."""
    assert RemoteTarget(f"{url}?page=1", headers={"X-Tenant": "a-long-tenant", "X-Author": "Bob"})


JUDGES: dict[str, tuple[str, dict[str, Any], str]] = {
    "key": ("", {"api_key": TOKEN}, "the judge's API key"),
    "header": ("", {"headers": {"X-Api-Key": TOKEN}}, "the header X-Api-Key"),
    "query": (f"?api_key={TOKEN}", {}, "the query of the URL"),
    "all": (
        f"?sig={TOKEN}",
        {"api_key": TOKEN, "headers": {"Cookie": TOKEN}},
        "the judge's API key and the header Cookie and the query of the URL",
    ),
}


@pytest.mark.parametrize("url", ELSEWHERE)
@pytest.mark.parametrize("name", JUDGES)
def test_a_judges_secrets_over_plain_http_are_refused(name: str, url: str) -> None:
    """What is secret of a judge is so as of a deployment: key, headers and query are told by their names."""
    query, given, what = JUDGES[name]
    with pytest.raises(UsageError, match=rf"/v1/chat/completions is plain http, and {what} could be read") as caught:
        LLMJudge(url + query, "m", **given)
    assert TOKEN not in str(caught.value)
    assert LLMJudge(url + query, "m", insecure_http=True, **given)
    assert LLMJudge(f"{url}?page=1", "m", headers={"X-Author": "Somebody Else"})


@pytest.mark.parametrize("url", [*LOCAL, "https://judge.test"])
@pytest.mark.parametrize("name", JUDGES)
def test_a_judge_here_or_over_tls_gets_secrets(name: str, url: str) -> None:
    """To a judge on this machine, and over TLS to any other, secrets go without a word."""
    query, given, _ = JUDGES[name]
    assert LLMJudge(url + query, "m", **given)
