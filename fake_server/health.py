"""What a deployment says of its health, as data: the `health` key of a script."""

from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from fake_server._values import Text
from fake_server.faults import BodyFaults


class HealthAnswer(BaseModel):
    """`ok` and the `headers` with it, unless a fault strikes; good for that many requests, or for all."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    headers: dict[str, Text] = {}
    fault: BodyFaults = []
    times: int | None = Field(default=None, ge=1)


def _as_list(value: object) -> object:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


HealthAnswers = Annotated[list[HealthAnswer], BeforeValidator(_as_list)]
