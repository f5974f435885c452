"""What the server answers, as data: the models of a script file, and how one is loaded.

reference.yaml explains every key.
"""

import re
from collections.abc import Mapping
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import AliasChoices, BaseModel, BeforeValidator, Field, ValidationError, model_validator

from fake_server.faults import BodyFaults, Faults
from fake_server.fields import BasePath, Duration, Json, JsonObject, Part, RawEvent, Text, as_list
from fake_server.script_errors import ScriptError, describe_errors, read_document

T = TypeVar("T")


def load_script(path: str | Path) -> "Script":
    """Return the script in the file at `path`, or raise `ScriptError`."""
    try:
        return parse_script(Path(path).read_text("utf-8"), str(path))
    except OSError as error:
        raise ScriptError([f"{path}: cannot be read: {error.strerror}"]) from error
    except UnicodeDecodeError as error:
        raise ScriptError([f"{path}: is not UTF-8 text: {error.reason} at byte {error.start}"]) from error


def parse_script(text: str, name: str = "script") -> "Script":
    """Return the script in `text`, or raise `ScriptError` with one line per problem, each beginning with `name`."""
    document = read_document(text, name)
    try:
        return Script.model_validate(document.data)
    except ValidationError as error:
        raise ScriptError(describe_errors(error, document, name, Script)) from None


def fill_placeholders(value: T, words: Mapping[str, str]) -> T:
    """Return `value` with `{{name}}` replaced in all its strings; unknown names stay as they are."""
    filled: Any = value
    if isinstance(value, str):
        filled = re.sub(r"\{\{\s*(\w+)\s*\}\}", lambda match: words.get(match[1], match[0]), value)
    elif isinstance(value, list):
        filled = [fill_placeholders(item, words) for item in value]
    elif isinstance(value, dict):
        filled = {key: fill_placeholders(item, words) for key, item in value.items()}
    elif isinstance(value, BaseModel):
        # only the keys that the script gives, so that `gives` stays right
        given = {key: fill_placeholders(getattr(value, key), words) for key in value.model_fields_set}
        filled = value.model_copy(update=given)
    return filled  # type: ignore[no-any-return]


class Usage(Part):
    """Tokens and cost; a cost that is not given is unknown, not zero."""

    input: int = Field(default=0, ge=0)
    output: int = Field(default=0, ge=0)
    cost_usd: float | None = Field(default=None, ge=0)


class StepUsage(Usage):
    """The usage of one step."""

    estimated: bool = False


class RunUsage(StepUsage):
    """The usage of a whole run; `model_calls` defaults to the number of its steps."""

    model_calls: int | None = Field(default=None, ge=0)


class Failure(Part):
    """An error as the wire names it."""

    name: Text = "Error"
    message: Text = ""
    code: Text | None = None


class Question(Part):
    """What a tool call asks the user."""

    text: Text
    options: list[Text] | None = None
    allow_free_text: bool | None = Field(
        default=None, validation_alias=AliasChoices("allow_free_text", "allowFreeText")
    )


class SignIn(Part):
    """A sign-in that a tool call needs; the first `too_early` decisions come before it."""

    provider: Text
    url: Text
    too_early: int = Field(default=0, ge=0)


class Tool(Part):
    """One tool call and its outcome; `approval`, `question` or `sign_in` pauses the run before it."""

    name: Text
    args: JsonObject = Field(default_factory=dict)
    result: Json = None
    error: Failure | None = None
    duration: Duration = 0.0
    approval: bool = False
    expires: Duration | None = None
    question: Question | None = None
    sign_in: SignIn | None = None
    subagent: "SubAgent | None" = None

    @property
    def is_gated(self) -> bool:
        """Whether the run pauses before this call."""
        return self.approval or self.question is not None or self.sign_in is not None

    @property
    def can_pause(self) -> bool:
        """Whether the run pauses before this call or inside the sub-agent that it delegates to."""
        return self.is_gated or (self.subagent is not None and self.subagent.can_pause)

    @model_validator(mode="after")
    def _has_one_outcome(self) -> Self:
        ways_to_pause = (("approval", "question"), ("approval", "sign_in"), ("question", "sign_in"))
        for one, other in (("result", "error"), *ways_to_pause, ("question", "subagent")):
            if getattr(self, one) and getattr(self, other):
                raise ValueError(f"a tool call has either {one!r} or {other!r}, not both")
        return self


class Step(Part):
    """One model call: reasoning, then text, then tool calls that run in parallel, or an error."""

    reasoning: Text | None = None
    text: Text = ""
    tools: list[Tool] = Field(default_factory=list)
    error: Failure | None = None
    finish_reason: Text | None = None
    usage: StepUsage | None = None


class Answer(Part):
    """The steps of an agent; `text` and `error` are short for one more step."""

    text: Text | None = None
    steps: list[Step] = Field(default_factory=list)
    error: Failure | None = None

    def all_steps(self) -> list[Step]:
        """Return the steps, including the one that `text` and `error` are short for."""
        if self.steps and self.text is None and self.error is None:
            return self.steps
        return [*self.steps, Step(text=self.text or "", error=self.error)]


class SubAgent(Answer):
    """The agent that a tool call delegates to."""

    name: Text
    description: Text | None = None

    @property
    def can_pause(self) -> bool:
        """Whether a call of this agent, or of one that it delegates to, pauses the run."""
        return any(tool.can_pause for tool in chain.from_iterable(step.tools for step in self.steps))


class TextCondition(Part):
    """Which texts a reply answers; both conditions must hold."""

    input: Text | None = None
    matches: re.Pattern[str] | None = None

    def holds(self, text: str) -> bool:
        """Return whether a reply answers `text`."""
        return (self.input is None or self.input.casefold() in text.casefold()) and (
            self.matches is None or self.matches.search(text) is not None
        )


class TurnCondition(TextCondition):
    """Which turns a reply answers; all conditions must hold."""

    turn: int | None = Field(default=None, ge=1)

    def holds_in_turn(self, text: str, turn: int) -> bool:
        """Return whether a reply answers `text` in the turn of this number."""
        return self.holds(text) and self.turn in (None, turn)


class Reply(Answer):
    """The answer to a turn; steps after one that pauses the run are its continuation."""

    when: TurnCondition = TurnCondition()
    events: list[RawEvent] = Field(default_factory=list)
    usage: RunUsage | None = None
    finish_reason: Text = "stop"
    object: Json = None
    delay: Duration = 0.0
    delta: Literal["word", "char", "whole"] = "word"
    pauses: Literal["one-by-one", "together", "together-repeated"] = "one-by-one"
    fault: Faults = Field(default_factory=list)


class JudgeReply(Part):
    """A completion of the judge: a verdict as JSON, or any other content."""

    when: TextCondition = TextCondition()
    verdict: JsonObject | None = None
    content: Json = None
    finish_reason: Text = "stop"
    usage: Usage | None = Usage(input=100, output=20)
    delay: Duration = 0.0
    fault: BodyFaults = Field(default_factory=list)

    @model_validator(mode="after")
    def _has_one_content(self) -> Self:
        if (self.verdict is None) == (not self.gives("content")):
            raise ValueError("a judge reply needs either 'verdict' or 'content', not both")
        return self


class JudgeScript(Part):
    """A judge at `POST /v1/chat/completions`, with an API key of its own."""

    api_key: Text | None = None
    fault: BodyFaults = Field(default_factory=list)
    replies: list[JudgeReply] = Field(min_length=1)


class HealthAnswer(Part):
    """`ok` with `headers`, unless a fault strikes; used for `times` requests, or for all of them."""

    headers: dict[str, Text] = Field(default_factory=dict)
    fault: BodyFaults = Field(default_factory=list)
    times: int | None = Field(default=None, ge=1)


class Script(Part):
    """Everything that a fake deployment answers."""

    agent: Text = "agent"
    token: Text | None = None
    base_path: BasePath = ""
    when_client_leaves: Literal["go-on", "abort"] = "go-on"
    health: Annotated[list[HealthAnswer], BeforeValidator(as_list)] = Field(default_factory=list)
    fault: Faults = Field(default_factory=list)
    replies: list[Reply] = Field(min_length=1)
    judge: JudgeScript | None = None
