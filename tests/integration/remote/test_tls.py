"""TLS to a deployment, with real handshakes: whose certificate is accepted, and what is told of one that is not."""

import ssl
import warnings
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding

from remote_evals import RemoteStreamError, RemoteTarget, RemoteUnreachableError, UsageError
from remote_evals.transport.connecting import Tls
from tests.serving.certificates import Authority
from tests.serving.deployments import (
    PATIENT,
    WHOLE_RUN,
    Connection,
    Failure,
    closing,
    fail_among_others,
    listen,
    sending,
)

ANSWER = sending(*WHOLE_RUN)


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def other_authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("other"))


@pytest.fixture(autouse=True)
def _only_usual_authorities(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.delenv(variable, raising=False)


async def reply_of(url: str, *, ca_bundle: Path | str | None = None, insecure: bool = False) -> str:
    target = RemoteTarget(url, limits=PATIENT, ca_bundle=ca_bundle, insecure=insecure)
    async with target, target.open_session() as session:
        return (await session.send("hi", 1)).reply


def assert_not_accepted(failure: Failure, reason: str, advice: str) -> None:
    assert type(failure.error) is RemoteUnreachableError
    assert failure.error.happened == f"the TLS certificate was not accepted ({reason})"
    assert failure.error.advice.startswith(advice)
    assert failure.row.run.last_event is None


@pytest.mark.parametrize("as_text", [False, True])
async def test_a_certificate_of_ones_own_authority(authority: Authority, as_text: bool) -> None:
    """A deployment whose certificate comes from the authority in `ca_bundle` is reached as any other."""
    bundle = str(authority.bundle) if as_text else authority.bundle
    async with listen(ANSWER, tls=authority.certify("127.0.0.1")) as host:
        assert await reply_of(f"https://{host}", ca_bundle=bundle) == "Hello."


async def test_a_bundle_adds_to_the_usual_authorities(
    authority: Authority, other_authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who is trusted anyway, as by SSL_CERT_FILE, stays trusted beside the bundle's authority."""
    monkeypatch.setenv("SSL_CERT_FILE", str(other_authority.bundle))
    for known in (authority, other_authority):
        async with listen(ANSWER, tls=known.certify("127.0.0.1")) as host:
            assert await reply_of(f"https://{host}", ca_bundle=authority.bundle) == "Hello."


@pytest.mark.parametrize("has_bundle", [False, True])
async def test_an_unknown_issuer(authority: Authority, other_authority: Authority, has_bundle: bool) -> None:
    """A certificate of an authority that nobody named is not accepted, and the advice says how to name one."""
    bundle = other_authority.bundle if has_bundle else None
    async with listen(ANSWER, tls=authority.certify("127.0.0.1")) as host:
        failure = await fail_among_others(f"https://{host}", ca_bundle=bundle)
    assert_not_accepted(failure, "unable to get local issuer certificate", "Check who issued it")
    assert "--ca-bundle" in failure.error.advice


@pytest.mark.parametrize(
    ("valid_for", "reason", "advice"),
    [
        (timedelta(hours=-1), "certificate has expired", "Renew the deployment's certificate"),
        (timedelta(days=7), "certificate is not yet valid", "Check this machine's clock"),
    ],
    ids=["expired", "not yet"],
)
async def test_a_certificate_out_of_its_time(
    valid_for: timedelta, reason: str, advice: str, authority: Authority
) -> None:
    """A trusted certificate that is not valid today is told by its dates."""
    async with listen(ANSWER, tls=authority.certify("127.0.0.1", valid_for=valid_for)) as host:
        failure = await fail_among_others(f"https://{host}", ca_bundle=authority.bundle)
    assert_not_accepted(failure, reason, advice)


@pytest.mark.parametrize("name", ["192.0.2.1", "other.test"])
async def test_a_certificate_for_another_host(name: str, authority: Authority) -> None:
    """A trusted certificate of another host is not accepted, and the advice is to look at the URL."""
    async with listen(ANSWER, tls=authority.certify(name)) as host:
        failure = await fail_among_others(f"https://{host}", ca_bundle=authority.bundle)
    reason = "IP address mismatch, certificate is not valid for '127.0.0.1'"
    assert_not_accepted(failure, reason, "Check the URL's address")


@pytest.mark.parametrize(
    ("name", "valid_for"), [("127.0.0.1", timedelta(days=1)), ("other.test", timedelta(hours=-1))], ids=["good", "bad"]
)
@pytest.mark.parametrize("has_bundle", [False, True])
async def test_an_insecure_target_takes_any_certificate(
    name: str, valid_for: timedelta, has_bundle: bool, authority: Authority
) -> None:
    """Without verification a certificate is taken whoever issued it, for whatever host and time, bundle or not."""
    bundle = authority.bundle if has_bundle else None
    async with listen(ANSWER, tls=authority.certify(name, valid_for=valid_for)) as host:
        assert await reply_of(f"https://{host}", insecure=True, ca_bundle=bundle) == "Hello."


BUNDLES = {
    "none there": (None, "cannot be read: No such file or directory"),
    "empty": (b"", "holds no certificate"),
    "text": (b"the token is in the other file\n", "holds no certificate"),
    "broken": (b"-----BEGIN CERTIFICATE-----\nbm8=\n-----END CERTIFICATE-----\n", "holds no certificate"),
    "bytes": (b"\x30\x82\xff\x00", "holds no certificate"),
}


@pytest.mark.parametrize("name", BUNDLES)
@pytest.mark.parametrize("url", ["https://agent.test", "http://agent.test"])
def test_a_bundle_that_cannot_be_used(name: str, url: str, tmp_path: Path) -> None:
    """A bundle that is missing or holds no certificate is a usage error at once, which names it."""
    content, mistake = BUNDLES[name]
    bundle = tmp_path / "bundle.pem"
    if content is not None:
        bundle.write_bytes(content)
    with pytest.raises(UsageError, match=mistake) as caught:
        RemoteTarget(url, ca_bundle=bundle)
    assert f"the CA bundle {bundle} " in str(caught.value)


def test_a_list_of_revoked_certificates_is_no_bundle(tmp_path: Path) -> None:
    """PEM that holds something else than certificates would trust nobody, and is refused."""
    now, name = datetime.now(UTC), x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "tests")])
    made = x509.CertificateRevocationListBuilder().issuer_name(name).last_update(now).next_update(now)
    bundle = tmp_path / "revoked.pem"
    bundle.write_bytes(made.sign(generate_private_key(SECP256R1()), SHA256()).public_bytes(Encoding.PEM))
    with pytest.raises(UsageError, match=r"revoked\.pem holds no certificate"):
        RemoteTarget("https://agent.test", ca_bundle=bundle)


def test_a_folder_is_no_bundle(tmp_path: Path) -> None:
    """A folder of certificates is refused too, by the system's own words."""
    with pytest.raises(UsageError, match=r"cannot be read: Is a directory"):
        RemoteTarget("https://agent.test", ca_bundle=tmp_path)


async def test_tls_to_a_port_that_speaks_plain_http() -> None:
    """https:// to a port of http is a failed handshake, and the advice names the scheme."""
    async with listen(sending(b"HTTP/1.1 400 Bad Request\r\n\r\n"), speaks_http=False) as host:
        failure = await fail_among_others(f"https://{host}")
    assert type(failure.error) is RemoteUnreachableError
    assert "the TLS handshake failed" in failure.error.happened
    assert "https" in failure.error.advice


async def test_plain_http_to_a_port_that_speaks_tls(authority: Authority) -> None:
    """http:// to a port of TLS breaks off before any answer, and does not hang."""
    async with listen(ANSWER, tls=authority.certify("127.0.0.1")) as host:
        failure = await fail_among_others(f"http://{host}", ca_bundle=authority.bundle)
    assert type(failure.error) is RemoteStreamError
    assert failure.row.run.last_event is None


async def test_tls_that_is_cut_off() -> None:
    """A host that hangs up inside the handshake is one that cannot be reached."""
    async with listen(closing(), speaks_http=False) as host:
        failure = await fail_among_others(f"https://{host}")
    assert type(failure.error) is RemoteUnreachableError
    assert "could not connect" in failure.error.happened


@pytest.mark.parametrize("insecure", [False, True])
async def test_old_tls_is_refused(insecure: bool, authority: Authority) -> None:
    """A deployment that speaks nothing newer than TLS 1.1 is sent nothing, verified or not."""
    asked: list[Connection] = []

    async def answer(connection: Connection) -> None:
        asked.append(connection)
        await connection.send(WHOLE_RUN)

    async with listen(answer, tls=only_old(authority.certify("127.0.0.1"))) as host:
        failure = await fail_among_others(f"https://{host}", ca_bundle=authority.bundle, insecure=insecure)
    assert type(failure.error) is RemoteUnreachableError
    assert asked == []
    assert Tls(insecure=insecure).open_context().minimum_version == ssl.TLSVersion.TLSv1_2


def only_old(context: ssl.SSLContext) -> ssl.SSLContext:
    """Return the context for TLS 1.1 at most; skips where this machine's OpenSSL has it no more."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            context.minimum_version = ssl.TLSVersion.TLSv1
            context.maximum_version = ssl.TLSVersion.TLSv1_1
        context.set_ciphers("ALL:@SECLEVEL=0")
    except (ssl.SSLError, ValueError):
        pytest.skip("this machine's OpenSSL does not speak TLS 1.1")
    return context
