"""Statistics over replicates, one door to ``metrics/inference``.

Replicates are the unit; papers or teams of one run are not independent of each other.
"""

from __future__ import annotations

from metrics.inference.comparisons import Comparison, holm, paired, welch
from metrics.inference.correlations import Correlation, pearson, prcc, spearman
from metrics.inference.effects import (
    cohen_d,
    d_interval,
    detectable_effect,
    detectable_paired,
    dz_interval,
    g_interval,
    hedges_g,
)
from metrics.inference.intervals import bca_interval, log_interval, t_interval
from metrics.inference.sample import SKETCH, Interval, skewness
from metrics.inference.shapes import Line, TwoLines, inverted_u
from metrics.inference.slopes import Slope, logistic

__all__ = [
    "SKETCH",
    "Comparison",
    "Correlation",
    "Interval",
    "Line",
    "Slope",
    "TwoLines",
    "bca_interval",
    "cohen_d",
    "d_interval",
    "detectable_effect",
    "detectable_paired",
    "dz_interval",
    "g_interval",
    "hedges_g",
    "holm",
    "inverted_u",
    "log_interval",
    "logistic",
    "paired",
    "pearson",
    "prcc",
    "skewness",
    "spearman",
    "t_interval",
    "welch",
]
