"""Which parts of the headers and the URL of a request are secret, and how they are named."""

import base64

import pytest

from remote_evals.redaction.credentials import find_credentials, find_url_credentials, name_credentials

SIGNED = "AWS4-HMAC-SHA256 Credential=AKIA0/eu/s3, SignedHeaders=host;x-amz-date, Signature=0123456789abcdef"


@pytest.mark.parametrize(
    ("name", "value", "secrets"),
    [
        ("X-Api-Key", "s3cr3t-tok", {"s3cr3t-tok"}),
        ("x-functions-key", "s3cr3t-tok", {"s3cr3t-tok"}),
        ("Authorization", "Bearer s3cr3t-tok", {"Bearer s3cr3t-tok", "s3cr3t-tok"}),
        ("Authorization", "ApplicationKey  s3cr3t-tok", {"ApplicationKey  s3cr3t-tok", "s3cr3t-tok"}),
        ("Authorization", "s3cr3t-tok", {"s3cr3t-tok"}),
        ("X-Author", "Somebody Else", set()),
        ("X-Session-Kind", "interactive", set()),
        ("X-Session", "Bearer x", {"Bearer x"}),
        ("X-Tenant", "a-long-tenant", set()),
    ],
)
def test_credentials_are_found_by_name(name: str, value: str, secrets: set[str]) -> None:
    """The value of a header with the name of a credential is secret, whole and in parts, except short parts."""
    assert set(find_credentials({name: value})) == secrets


@pytest.mark.parametrize(
    ("value", "parts"),
    [
        ('Token token="s3cr3t-tok"', {"s3cr3t-tok"}),
        ('Token token="s3cr3t-tok", nonce="n0nce-n0nce"', {"s3cr3t-tok", "n0nce-n0nce"}),
        ("ApiKey key=s3cr3t-tok,id=my-long-id", {"s3cr3t-tok", "my-long-id"}),
        ('Custom blob="two words, and more"', {"two words, and more"}),
        ('Digest username="somebody", realm="agent.test", uri="/chat/abc", response="0a1b2c3d"', {"0a1b2c3d"}),
        (SIGNED, {"AKIA0/eu/s3", "0123456789abcdef"}),
    ],
)
def test_the_values_in_a_list_are_secret_too(value: str, parts: set[str]) -> None:
    """Each value in a list of pairs is a secret of its own, except those that only describe the credential."""
    assert set(find_credentials({"Authorization": value})) == {value, value.partition(" ")[2], *parts}


@pytest.mark.parametrize(
    ("value", "parts"),
    [
        ('a=1; sid="s3cr3t-tok"', {"s3cr3t-tok"}),
        ("theme=dark-mode; lang=de-Latn-DE; layout=two-columns-and-a-sidebar", set()),
        ("theme=dark-mode; csrftoken=s3cr3t-tok;JSESSIONID=s3cr3t-two", {"s3cr3t-tok", "s3cr3t-two"}),
        ("visit=0a1b2c3d4e5f6a7b; count=1234567890123456", {"0a1b2c3d4e5f6a7b"}),
        ("s3cr3t-tok", set()),
    ],
)
def test_of_a_cookie_only_credentials_are_secret(value: str, parts: set[str]) -> None:
    """A cookie header is secret as a whole, and so is each cookie that has a credential's name or looks random."""
    assert set(find_credentials({"Cookie": value})) == {value, *parts}


@pytest.mark.parametrize(
    ("pair", "alone"), [("me:s3cr3t:tok", "s3cr3t:tok"), ("s3cr3t-key:", "s3cr3t-key"), ("s3cr3t-key", "s3cr3t-key")]
)
def test_what_basic_encodes_is_found(pair: str, alone: str) -> None:
    """In Basic authentication the base64, the pair and the password are secret, or the user if there is no password."""
    encoded = base64.b64encode(pair.encode()).decode()
    found = set(find_credentials({"Authorization": f"Basic {encoded}"}))
    assert found == {f"Basic {encoded}", encoded, pair, alone}


@pytest.mark.parametrize("encoded", ["no base64 at all", "//////////8="], ids=["no base64", "no text"])
def test_broken_basic_is_secret_all_the_same(encoded: str) -> None:
    """A value that is not valid Basic authentication is still a secret."""
    assert encoded in set(find_credentials({"Authorization": f"Basic {encoded}"}))


@pytest.mark.parametrize("name", ["X-Tenant", "x-tenant"])
def test_a_header_is_secret_when_it_is_named(name: str) -> None:
    """A header of any name is secret if it is named, in any case of letters."""
    assert set(find_credentials({"X-Tenant": "blue-team-7"}, [name])) == {"blue-team-7"}


@pytest.mark.parametrize("name", ["key", "code", "sig", "pass", "pwd", "jwt", "api_key", "access_token", "Signature"])
def test_credentials_are_found_in_a_query(name: str) -> None:
    """The decoded values of query parameters with the name of a credential are secret."""
    assert list(find_url_credentials(f"https://h/?page=long-enough&{name}=s3cr3t%2Ftok&x=1")) == ["s3cr3t/tok"]
    assert list(find_url_credentials(f"https://h/?{name}=short")) == []


def test_what_holds_secrets_is_named() -> None:
    """The headers that hold secrets are named, and so is the query of the URL."""
    headers = {"X-Tenant": "blue-team-7", "X-Api-Key": "s3cr3t-tok", "X-Author": "Somebody Else"}
    names = ["the header X-Tenant", "the header X-Api-Key", "the query of the URL"]
    assert list(name_credentials("https://h/?sig=s3cr3t-tok", headers, ["x-tenant"])) == names
    assert list(name_credentials("https://h/?page=long-enough", {"X-Author": "Somebody Else"})) == []
