"""Which headers can be sent, and which hold a credential by their name."""

import pytest

from remote_evals.redaction.credentials import (
    check_headers,
    check_secret_headers,
    is_credential_name,
    is_credential_parameter,
)

CREDENTIALS = """
    Authorization Proxy-Authorization X-Authorization X-Auth Proxy-Auth X-OAuth X-Bearer X-Jwt-Assertion jwt
    X-Auth-Token X-Access-Token Private-Token PRIVATE-TOKEN x-amz-security-token MY_TOKEN accessToken authtoken token
    token_v2 X-CSRF-Token csrftoken X-Api-Key X-API-Key X-ApiKey x_apikey apikey apiKey APIKey API_KEY_1 x-goog-api-key
    x-functions-key Ocp-Apim-Subscription-Key X-Private-Key X-Auth-Key access_key secretKey signing-key key
    client-secret clientSecret CF-Access-Client-Secret DB_PASSWORD password passwd X-Pwd passphrase X-Credential
    credentials X-Amz-Signature X-Signature X-Hub-Signature-256 sig x-vercel-protection-bypass
    cookie Cookie X-Cookie X-Session X-Session-Id session_id sessionid JSESSIONID PHPSESSID connect.sid sid
"""

INNOCENT = """
    Accept Accept-Language User-Agent X-Tenant X-Request-Id traceparent X-Author X-Authored-By X-Authority
    X-Session-Kind X-Obsession X-Tokens-Used max_tokens tokenizer X-Tokenizer X-Cookies-Accepted cookieless
    X-Secretary X-Keyboard Keyword keyframes X-Monkey turkey X-Passenger X-Passport compass bypassed design X-Signed-Off
    X-Signal X-Sidebar inside X-Key-Count page code pass
"""


@pytest.mark.parametrize("name", CREDENTIALS.split())
def test_names_of_credentials_are_known(name: str) -> None:
    """A header, cookie, variable or parameter whose name has the word of a credential is taken for one."""
    assert is_credential_name(name)
    assert is_credential_parameter(name)


@pytest.mark.parametrize("name", INNOCENT.split())
def test_other_names_are_no_credentials(name: str) -> None:
    """A name with the same letters inside another word is not taken for a credential."""
    assert not is_credential_name(name)


@pytest.mark.parametrize("name", ["code", "pass", "Code"])
def test_in_a_query_more_names_are_credentials(name: str) -> None:
    """Some words name a credential only in the query of a URL."""
    assert is_credential_parameter(name)
    assert not is_credential_parameter(f"{name}-name")


def test_a_named_header_that_is_not_sent() -> None:
    """A secret header that is not among the headers is rejected with the closest name."""
    with pytest.raises(
        ValueError, match=r"the secret header 'X-Tenent' is not among the headers; did you mean 'X-Tenant'\?"
    ):
        check_secret_headers(["X-Tenent"], {"X-Tenant": "blue-team-7"})


@pytest.mark.parametrize("name", ["X-Tenant=s3cr3t-tok", "X-Tenant: s3cr3t-tok", ""])
def test_a_secret_header_is_named_without_its_value(name: str) -> None:
    """A secret header that is given with its value is rejected without quoting the value."""
    with pytest.raises(ValueError, match="a secret header is given by its name alone") as caught:
        check_secret_headers([name], {"X-Tenant": "s3cr3t-tok"})
    assert "s3cr3t" not in str(caught.value)


@pytest.mark.parametrize("value", ["", "s3cr3t7", "Bearer s3cr3t7"])
def test_a_named_header_that_is_short(value: str) -> None:
    """A secret too short to be hidden is rejected without quoting it."""
    with pytest.raises(ValueError, match="the secret header X-Tenant cannot be hidden: it has only") as caught:
        check_secret_headers(["X-Tenant"], {"x-tenant": value})
    assert "s3cr3t7" not in str(caught.value)
    assert "would blot out other words" in str(caught.value)


@pytest.mark.parametrize(
    "name", ["Authorization", "authorization", "Proxy-Authorization", "X-Api-Key", "Api-Key", "X-Auth-Token"]
)
def test_a_header_that_holds_nothing_but_a_credential_must_be_long(name: str) -> None:
    """A header that holds nothing but a credential is rejected if that is too short to be hidden."""
    assert check_headers({name: "Bearer 12345678"})
    with pytest.raises(ValueError, match=f"the value of the header {name} cannot be hidden: it has only 7 character"):
        check_headers({name: "Bearer 1234567"})


@pytest.mark.parametrize("name", ["X-Author", "X-Session", "Cookie", "X-Tokens-Used"])
def test_a_header_that_may_be_no_credential_may_be_short(name: str) -> None:
    """A header whose name only looks like a credential's may have a short value."""
    assert check_headers({name: "Bob"}) == {name: "Bob"}
