"""Ranks of known truths among draws from their posteriors (simulation-based calibration)."""

from __future__ import annotations

import numpy as np
import scipy

from virsci_society.agents.arrays import FloatArray


def weighted_rank(draws: FloatArray, weights: FloatArray, truth: FloatArray) -> FloatArray:
    """Share of the posterior's mass below the truth, for each parameter (0..1).

    Args:
        draws: (draws, parameters).
        weights: of the draws, summing to one.
        truth: of each parameter.
    """
    below = weights @ (draws < truth) + weights @ (draws == truth) / 2
    ranks: FloatArray = np.clip(below, 0.0, 1.0)
    return ranks


def uniformity(ranks: FloatArray) -> float:
    """Probability of ranks at least as far from uniform, by Kolmogorov and Smirnov.

    Small: the posterior is too narrow, too wide or shifted (Talts et al. 2018, arXiv 1804.06788).
    """
    if not len(ranks):
        return float("nan")
    return float(scipy.stats.kstest(ranks, "uniform").pvalue)


def coverage(ranks: FloatArray, level: float = 0.9) -> float:
    """Share of the truths that lie in the central interval of a level."""
    if not len(ranks):
        return float("nan")
    return float((np.abs(ranks - 0.5) <= level / 2).mean())
