"""Which judge grades the rubrics of a suite: the suite says, or the environment."""

import os
from collections.abc import Callable

from .deployments import read_token_variable
from .judging import Judge, LLMJudge
from .judging._settings import URL_VARIABLE
from .redaction import Redactor
from .suites import JudgeSettings


def judge_builder(redactor: Redactor | None = None) -> Callable[[JudgeSettings | None], Judge | None]:
    """Return what makes the judge of a suite; suites of one judge share it.

    What the suite says comes before REMOTE_EVALS_JUDGE_URL, _MODEL and _API_KEY; where neither says anything there
    is none. Building raises `UsageError` for what is set in part, or cannot be used.
    """
    known = redactor or Redactor()
    judges: dict[JudgeSettings | None, Judge | None] = {}

    def build(settings: JudgeSettings | None) -> Judge | None:
        if settings not in judges:
            judges[settings] = _make(settings, known) if settings else _from_environment(known)
        return judges[settings]

    return build


def _make(settings: JudgeSettings, redactor: Redactor) -> Judge:
    key = read_token_variable(settings.api_key_env, "the suite's judge.api_key_env") if settings.api_key_env else None
    return LLMJudge(settings.url, settings.model, api_key=key, temperature=settings.temperature, redactor=redactor)


def _from_environment(redactor: Redactor) -> Judge | None:
    return LLMJudge.from_environment(redactor=redactor) if os.environ.get(URL_VARIABLE) else None
