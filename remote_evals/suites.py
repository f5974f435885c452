"""A suite as data: cases, what they share, and the deployment they are for."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from .cases import CaseDefaults, EvalCase
from .core.urls import parse_base_url
from .expectations import Text, Texts
from .redaction.credentials import check_headers
from .repeats import find_repeat_mistake
from .strict import Mistake, StrictModel

BaseUrl = Annotated[str, AfterValidator(parse_base_url), Field(json_schema_extra={"pattern": r"^\s*https?://|\$\{"})]


class TargetSettings(StrictModel):
    """A deployment: its base URL, the environment variable that holds its token, and headers to send."""

    url: BaseUrl | None = None
    """The base URL of the deployment; `--url` comes before it."""
    token_env: Text | None = None
    """The environment variable that holds the bearer token, never the token itself."""
    headers: Annotated[dict[str, str], AfterValidator(check_headers)] = Field(default_factory=dict, repr=False)
    """Headers to send with every request."""
    secret_headers: Texts = ()
    """The names of those headers whose values are secret: they are never shown, as the token."""


class JudgeSettings(StrictModel):
    """A judge: any OpenAI-compatible chat-completions endpoint, its model, and the variable that holds its key."""

    url: BaseUrl
    """The base URL of the endpoint, with or without /v1."""
    model: Text
    """The model that grades."""
    api_key_env: Text | None = None
    """The environment variable that holds the API key, never the key itself."""
    temperature: Annotated[float, Field(ge=0, le=2)] | None = 0.0
    """The sampling temperature; null sends none, for models that refuse it."""


class Suite(StrictModel):
    """A suite file. `defaults` fill what a case does not say itself; a `name` is given by the file where absent."""

    name: Text = "suite"
    """What the suite is called in reports; by default as its file."""
    target: TargetSettings = TargetSettings()
    """The deployment that the suite is for."""
    judge: JudgeSettings | None = None
    """The judge of the suite's rubrics; without it REMOTE_EVALS_JUDGE_URL and REMOTE_EVALS_JUDGE_MODEL say who."""
    defaults: CaseDefaults = CaseDefaults()
    """What all cases share; what a case says itself comes first."""
    cases: tuple[EvalCase, ...]
    """The cases, in the order in which they are reported."""

    @classmethod
    def find_mistakes(cls, data: Mapping[str, Any]) -> Iterator[Mistake]:
        """Yield that there are no cases, and each case whose name another has."""
        cases = data.get("cases")
        if cases in ([], ()):
            yield ("cases",), "a suite without cases checks nothing"
        first: dict[str, int] = {}
        for index, case in enumerate(cases if isinstance(cases, list | tuple) else ()):
            if isinstance(case, Mapping) and (wrong := _repeat_mistake(case, data.get("defaults"))):
                yield ("cases", index), wrong
            name = _name_of(case)
            if name in first:
                yield ("cases", index), f"the name {name!r} is already that of cases[{first[name]}]"
            elif name is not None:
                first[name] = index

    @property
    def complete_cases(self) -> tuple[EvalCase, ...]:
        """The cases with the defaults filled in."""
        return tuple(case.with_defaults(self.defaults) for case in self.cases)


def _name_of(case: object) -> str | None:
    """Return the name of a case that may not have been validated."""
    if isinstance(case, EvalCase):
        return case.name
    name = case.get("name", case.get("id")) if isinstance(case, Mapping) else None
    return name if isinstance(name, str) else None


def _repeat_mistake(case: Mapping[str, Any], defaults: object) -> str | None:
    """Return what is wrong with the numbers of runs of a case that may not have been validated."""
    known = defaults if isinstance(defaults, Mapping) else {}
    repeat, pass_at = (case.get(key, known.get(key)) for key in ("repeat", "pass_at"))
    if not isinstance(pass_at, int) or not (repeat is None or isinstance(repeat, int)):
        return None
    return find_repeat_mistake(repeat, pass_at)
