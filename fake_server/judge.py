"""What a scripted judge answers, as data: the `judge` key of a script."""

import re
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from fake_server._values import Duration, Json, JsonObject, Text
from fake_server.faults import BodyFaults


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class JudgeUsage(_Part):
    """Tokens and cost of one completion; a cost that is not given is left out."""

    input: int = Field(default=0, ge=0)
    output: int = Field(default=0, ge=0)
    cost_usd: float | None = Field(default=None, ge=0)


class JudgeWhen(_Part):
    """Which requests an answer is for, by their last user message: all that is given must hold."""

    input: Text | None = None
    matches: re.Pattern[str] | None = None

    def holds(self, text: str) -> bool:
        """Tell whether the last user message is one of those."""
        return (self.input is None or self.input.casefold() in text.casefold()) and (
            self.matches is None or self.matches.search(text) is not None
        )


class JudgeReply(_Part):
    """A completion: a verdict as JSON, or any other content."""

    when: JudgeWhen = JudgeWhen()
    verdict: JsonObject | None = None
    content: Json = None
    finish_reason: Text = "stop"
    usage: JudgeUsage | None = JudgeUsage(input=100, output=20)
    delay: Duration = 0.0
    fault: BodyFaults = []

    @model_validator(mode="after")
    def _has_one_content(self) -> Self:
        if (self.verdict is None) == ("content" not in self.model_fields_set):
            raise ValueError("an answer of the judge has either 'verdict' or 'content'")
        return self


class JudgeScript(_Part):
    """A judge at `POST /v1/chat/completions`, with a key of its own."""

    api_key: Text | None = None
    fault: BodyFaults = []
    replies: list[JudgeReply] = Field(min_length=1)
