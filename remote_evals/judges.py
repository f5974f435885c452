"""Which judge grades the rubrics of a suite: the suite says, or the environment."""

import os
from collections.abc import Callable

from .deployments import read_token_variable
from .judging import Judge, LLMJudge
from .judging._settings import URL_VARIABLE
from .redaction import Redactor, Secret
from .suites import JudgeSettings


def judge_builder(
    redactor: Redactor | None = None, *, insecure_http: bool = False
) -> Callable[[JudgeSettings | None], Judge | None]:
    """Return what makes the judge of a suite; suites of one judge share it.

    What the suite says comes before REMOTE_EVALS_JUDGE_URL, _MODEL and _API_KEY; where neither says anything there
    is none. `insecure_http` lets keys go over plain http to other machines. Building raises `UsageError` for what is
    set in part, or cannot be used.
    """
    known = redactor or Redactor()
    judges: dict[JudgeSettings | None, Judge | None] = {}

    def build(settings: JudgeSettings | None) -> Judge | None:
        if settings not in judges:
            judges[settings] = make(settings) if settings else make_from_environment()
        return judges[settings]

    def make(settings: JudgeSettings) -> Judge:
        return LLMJudge(
            settings.url,
            settings.model,
            api_key=_read_key(settings.api_key_env),
            temperature=settings.temperature,
            insecure_http=insecure_http,
            redactor=known,
        )

    def make_from_environment() -> Judge | None:
        if not os.environ.get(URL_VARIABLE):
            return None
        return LLMJudge.from_environment(insecure_http=insecure_http, redactor=known)

    return build


def _read_key(variable: str | None) -> Secret | None:
    return read_token_variable(variable, "the suite's judge.api_key_env") if variable else None
