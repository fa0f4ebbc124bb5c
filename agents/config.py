"""Base class of everything that a scenario file can name with ``use:``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict


class Part(BaseModel):
    """Base of every exchangeable piece; unknown keys are errors, instances never change.

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

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)


def nest_inlined_keys(cls: type[BaseModel], given: Any) -> Any:
    """Move keys that are no fields of a part below the field that its class names ``inlined``."""
    if not isinstance(given, Mapping):
        return given
    inlined: str = cls.inlined  # type: ignore[attr-defined]
    own = {key: value for key, value in given.items() if key in cls.model_fields}
    beside = {key: value for key, value in given.items() if key not in own}
    return {**own, inlined: beside} if beside and inlined not in own else given


def _switch(value: Any) -> Any:
    if isinstance(value, bool):
        return "on" if value else "off"
    return value


Switch = Annotated[Literal["on", "off"], BeforeValidator(_switch)]
"""``on`` or ``off``; ``true`` and ``false`` are taken as well."""
