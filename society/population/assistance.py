"""Assistance by a machine, which speeds work up or finds other papers (Hao et al., Nature 2026)."""

from __future__ import annotations

from pydantic import Field

from virsci_society.agents.config import Part
from virsci_society.society.kernel.durations import Days, Factor
from virsci_society.society.kernel.streams import Streams


class Assistance(Part):
    """Use of an assisting machine."""

    who: float = Field(default=1.0, ge=0, le=1)
    """Share of scientists who eventually adopt it. Unit: probability."""
    start: Days = 0.0
    """Date of introduction."""
    spread: Days = 0.0
    """Mean adoption time (exponential), from introduction or arrival; 0: at once."""
    homework: Factor = 1.0
    """Factor on the homework of assisted scientists. Unit: factor."""
    papers_until: Days | None = None
    """Teams of assisted leaders find only papers before this date; null: all."""

    def taken_up(self, who: str, arrived: float, streams: Streams) -> float | None:
        """When somebody who arrived on a date takes it up; None: never."""
        rng = streams.stream("assistance", who)
        if not rng.random() < self.who:
            return None
        return max(self.start, arrived) + float(rng.exponential(self.spread))
