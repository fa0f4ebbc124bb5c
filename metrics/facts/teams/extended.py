"""Core teams and extended ones."""

from __future__ import annotations

import math

import numpy as np
from scipy import optimize, special

from virsci_society.agents.arrays import FloatArray
from virsci_society.metrics.facts.fact import Fact
from virsci_society.metrics.facts.tables import FactTables


class ExtendedTeams(Fact):
    """Beside core teams, whose sizes are Poisson, there are extended ones with a long tail."""

    source = "Milojevic 2014, PNAS 111, 3984-3989"
    published, low, high = 0.31, 0.1, 0.45
    population = "astronomy 2006-10: core 57 %, core+1 12 %, extended 31 %; ends judged"
    null = "random sizes"
    least_years = 2

    def measure(self, tables: FactTables) -> float:
        """Share of extended teams, 0..1, of a mixture of two laws by maximum likelihood.

        Core teams are Poisson without zero, extended ones follow a power law from the median on, or
        from one author more or less.
        """
        sizes, counts = np.unique(tables.works.sizes, return_counts=True)
        if len(sizes) < 3:
            return math.nan
        middle = int(np.median(tables.works.sizes))
        mean = float(tables.works.sizes.mean())
        # Bounded on the logit and log scales; two starts, since the likelihood may have two tops.
        found = [
            optimize.minimize(
                _loss,
                (math.log(mean), tail, share),
                args=(sizes.astype(np.float64), counts.astype(np.float64), start),
                method="Nelder-Mead",
            )
            for start in range(max(2, middle - 1), middle + 2)
            for tail, share in ((0.2, -0.5), (1.0, -4.0))
        ]
        return float(special.expit(min(found, key=lambda one: float(one.fun)).x[2]))


def _loss(given: FloatArray, sizes: FloatArray, counts: FloatArray, start: int) -> float:
    """Minus the log likelihood at log mean, log(exponent - 1) and logit of the share."""
    log_mean, tail, share = np.clip(given, (-3, -3, -12), (5, 3, 12))
    mean, exponent, weight = math.exp(log_mean), 1 + math.exp(tail), special.expit(share)
    core = sizes * log_mean - mean - special.gammaln(sizes + 1) - math.log(-math.expm1(-mean))
    long = np.where(sizes >= start, sizes**-exponent / special.zeta(exponent, start), 0.0)
    return -float(counts @ np.log((1 - weight) * np.exp(core) + weight * long + 1e-300))
