"""Agreement of human raters, and correlations of ratings with measures and reviews.

Ratings are numbers from 1 to 10 (Si et al. 2024: novelty, feasibility, effectiveness). A rater's
bias is not corrected: the ratings are averaged as they were given.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from virsci_society.agents.arrays import FloatArray
from virsci_society.metrics.inference.correlations import (
    Level,
    krippendorff_alpha,
    pearson,
    spearman,
)
from virsci_society.metrics.novelty.novelty import COLUMNS, run_novelty
from virsci_society.society.results.run import Run

DIMENSIONS = ("novelty", "feasibility", "effectiveness")
RESAMPLES = 2000
MIN_ABSTRACTS = 3
"""Fewer abstracts than this are not correlated."""


@dataclass(frozen=True)
class RaterAgreement:
    """Agreement between raters.

    Attributes:
        alpha: 1 is perfect, 0 what chance gives, less than 0 systematic disagreement; NaN where
            nothing varies, or no abstract was rated twice.
        low: lower end of the 95 % interval.
        high: upper end.
        items: abstracts that at least two raters have rated.
        raters: raters of those.
    """

    alpha: float
    low: float
    high: float
    items: int
    raters: int


def rater_agreement(
    ratings: FloatArray, level: Level = "interval", seed: int = 0
) -> RaterAgreement:
    """Alpha with an interval: the percentile bootstrap over abstracts, seeded.

    Args:
        ratings: raters x abstracts, NaN where a rater has not rated.
        level: how differences count.
        seed: of the resamples.
    """
    table = np.asarray(ratings, dtype=np.float64)
    estimate = krippendorff_alpha(table, level)
    shared = table[:, (~np.isnan(table)).sum(axis=0) > 1]
    items, raters = shared.shape[1], int((~np.isnan(shared)).any(axis=1).sum())
    rng = np.random.default_rng([seed, items])
    draws = rng.integers(0, max(items, 1), (RESAMPLES if items > 1 else 0, items))
    resampled = np.array([krippendorff_alpha(shared[:, draw], level) for draw in draws])
    resampled = resampled[~np.isnan(resampled)]
    low, high = np.quantile(resampled, (0.025, 0.975)) if len(resampled) else (np.nan, np.nan)
    return RaterAgreement(estimate, float(low), float(high), items, raters)


def agreement_table(ratings: pd.DataFrame, seed: int = 0) -> pd.DataFrame:
    """Agreement of every dimension, as ordinal and as interval numbers.

    Args:
        ratings: one row per rating: ``item``, ``rater``, ``dimension``, ``score``.
        seed: of the intervals.
    """
    rows = []
    for dimension, given in ratings.groupby("dimension", sort=False):
        table = given.pivot_table("score", "rater", "item").to_numpy(dtype=np.float64)
        for level in ("ordinal", "interval"):
            one = rater_agreement(table, level, seed)
            row = (dimension, level, one.alpha, one.low, one.high, one.items, one.raters)
            rows.append(row)
    columns = ["dimension", "level", "alpha", "low", "high", "abstracts", "raters"]
    return pd.DataFrame(rows, columns=columns)


def read_novelty(run: Run) -> pd.DataFrame:
    """``paper``, ``HD``, ``CD``, ``CI`` and ``ON`` of a run, as it was written with it."""
    return run_novelty(run)[["paper", *COLUMNS]]


def correlation_table(
    measured: pd.DataFrame, scored: pd.DataFrame, parts: Sequence[str] = ("ON",)
) -> pd.DataFrame:
    """Pearson's and Spearman's correlation of measures with ratings or reviews, over abstracts.

    VirSci gives Pearson's between ON and human ratings (0.52) and model ratings (0.57), n = 200.

    Args:
        measured: ``paper`` and the measures.
        scored: rows of ``paper``, ``rating`` (whose score of what) and ``score``; several scores
            of one paper are averaged.
        parts: measures to correlate.

    Returns:
        ``measure``, ``rating``, ``n``, ``pearson``, ``pearson_low``, ``pearson_high``,
        ``spearman``, ``spearman_low``, ``spearman_high``; no row for fewer than three abstracts.
    """
    rows = []
    for rating, given in scored.dropna(subset=["score"]).groupby("rating", sort=False):
        means = given.groupby("paper")["score"].mean().astype("float64")
        for part in parts:
            values = measured.set_index("paper")[part].dropna().astype("float64")
            pairs = pd.concat([values, means], axis=1, join="inner").to_numpy(dtype=np.float64)
            if len(pairs) < MIN_ABSTRACTS:
                continue
            x, y = pairs[:, 0], pairs[:, 1]
            p, s = pearson(x, y), spearman(x, y)
            rows.append((part, rating, p.n, p.r, p.low, p.high, s.r, s.low, s.high))
    names = ["measure", "rating", "n", "pearson", "pearson_low", "pearson_high"]
    names += ["spearman", "spearman_low", "spearman_high"]
    return pd.DataFrame(rows, columns=names)


def preference_table(choices: pd.DataFrame) -> pd.DataFrame:
    """How often one arm is preferred to another, with the exact interval and binomial test.

    Ties count for neither side (Chen et al. 2025: 87.5 % of 40 pairs, p < 0.01).

    Args:
        choices: one row per answer: ``preferred`` and ``other`` (arms), ``tie`` (boolean).

    Returns:
        ``arm``, ``other``, ``n`` (without ties), ``ties``, ``preferred`` (share), ``low``,
        ``high`` (Clopper and Pearson 1934), ``p`` (two-sided, against one half).
    """
    from scipy.stats import binomtest

    sides = np.sort(choices[["preferred", "other"]].astype(str).to_numpy(), axis=1)
    rows = []
    for first, second in sorted({(a, b) for a, b in sides.tolist()}):
        these = choices[(sides == (first, second)).all(axis=1)]
        decided = these[~these["tie"].astype(bool)]
        wins, n = int((decided["preferred"] == first).sum()), len(decided)
        test = binomtest(wins, n) if n else None
        low, high = test.proportion_ci() if test else (np.nan, np.nan)
        share = wins / n if n else np.nan
        p = float(test.pvalue) if test else np.nan
        rows.append((first, second, n, len(these) - n, share, float(low), float(high), p))
    names = ["arm", "other", "n", "ties", "preferred", "low", "high", "p"]
    return pd.DataFrame(rows, columns=names)
