"""A suite as data: cases, what they share, and the deployment they are for."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from .case_checks import Text
from .cases import CaseDefaults, EvalCase
from .headers import check_headers
from .strict import Mistake, StrictModel
from .urls import parse_base_url

BaseUrl = Annotated[str, AfterValidator(parse_base_url), Field(json_schema_extra={"pattern": r"^\s*https?://|\$\{"})]


class TargetSettings(StrictModel):
    """A deployment: its base URL, the environment variable that holds its token, and headers to send."""

    url: BaseUrl | None = None
    """The base URL of the deployment; `--url` comes before it."""
    token_env: Text | None = None
    """The environment variable that holds the bearer token, never the token itself."""
    headers: Annotated[dict[str, str], AfterValidator(check_headers)] = Field(default_factory=dict)
    """Headers to send with every request."""


class Suite(StrictModel):
    """A suite file. `defaults` fill what a case does not say itself; a `name` is given by the file where absent."""

    name: Text = "suite"
    """What the suite is called in reports; by default as its file."""
    target: TargetSettings = TargetSettings()
    """The deployment that the suite is for."""
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
