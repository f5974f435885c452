"""A suite as data: cases, what they share, and the deployment they are for."""

from typing import Annotated

from pydantic import AfterValidator, Field, model_validator

from .case_checks import Text
from .cases import CaseDefaults, EvalCase
from .strict import StrictModel
from .urls import parse_base_url


class TargetSettings(StrictModel):
    """A deployment: its base URL, the environment variable that holds its token, and headers to send."""

    url: Annotated[str, AfterValidator(parse_base_url)] | None = None
    token_env: Text | None = None
    headers: dict[str, str] = Field(default_factory=dict)


class Suite(StrictModel):
    """A suite file. `defaults` fill what a case does not say itself; a `name` is given by the file where absent."""

    name: Text = "suite"
    target: TargetSettings = TargetSettings()
    defaults: CaseDefaults = CaseDefaults()
    cases: tuple[EvalCase, ...]

    @model_validator(mode="after")
    def _some_cases(self) -> "Suite":
        if not self.cases:
            raise ValueError("a suite without cases checks nothing")
        return self

    @property
    def complete_cases(self) -> tuple[EvalCase, ...]:
        """The cases with the defaults filled in."""
        return tuple(case.with_defaults(self.defaults) for case in self.cases)
