"""Base class of everything that a scenario file can name with ``use:``."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict


class Part(BaseModel):
    """Base of all components: immutable settings in which unknown keys are errors.

    Example:
        >>> class Coffee(vs.Part):
        ...     cups: int = 2
        >>> Coffee(cups=3)
        Coffee(cups=3)
        >>> Coffee(tea=1)
        Traceback (most recent call last):
            ...
        pydantic_core...ValidationError: 1 validation error for Coffee...
    """

    model_config = ConfigDict(
        extra="forbid", frozen=True, arbitrary_types_allowed=True, defer_build=True
    )


def _switch(value: Any) -> Any:
    if isinstance(value, bool):
        return "on" if value else "off"
    return value


Switch = Annotated[Literal["on", "off"], BeforeValidator(_switch)]
"""``on`` or ``off``; ``true`` and ``false`` are taken as well."""
