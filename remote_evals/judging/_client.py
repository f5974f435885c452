"""An LLM as judge, behind any OpenAI-compatible chat-completions endpoint."""

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any, Self

import httpx

from ..errors import JudgeError, UsageError
from ..headers import find_credentials
from ..redaction import Redactor, Secret
from ..results import Verdict
from ..targets._proxy import find_proxy
from ..targets._transport import USER_AGENT, open_transport
from ..urls import explain_exposure, find_url_credentials, show_url
from ._completion import Completion
from ._judge import unparseable
from ._prompt import build_messages, new_nonce
from ._request import Request
from ._retry import ask_with_patience
from ._scores import parse_verdict
from ._settings import MODEL_VARIABLE, URL_VARIABLE, check_headers, check_key, find_endpoint, read_environment

_CONNECT_S = 10.0


class LLMJudge:
    """A model that grades; `url` is the endpoint's base, with or without `/v1`, or all of it.

    As an async context manager it keeps one client; without, each grading opens its own. `temperature` None sends
    none, for models that refuse it. `timeout_s` limits each request, 0 does not. `insecure_http` lets the key go over
    plain http to another machine. Raises `UsageError` for a URL, an API key or headers that cannot be used.
    """

    def __init__(
        self,
        url: str,
        model: str,
        *,
        api_key: str | Secret | None = None,
        temperature: float | None = 0.0,
        timeout_s: float = 60.0,
        headers: Mapping[str, str] | None = None,
        insecure_http: bool = False,
        redactor: Redactor | None = None,
    ) -> None:
        # First of all, so that no traceback finds the text in this frame.
        api_key = Secret(api_key) if isinstance(api_key, str) else api_key
        self._key = check_key(api_key) if api_key else None
        self.url = find_endpoint(url)
        self.model = model
        self.redactor = redactor or Redactor()
        self._temperature = temperature
        self._timeout_s = timeout_s
        self._headers = check_headers(headers or {})
        self._client: httpx.AsyncClient | None = None
        self._entered = 0
        if self._key:
            self.redactor.add(self._key)
            if not insecure_http and (exposed := explain_exposure(self.url, ["the judge's API key"])):
                raise UsageError(exposed)
        for secret in (*find_credentials(self._headers), *find_url_credentials(self.url)):
            self.redactor.add(Secret(secret))

    @classmethod
    def from_environment(
        cls,
        environ: Mapping[str, str] | None = None,
        *,
        temperature: float | None = 0.0,
        timeout_s: float = 60.0,
        insecure_http: bool = False,
        redactor: Redactor | None = None,
    ) -> Self:
        """Return the judge of REMOTE_EVALS_JUDGE_URL, _MODEL and, where set, _API_KEY; raises `UsageError`."""
        url, model, key = read_environment(os.environ if environ is None else environ)
        # No traceback from here on finds the key in this frame.
        del environ
        if missing := [name for name, text in ((URL_VARIABLE, url), (MODEL_VARIABLE, model)) if not text]:
            raise UsageError(f"no judge is configured: set {' and '.join(missing)}")
        return cls(
            url,
            model,
            api_key=key,
            temperature=temperature,
            timeout_s=timeout_s,
            insecure_http=insecure_http,
            redactor=redactor,
        )

    @property
    def description(self) -> str:
        """The model, and the endpoint's URL without its query."""
        return f"{self.model} at {show_url(self.url)}"

    async def __aenter__(self) -> Self:
        """Open the HTTP client. Raises `UsageError` for a proxy in the environment that cannot be used."""
        self._client = self._client or self._open()
        self._entered += 1
        return self

    async def __aexit__(self, *raised: object) -> None:
        """Close the client and every connection, once all who entered have left."""
        self._entered -= 1
        if self._client and not self._entered:
            client, self._client = self._client, None
            await client.aclose()

    async def grade(self, *, rubric: str, request: str, reply: str) -> Verdict:
        """Return the verdict on a reply; see `JudgeError` for what it raises."""
        messages = build_messages(rubric, request, reply, new_nonce(rubric, request, reply))
        verdict = self._read(await self._ask(messages))
        if isinstance(verdict, JudgeError):
            # Raised here, where no local holds what the far side said, which may be the key.
            raise verdict
        return verdict

    def _read(self, completion: Completion) -> Verdict | JudgeError:
        verdict = None if completion.was_cut else parse_verdict(completion.text)
        if verdict is None:
            text = self.redactor.scrub(completion.text)
            return unparseable(show_url(self.url), text, completion.usage, cut_off=completion.was_cut)
        return verdict.model_copy(update={"reason": self.redactor.scrub(verdict.reason), "usage": completion.usage})

    async def _ask(self, messages: list[dict[str, str]]) -> Completion:
        body: dict[str, Any] = {"model": self.model, "messages": messages}
        if self._temperature is not None:
            body["temperature"] = self._temperature
        request = Request(self.url, self._key, self._timeout_s, self.redactor.scrub)
        async with self._borrow_client() as client:
            attempt = await ask_with_patience(partial(request.send, client, body))
        if attempt.completion:
            return attempt.completion
        assert attempt.error  # noqa: S101 - one of both, always
        # Raised here, where no frame below holds a header or what the server sent.
        raise attempt.error.with_traceback(None)

    @asynccontextmanager
    async def _borrow_client(self) -> AsyncIterator[httpx.AsyncClient]:
        if self._client:
            yield self._client
        else:
            async with self._open() as client:
                yield client

    def _open(self) -> httpx.AsyncClient:
        proxy = find_proxy(self.url)
        if proxy:
            proxy.hide_from(self.redactor)
        headers = httpx.Headers({"User-Agent": USER_AGENT})
        headers.update(self._headers)
        return httpx.AsyncClient(
            transport=open_transport(self.url, proxy),
            headers=headers,
            # A cookie of one grading must not be sent in another, so none is kept.
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
            timeout=httpx.Timeout(None, connect=_CONNECT_S),
            follow_redirects=False,
            trust_env=False,
        )
