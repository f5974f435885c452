"""Which headers can be sent, and what in them is secret."""

import base64

import pytest

from remote_evals.headers import check_headers, check_secret_headers, find_credentials, is_credential_name


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Authorization", True),
        ("Proxy-Authorization", True),
        ("cookie", True),
        ("X-Api-Key", True),
        ("x_apikey", True),
        ("MY_TOKEN", True),
        ("client-secret", True),
        ("DB_PASSWORD", True),
        ("Accept", False),
        ("X-Tenant", False),
        ("User-Agent", False),
    ],
)
def test_names_of_credentials_are_known(name: str, expected: bool) -> None:
    """A header or variable whose name says credential is taken for one."""
    assert is_credential_name(name) is expected


@pytest.mark.parametrize(
    ("name", "value", "secrets"),
    [
        ("X-Api-Key", "s3cr3t-tok", {"s3cr3t-tok"}),
        ("Authorization", "Bearer s3cr3t-tok", {"Bearer s3cr3t-tok", "s3cr3t-tok"}),
        ("Authorization", "ApplicationKey  s3cr3t-tok", {"ApplicationKey  s3cr3t-tok", "s3cr3t-tok"}),
        ("Authorization", "s3cr3t-tok", {"s3cr3t-tok"}),
        ("Cookie", 'a=1; sid="s3cr3t-tok"', {'a=1; sid="s3cr3t-tok"', "s3cr3t-tok"}),
        ("X-Author", "Somebody Else", {"Somebody Else"}),
        ("X-Author", "Bob", set()),
        ("X-Session", "Bearer x", {"Bearer x"}),
        ("X-Tenant", "a-long-tenant", set()),
    ],
)
def test_credentials_are_found_by_name(name: str, value: str, secrets: set[str]) -> None:
    """What a header of such a name holds is secret as a whole and in its parts, but for parts that are short."""
    assert set(find_credentials({name: value})) == secrets


def test_what_basic_encodes_is_found() -> None:
    """Of Basic authentication the pair and the password are secret, not only their base64."""
    encoded = base64.b64encode(b"me:s3cr3t:tok").decode()
    found = set(find_credentials({"Authorization": f"Basic {encoded}"}))
    assert found == {f"Basic {encoded}", encoded, "me:s3cr3t:tok", "s3cr3t:tok"}


@pytest.mark.parametrize("encoded", ["no base64 at all", "//////////8="], ids=["no base64", "no text"])
def test_broken_basic_is_secret_all_the_same(encoded: str) -> None:
    """A value that is not what Basic says is still a secret."""
    assert encoded in set(find_credentials({"Authorization": f"Basic {encoded}"}))


@pytest.mark.parametrize("name", ["X-Tenant", "x-tenant"])
def test_a_header_is_secret_when_it_is_named(name: str) -> None:
    """A header of any name is secret for whoever says so, whatever the case of the name."""
    assert list(find_credentials({"X-Tenant": "blue-team-7"}, [name])) == ["blue-team-7"] * 2


def test_a_named_header_that_is_not_sent() -> None:
    """A secret header that is not among the headers is a typo, so the nearest name is told."""
    with pytest.raises(ValueError, match=r"no header 'X-Tenent' is sent .*; did you mean 'X-Tenant'\?"):
        check_secret_headers(["X-Tenent"], {"X-Tenant": "blue-team-7"})


@pytest.mark.parametrize("name", ["X-Tenant=s3cr3t-tok", "X-Tenant: s3cr3t-tok", ""])
def test_a_secret_header_is_named_without_its_value(name: str) -> None:
    """Whoever gives the value with the name is told so, and does not find it in the message."""
    with pytest.raises(ValueError, match="a secret header is given by its name alone") as caught:
        check_secret_headers([name], {"X-Tenant": "s3cr3t-tok"})
    assert "s3cr3t" not in str(caught.value)


@pytest.mark.parametrize("value", ["", "s3cr3t7", "Bearer s3cr3t7"])
def test_a_named_header_that_is_short(value: str) -> None:
    """A secret too short to be hidden is refused, and not repeated."""
    with pytest.raises(ValueError, match="the secret header X-Tenant cannot be hidden: it has only") as caught:
        check_secret_headers(["X-Tenant"], {"x-tenant": value})
    assert "s3cr3t7" not in str(caught.value)
    assert "would blot out other words" in str(caught.value)


@pytest.mark.parametrize(
    "name", ["Authorization", "authorization", "Proxy-Authorization", "X-Api-Key", "Api-Key", "X-Auth-Token"]
)
def test_a_header_that_holds_nothing_but_a_credential_must_be_long(name: str) -> None:
    """Headers that are credentials and nothing else are refused when they are too short to be hidden."""
    assert check_headers({name: "Bearer 12345678"})
    with pytest.raises(ValueError, match=f"the value of the header {name} cannot be hidden: it has only 7 character"):
        check_headers({name: "Bearer 1234567"})


@pytest.mark.parametrize("name", ["X-Author", "X-Session", "Cookie", "X-Tokens-Used"])
def test_a_header_that_may_be_no_credential_may_be_short(name: str) -> None:
    """A header whose name only looks like a credential's may have any value."""
    assert check_headers({name: "Bob"}) == {name: "Bob"}
