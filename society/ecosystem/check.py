"""Check: one question that an audit asks, and the answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

SHOWN = 3

State = Literal["passed", "leaked", "cannot be told"]


@dataclass(frozen=True)
class Check:
    """What an audit found out about one thing.

    Attributes:
        name: the thing.
        state: ``passed``; ``leaked``: it is not what papers before the boundary give; ``cannot
            be told``.
        told: what was compared, or why it cannot be told.
        examples: the first things that are wrong.
    """

    name: str
    state: State
    told: str
    examples: tuple[str, ...] = ()


def compared(name: str, told: str, wrong: Sequence[str]) -> Check:
    """Passed where nothing is wrong; otherwise leaked, with the first of what is."""
    if not wrong:
        return Check(name, "passed", told)
    return Check(name, "leaked", f"{len(wrong):,} wrong; {told}", tuple(wrong[:SHOWN]))


def untold(name: str, why: str) -> Check:
    """It cannot be told, and why."""
    return Check(name, "cannot be told", why)
