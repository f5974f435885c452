"""The base of every result."""

from pydantic import BaseModel, ConfigDict


class Data(BaseModel):
    """An immutable record. JSON values stay `Any`, since a stream may hold lone surrogates, which pydantic rejects."""

    model_config = ConfigDict(frozen=True)
