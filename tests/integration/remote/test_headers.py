"""Headers of one's own: which are refused before anything is sent, what of them is secret, and that no cookie stays."""

from typing import Any

import pytest

from remote_evals import Eval, EvalContext, EvalRunner, RemoteStatusError, RemoteTarget, equals
from remote_evals.redaction import REDACTED
from tests.serving.deployments import PATIENT, WHOLE_RUN, Connection, listen, serve
from tests.serving.leaks import API_KEY, assert_error_keeps_secrets

VALUE = API_KEY

WRONG_HEADERS = {
    "not ASCII": ("X-Name", f"{VALUE}é", "the value of the header X-Name has characters other"),
    "line break": ("X-Name", f"{VALUE}\r\nX-Other: 1", "the value of the header X-Name has characters other"),
    "control character": ("X-Name", f"{VALUE}\x01", "the value of the header X-Name has characters other"),
    "DEL": ("X-Name", f"{VALUE}\x7f", "the value of the header X-Name has characters other"),
    "length": ("Content-Length", VALUE, "the header Content-Length is set by the request itself"),
    "framing": ("transfer-encoding", VALUE, "the header transfer-encoding is set by the request itself"),
    "host": ("Host", VALUE, "the header Host is set by the request itself"),
    "space in the name": ("X Name", VALUE, "a header's name is letters, digits and dashes"),
    "no name": ("", VALUE, "a header's name is letters, digits and dashes"),
    "the value as name": (f"X: {VALUE}", "1", "a header's name is letters, digits and dashes"),
}


@pytest.mark.parametrize("name", WRONG_HEADERS)
def test_a_header_that_cannot_be_sent(name: str) -> None:
    """A target refuses a header that would break the request at once, and does not repeat its value."""
    header, value, text = WRONG_HEADERS[name]
    with pytest.raises(ValueError, match=text) as caught:
        RemoteTarget("http://127.0.0.1:1", headers={header: value})
    assert VALUE not in str(caught.value)
    assert_error_keeps_secrets(caught.value)


ECHOED = {
    "behind Bearer": ({"Authorization": "Bearer s3cr3t-tok"}, "", "s3cr3t-tok"),
    "behind bearer": ({"authorization": "bearer  s3cr3t-tok"}, "", "s3cr3t-tok"),
    "Basic": ({"Authorization": "Basic bWU6cHc6cHc="}, "", "bWU6cHc6cHc="),
    "whole": ({"X-Api-Key": "s3cr3t-tok"}, "", "s3cr3t-tok"),
    "cookie": ({"Cookie": "theme=dark-mode; sid=s3cr3t-tok"}, "", "s3cr3t-tok"),
    "query": ({}, "?api_key=s3cr3t-tok&x=y", "s3cr3t-tok"),
    "encoded query": ({}, "?access_token=s3cr3t%2Ftok%2B", "s3cr3t/tok+"),
}


@pytest.mark.parametrize("name", ECHOED)
async def test_a_credential_in_header_or_query_is_secret(name: str) -> None:
    """What a header or the URL carries as a credential is redacted where a deployment echoes it."""
    headers, query, secret = ECHOED[name]
    with serve({"text": f"you sent {secret}."}) as server:
        target = RemoteTarget(server.url + query, headers=headers, limits=PATIENT)
        async with target, target.open_session() as session:
            run = await session.send("hi", 1)
    assert run.reply == f"you sent {REDACTED}."
    assert secret not in target.description + repr(target)


async def test_a_credential_of_a_header_is_in_no_failure() -> None:
    """An error that quotes a deployment leaves the credential of a header out as it does a token."""
    fault = {"name": "status", "status": 418, "body": "no s3cr3t-tok, no cookie-value-1 here"}
    headers = {"Authorization": "Bearer s3cr3t-tok", "Cookie": "sid=cookie-value-1"}
    with serve({"text": "x", "fault": fault}) as server:
        async with RemoteTarget(server.url, headers=headers) as target, target.open_session() as session:
            with pytest.raises(RemoteStatusError) as caught:
                await session.send("hi", 1)
    assert caught.value.happened == f"the answer was 418: no {REDACTED}, no {REDACTED} here"


@pytest.mark.parametrize("status", [200, 500], ids=["good answer", "failure"])
@pytest.mark.parametrize("own", [None, {"Cookie": "mine=1"}], ids=["no cookie", "a cookie of one's own"])
async def test_a_cookie_of_one_turn_is_never_sent_in_another(status: int, own: Any) -> None:
    """What a deployment sets as a cookie is sent by no later turn, of the same session or of another."""
    sent: list[str | None] = []
    cookies = b"\r\nset-cookie: sid=1; Path=/\r\nset-cookie: other=2; Path=/; Max-Age=999\r\n"

    async def answer(connection: Connection) -> None:
        sent.append(connection.header("cookie"))
        head, *rest = WHOLE_RUN
        await connection.send([head.replace(b"200 OK", b"%d OK" % status).replace(b"\r\n", cookies, 1), *rest])

    async def talk(t: EvalContext) -> None:
        for _ in range(2):
            await t.send("hi")
        t.check("replies", t.reply, equals("Hello."))

    # A name, since cookie jars treat an address otherwise.
    async with listen(answer) as host:
        target = RemoteTarget(f"http://{host.replace('127.0.0.1', 'localhost')}", headers=own, limits=PATIENT)
        report = await EvalRunner(target, concurrency=1).arun([Eval(name, talk) for name in "ab"])
    assert {result.status for result in report.results} == {"passed" if status == 200 else "error"}
    assert sent == [own and own["Cookie"]] * (4 if status == 200 else 2)
