"""Faults that answer instead of a stream."""

from typing import Any

import pytest

from tests.fake_server.wire_client import post, serve_faulty


@pytest.mark.parametrize(
    ("name", "status", "body"),
    [
        ("unauthorized", 401, {"error": "Unauthorized"}),
        ("forbidden", 403, {"error": "Forbidden"}),
        ("rate-limited", 429, {"error": "Too Many Requests"}),
        ("server-error", 500, {"error": "The request failed. The server log has the details."}),
    ],
)
def test_a_status_fault_answers_json(name: str, status: int, body: dict[str, str]) -> None:
    """A fault of status 401, 403, 429 or 500 answers with a JSON error."""
    with serve_faulty(name) as server:
        answer = post(server)
    assert (answer.status_code, answer.json()) == (status, body)


def test_unauthorized_names_the_scheme() -> None:
    """A 401 has a WWW-Authenticate header."""
    with serve_faulty("unauthorized") as server:
        assert post(server).headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize(("given", "sent"), [({}, "1"), ({"retry_after": 7}, "7"), ({"retry_after": "soon"}, "soon")])
def test_rate_limited_says_when_to_retry(given: dict[str, Any], sent: str) -> None:
    """A 429 has a Retry-After header, by default of 1 second."""
    with serve_faulty({"name": "rate-limited", **given}) as server:
        assert post(server).headers["retry-after"] == sent


def test_unavailable_is_the_page_of_a_proxy() -> None:
    """`unavailable` is the HTML page of a proxy with 503, and without Retry-After."""
    with serve_faulty("unavailable") as server:
        answer = post(server)
    assert (answer.status_code, answer.headers["content-type"]) == (503, "text/html")
    assert "503 Service Temporarily Unavailable" in answer.text
    assert "retry-after" not in answer.headers


def test_unavailable_can_say_when_to_retry() -> None:
    """`unavailable` has a Retry-After header if the script gives one."""
    with serve_faulty({"name": "unavailable", "retry_after": 2}) as server:
        assert post(server).headers["retry-after"] == "2"


def test_status_answers_any_status_body_and_headers() -> None:
    """`status` answers with the status, text and headers that the script gives."""
    with serve_faulty(
        {"name": "status", "status": 418, "body": "short and stout", "headers": {"x-pot": "tea"}}
    ) as server:
        answer = post(server)
    assert (answer.status_code, answer.text, answer.headers["x-pot"]) == (418, "short and stout", "tea")
    assert answer.headers["content-type"] == "text/plain"


def test_status_answers_a_body_that_is_no_text_as_json() -> None:
    """`status` sends a body that is not text as JSON."""
    with serve_faulty({"name": "status", "status": 409, "body": {"error": "busy"}}) as server:
        answer = post(server)
    assert (answer.json(), answer.headers["content-type"]) == ({"error": "busy"}, "application/json")


def test_html_is_a_login_page_that_calls_itself_fine() -> None:
    """`html` is an HTML page with status 200."""
    with serve_faulty("html") as server:
        answer = post(server)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/html")
    assert answer.text.startswith("<!DOCTYPE html>")


@pytest.mark.parametrize(
    ("given", "sent"), [({}, "/login"), ({"location": "https://sso.example/"}, "https://sso.example/")]
)
def test_redirect_points_elsewhere(given: dict[str, str], sent: str) -> None:
    """`redirect` is a 302 to the location of the script, by default to /login."""
    with serve_faulty({"name": "redirect", **given}) as server:
        answer = post(server)
    assert (answer.status_code, answer.headers["location"]) == (302, sent)
