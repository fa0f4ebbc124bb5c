"""Assistance by a machine, which speeds work up or finds other papers (Hao et al., Nature 2026)."""

from __future__ import annotations

from pydantic import Field

from virsci_society.agents.config import Part
from virsci_society.society.kernel.durations import Days, Factor
from virsci_society.society.kernel.streams import Streams


class Assistance(Part):
    """Who is assisted by a machine, and how."""

    who: float = Field(default=1.0, ge=0, le=1)
    """Share of the scientists who take it up at last. Unit: probability. Source: assumed."""
    start: Days = 0.0
    """From when on it is there. Unit: days. Source: assumed."""
    spread: Days = 0.0
    """Mean time until one of them takes it up, from the start or from its own arrival if that is
    later; the time is exponential. 0: at once. Unit: days. Source: assumed."""
    homework: Factor = 1.0
    """Factor on the homework of who is assisted; 0.5 is half the time. Unit: factor. Source:
    off."""
    papers_until: Days | None = None
    """Teams whose leader is assisted find only papers from before this date: what the machine has
    learnt. null: all that are there. Unit: days. Source: off."""

    def taken_up(self, who: str, arrived: float, streams: Streams) -> float | None:
        """When somebody who arrived on a date takes it up; None: never."""
        rng = streams.stream("assistance", who)
        if not rng.random() < self.who:
            return None
        return max(self.start, arrived) + float(rng.exponential(self.spread))
