"""Part: anything a scenario file can name with ``use:``.

A part is a frozen pydantic model whose fields are its settings, so the same class is the
schema of its section in a scenario file, the validator of its values and the object at work.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict


class Part(BaseModel):
    """Base of every exchangeable piece; unknown keys are errors, instances never change."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)


def _switch(value: Any) -> Any:
    if isinstance(value, bool):
        return "on" if value else "off"
    return value


Switch = Annotated[Literal["on", "off"], BeforeValidator(_switch)]
"""``on`` or ``off``; ``true`` and ``false`` are taken as well."""
