"""What the server answers, as data: the models of a script file."""

import re
from itertools import chain
from pathlib import Path
from typing import Literal, Self

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError, model_validator

from fake_server._problems import ScriptError, describe_errors, read_document
from fake_server._values import BasePath, Duration, Json, JsonObject, RawEvent, Text
from fake_server.faults import Faults
from fake_server.health import HealthAnswers
from fake_server.judge import JudgeScript


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    def says(self, key: str) -> bool:
        """Tell whether the script gives `key`, be it as null."""
        return key in self.model_fields_set


class Usage(_Part):
    """Tokens and cost; a cost that is not given is unknown, not zero."""

    input: int = Field(default=0, ge=0)
    output: int = Field(default=0, ge=0)
    cost_usd: float | None = Field(default=None, ge=0)
    estimated: bool = False


class RunUsage(Usage):
    """The usage of a whole run; `model_calls` defaults to its number of steps."""

    model_calls: int | None = Field(default=None, ge=0)


class Failure(_Part):
    """An error as the wire names it."""

    name: Text = "Error"
    message: Text = ""
    code: Text | None = None


class Question(_Part):
    """What a tool call asks the user."""

    text: Text
    options: list[Text] | None = None
    allow_free_text: bool | None = Field(
        default=None, validation_alias=AliasChoices("allow_free_text", "allowFreeText")
    )


class Tool(_Part):
    """One tool call and its outcome; `approval` or `question` pauses the run before it."""

    name: Text
    args: JsonObject = {}
    result: Json = None
    error: Failure | None = None
    duration: Duration = 0.0
    approval: bool = False
    question: Question | None = None
    subagent: "SubAgent | None" = None

    @property
    def is_gated(self) -> bool:
        """Whether the run pauses before this call."""
        return self.approval or self.question is not None

    @model_validator(mode="after")
    def _has_one_outcome(self) -> Self:
        for one, other in (("result", "error"), ("approval", "question"), ("question", "subagent")):
            if getattr(self, one) and getattr(self, other):
                raise ValueError(f"a tool call has either {one!r} or {other!r}, not both")
        return self


class Step(_Part):
    """One model call: reasoning, then text, then tool calls that run in parallel, or an error."""

    reasoning: Text | None = None
    text: Text = ""
    tools: list[Tool] = []
    error: Failure | None = None
    finish_reason: Text | None = None
    usage: Usage | None = None


class _Answer(_Part):
    text: Text | None = None
    steps: list[Step] = []
    error: Failure | None = None

    def all_steps(self) -> list[Step]:
        """Return the steps, the one that `text` and `error` are short for included."""
        if self.steps and self.text is None and self.error is None:
            return self.steps
        return [*self.steps, Step(text=self.text or "", error=self.error)]


class SubAgent(_Answer):
    """The agent a tool call delegates to."""

    name: Text
    description: Text | None = None

    def can_pause(self) -> bool:
        """Tell whether a call of this agent, or of one it delegates to, pauses the run."""
        tools = chain.from_iterable(step.tools for step in self.steps)
        return any(tool.is_gated or (tool.subagent and tool.subagent.can_pause()) for tool in tools)


class When(_Part):
    """Which turns a reply answers: all that is given must hold."""

    input: Text | None = None
    matches: re.Pattern[str] | None = None
    turn: int | None = Field(default=None, ge=1)


class Reply(_Answer):
    """The answer to a turn; steps after one that pauses the run are its continuation."""

    when: When = When()
    events: list[RawEvent] = []
    usage: RunUsage | None = None
    finish_reason: Text = "stop"
    object: Json = None
    delay: Duration = 0.0
    delta: Literal["word", "char", "whole"] = "word"
    fault: Faults = []


class Script(_Part):
    """Everything a fake deployment answers."""

    agent: Text = "agent"
    token: Text | None = None
    base_path: BasePath = ""
    health: HealthAnswers = []
    fault: Faults = []
    replies: list[Reply] = Field(min_length=1)
    judge: JudgeScript | None = None


def parse_script(text: str, name: str = "script") -> Script:
    """Return the script in `text`; every mistake in it is one line of the `ScriptError`, under `name`."""
    document = read_document(text, name)
    try:
        return Script.model_validate(document.data)
    except ValidationError as error:
        raise ScriptError(describe_errors(error, document, name, Script)) from None


def load_script(path: str | Path) -> Script:
    """Return the script in the file at `path`, or raise `ScriptError`."""
    try:
        return parse_script(Path(path).read_text("utf-8"), str(path))
    except OSError as error:
        raise ScriptError([f"{path}: cannot be read: {error.strerror}"]) from error
    except UnicodeDecodeError as error:
        raise ScriptError([f"{path}: is not UTF-8 text: {error.reason} at byte {error.start}"]) from error
