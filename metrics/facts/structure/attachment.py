"""Who finds new co-authors."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy import optimize, special

from virsci_society.agents.arrays import FloatArray
from virsci_society.metrics.facts.fact import Fact
from virsci_society.metrics.facts.tables import FactTables


class Attachment(Fact):
    """Who has many co-authors finds new ones, in proportion to their number."""

    source = (
        "Newman 2001, Physical Review E 64, 025102; Jeong, Neda and Barabasi 2003, Europhysics "
        "Letters 61, 567-572"
    )
    published, low, high = 0.9, 0.75, 1.1
    population = (
        "exponents .79 (neuroscience), .89 (physics) and 1.04 (biomedicine), 1991-99; the ends "
        "with their errors"
    )
    null = "random authors"
    least_years = 5

    def measure(self, tables: FactTables) -> float:
        """Exponent b of the rate k^b of new co-authors with the number k of co-authors before.

        By maximum likelihood, over the ends of new ties of each year at people with a tie before.
        """
        ties, events = tables.ties, []
        degree = np.zeros(tables.works.people)
        for year in range(tables.years):
            new = ties.first == year
            ends = np.concatenate([ties.one[new], ties.other[new]])
            known = np.log(degree[degree > 0])
            chosen = np.log(degree[ends][degree[ends] > 0])
            if len(known) > 1 and len(chosen):
                events.append((chosen, known))
            np.add.at(degree, ends, 1.0)
        return choice_exponent(events)


def choice_exponent(events: Sequence[tuple[FloatArray, FloatArray]]) -> float:
    """Exponent b of the chance k^b to be chosen, by maximum likelihood; NaN without an event.

    Args:
        events: logarithms of k: of those chosen together, and of all who could have been.
    """

    def loss(exponent: float) -> float:
        return -sum(
            float(exponent * chosen.sum() - len(chosen) * special.logsumexp(exponent * known))
            for chosen, known in events
        )

    if not events:
        return math.nan
    return float(optimize.minimize_scalar(loss, (-1, 3), method="brent").x)
