"""What every result is."""

from pydantic import BaseModel, ConfigDict


class Data(BaseModel):
    """An immutable record. JSON values in it stay `Any`: the wire may hold lone surrogates, which pydantic refuses."""

    model_config = ConfigDict(frozen=True)
