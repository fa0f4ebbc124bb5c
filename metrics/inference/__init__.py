"""Statistical intervals, tests, effect sizes and correlations over replicates.

Replicates are the unit; papers or teams of one run are not independent of each other. Read
``sample`` first (what goes in, what comes out), then ``intervals``, ``comparisons``, ``effects``,
``correlations``, ``rank_trend`` (within seeds and settings), ``factorial`` (effects of a grid),
``two_lines``, ``logistic``; ``coverage`` says how often the intervals hold.
"""

from typing import TYPE_CHECKING

from agents.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from metrics.inference.comparisons import ArmDifference as ArmDifference
    from metrics.inference.comparisons import holm as holm
    from metrics.inference.comparisons import paired as paired
    from metrics.inference.comparisons import welch as welch
    from metrics.inference.correlations import Correlation as Correlation
    from metrics.inference.correlations import pearson as pearson
    from metrics.inference.correlations import prcc as prcc
    from metrics.inference.correlations import spearman as spearman
    from metrics.inference.effects import cohen_d as cohen_d
    from metrics.inference.effects import d_interval as d_interval
    from metrics.inference.effects import detectable_effect as detectable_effect
    from metrics.inference.effects import detectable_paired as detectable_paired
    from metrics.inference.effects import dz_interval as dz_interval
    from metrics.inference.effects import g_interval as g_interval
    from metrics.inference.effects import hedges_g as hedges_g
    from metrics.inference.intervals import bca_interval as bca_interval
    from metrics.inference.intervals import log_interval as log_interval
    from metrics.inference.intervals import t_interval as t_interval
    from metrics.inference.logistic import LogisticSlope as LogisticSlope
    from metrics.inference.logistic import logistic_regression as logistic_regression
    from metrics.inference.sample import MIN_REPLICATES as MIN_REPLICATES
    from metrics.inference.sample import Interval as Interval
    from metrics.inference.sample import skewness as skewness
    from metrics.inference.two_lines import FittedLine as FittedLine
    from metrics.inference.two_lines import TwoLines as TwoLines
    from metrics.inference.two_lines import inverted_u as inverted_u

__all__ = [
    "MIN_REPLICATES",
    "ArmDifference",
    "Correlation",
    "FittedLine",
    "Interval",
    "LogisticSlope",
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
    "logistic_regression",
    "paired",
    "pearson",
    "prcc",
    "skewness",
    "spearman",
    "t_interval",
    "welch",
]
__getattr__ = lazy_exports(
    __name__,
    {
        "ArmDifference": "metrics.inference.comparisons",
        "Correlation": "metrics.inference.correlations",
        "FittedLine": "metrics.inference.two_lines",
        "Interval": "metrics.inference.sample",
        "LogisticSlope": "metrics.inference.logistic",
        "MIN_REPLICATES": "metrics.inference.sample",
        "TwoLines": "metrics.inference.two_lines",
        "bca_interval": "metrics.inference.intervals",
        "cohen_d": "metrics.inference.effects",
        "d_interval": "metrics.inference.effects",
        "detectable_effect": "metrics.inference.effects",
        "detectable_paired": "metrics.inference.effects",
        "dz_interval": "metrics.inference.effects",
        "g_interval": "metrics.inference.effects",
        "hedges_g": "metrics.inference.effects",
        "holm": "metrics.inference.comparisons",
        "inverted_u": "metrics.inference.two_lines",
        "log_interval": "metrics.inference.intervals",
        "logistic_regression": "metrics.inference.logistic",
        "paired": "metrics.inference.comparisons",
        "pearson": "metrics.inference.correlations",
        "prcc": "metrics.inference.correlations",
        "skewness": "metrics.inference.sample",
        "spearman": "metrics.inference.correlations",
        "t_interval": "metrics.inference.intervals",
        "welch": "metrics.inference.comparisons",
    },
)
