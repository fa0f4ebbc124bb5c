"""The number of authors of a paper from outside the population; they are never asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from pydantic import Field

from virsci_society.agents.config import Part
from virsci_society.agents.errors import InputError
from virsci_society.society.kernel.durations import Days, write_days
from virsci_society.society.literature.papers import DAYS_PER_YEAR, Papers

LEAST = 20
"""Past papers from which a number of external authors is drawn, if available."""
KEY = "population.external_authors"

Draw = Callable[[int, np.random.Generator], int]
"""Draws the number of external authors of a paper with a number of authors in the society, >= 1."""


class ExternalAuthors(Part):
    """A rule of external authors; subclass it and write ``counted_on``."""

    def counted_on(self, past: Papers, rows: Mapping[str, int]) -> Draw:
        """Make the draw for a society from its past papers and the rows of its people by name."""
        raise NotImplementedError


class CountedExternalAuthors(ExternalAuthors):
    """As many as on a past paper with equally many authors in the population."""

    since: Days | None = Field(default=5 * DAYS_PER_YEAR, gt=0)
    """Use papers of this period before day 0; null: all."""

    def counted_on(self, past: Papers, rows: Mapping[str, int]) -> Draw:
        """Draw the number of a past paper with as many authors in the population, or nearly."""
        authors = past.table["authors"].to_pylist()
        inside = np.array([sum(name in rows for name in named) for named in authors], dtype=int)
        outside = past.team_sizes - inside
        if not outside.any():
            raise InputError(
                f"{KEY}: every author of the past papers is in the population, so there are "
                "no external authors: leave it out, or build the ecosystem with a filter on "
                "people, such as --min-papers 5"
            )
        lately = past.dates >= (-np.inf if self.since is None else -self.since)
        inside, outside = inside[lately & (inside > 0)], outside[lately & (inside > 0)]
        if not outside.any():
            when = "" if self.since is None else f" of the last {write_days(self.since)}"
            raise InputError(
                f"{KEY}: no past paper{when} has both an author in the population and one outside "
                "it, so there is nothing to count: leave it out, give a longer since, or build the "
                "ecosystem with a filter on people that is not a time"
            )

        def draw(members: int, rng: np.random.Generator) -> int:
            off = np.abs(inside - members)
            least = min(LEAST, len(off))
            numbers = outside[off <= np.partition(off, least - 1)[least - 1]]
            return int(numbers[rng.integers(len(numbers))])

        return draw
