"""Tables of a study, with full digits: measures by arm, comparisons, sensitivity, runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from typing import Any

import numpy as np
import pandas as pd

from metrics.inference.comparisons import Comparison
from metrics.inference.correlations import Correlation, prcc
from metrics.inference.coverage import FAMILIES, LADDER, Cell, fitting
from metrics.inference.intervals import bca_interval, log_interval, t_interval
from metrics.inference.sample import NAN, Floats, skewness
from metrics.inference.shapes import TwoLines
from metrics.study.comparing import Compared
from metrics.study.study import Study

BY_ARM = (
    *("measure", "arm", "n", "missing", "mean", "low", "high", "bca_low", "bca_high"),
    *("geometric_mean", "log_low", "log_high", "deviation", "skewness"),
)
DIFFERENCES = (
    *("measure", "first", "second", "test", "n", "difference", "low", "high"),
    *("effect", "value", "effect_low", "effect_high", "p", "holm", "planned", "note"),
)
SHAPES = (
    *("measure", "over", "among", "n", "break", "slope_1", "low_1", "high_1", "p_1"),
    *("slope_2", "low_2", "high_2", "p_2", "p", "holm", "planned", "note"),
)
CORRELATIONS = ("measure", "over", "among", "n", "rho", "low", "high", "p", "holm", "planned")
AGAINST = ("measure", "against", "test", "n", "r", "low", "high", "p", "holm", "planned")
SENSITIVITY = ("measure", "key", "n", "prcc", "low", "high", "p")
COVERAGE = ("measure", "n", "skewness", "judged_as", "t", "bca", "log")
SKEWED = 2
"""From this step of the ladder on a measure looks skewed: lognormal with sigma 0.5."""
LOST = ("run", "arm", "replicate", "state", "reason")


def by_arm(study: Study, measure: str) -> pd.DataFrame:
    """Mean of a measure in each arm with its intervals; columns ``BY_ARM``.

    The log-scale interval, of the geometric mean, is given where all values of the measure are
    above zero and its arms look skewed.
    """
    judged = judgement(study, measure)
    samples = {arm: study.numbers(measure, arm) for arm in study.arms}
    positive = all((values > 0).all() for values in samples.values())
    log = positive and judged is not None and LADDER.index(judged.family) >= SKEWED
    rows = [_arm(study, measure, arm, values, log) for arm, values in samples.items()]
    return _frame(rows, BY_ARM)


def _arm(study: Study, measure: str, arm: str, values: Floats, log: bool) -> tuple[Any, ...]:
    t, bca = t_interval(values), bca_interval(values)
    typical = log_interval(values) if log and len(values) else None
    scaled = (NAN,) * 3 if typical is None else (typical.value, typical.low, typical.high)
    spread = float(values.std(ddof=1)) if len(values) > 1 else NAN
    missing = study.told.replicates - len(values)
    head = (measure, arm, len(values), missing, t.value, t.low, t.high, bca.low, bca.high)
    return (*head, *scaled, spread, skewness(values))


def judgement(study: Study, measure: str) -> Cell | None:
    """The simulated case by which the intervals of a measure are judged; None without values.

    The replicates are those of the smallest arm with any; the skewness is the median over the
    arms of their sample skewness.
    """
    samples = [study.numbers(measure, arm) for arm in study.arms]
    sizes = [len(values) for values in samples if len(values)]
    return fitting(min(sizes), typical_skewness(samples)) if sizes else None


def typical_skewness(samples: Iterable[Floats]) -> float:
    """Median of the skewness of samples; NaN where none has any."""
    found = [skewness(values) for values in samples]
    finite = [value for value in found if np.isfinite(value)]
    return float(np.median(finite)) if finite else NAN


def coverage(study: Study) -> pd.DataFrame:
    """How often the intervals of each measure are known to hold the truth; columns ``COVERAGE``."""
    rows = []
    for measure in study.told.measures:
        cell = judgement(study, measure)
        if cell is None:
            continue
        samples = [study.numbers(measure, arm) for arm in study.arms]
        fewest = min(len(values) for values in samples if len(values))
        judged = f"{FAMILIES[cell.family].meaning}, n = {cell.n}"
        known = (typical_skewness(samples), judged, cell.t, cell.bca, cell.log)
        rows.append((measure, fewest, *known))
    return _frame(rows, COVERAGE)


def differences(found: Sequence[Compared]) -> pd.DataFrame:
    """The comparisons of two arms; columns ``DIFFERENCES``."""
    rows = []
    for one in found:
        if isinstance(one.result, Comparison):
            gap, effect = one.result.difference, one.result.effect
            head = (one.measure, *one.of, one.test, gap.n, gap.value, gap.low, gap.high)
            size = (one.result.effect_name, effect.value, effect.low, effect.high)
            rows.append((*head, *size, one.p, one.holm, _planned(one), one.result.note))
    return _frame(rows, DIFFERENCES)


def shapes(found: Sequence[Compared]) -> pd.DataFrame:
    """The two-lines tests; columns ``SHAPES``."""
    rows = []
    for one in found:
        if isinstance(one.result, TwoLines):
            lines = [
                value
                for line in (one.result.first, one.result.second)
                for value in (line.slope, line.low, line.high, line.p)
            ]
            head = (one.measure, *one.of, one.among, one.result.n, one.result.at)
            rows.append((*head, *lines, one.p, one.holm, _planned(one), one.result.note))
    return _frame(rows, SHAPES)


def correlations(found: Sequence[Compared]) -> pd.DataFrame:
    """The rank correlations with a varied key; columns ``CORRELATIONS``."""
    rows = [
        (*row[:2], one.among, *row[3:])
        for one, row in _correlated(found)
        if one.test == "rank correlation"
    ]
    return _frame(rows, CORRELATIONS)


def against(found: Sequence[Compared]) -> pd.DataFrame:
    """The correlations of two measures, or of a measure and a review; columns ``AGAINST``."""
    rows = [row for one, row in _correlated(found) if one.test != "rank correlation"]
    return _frame(rows, AGAINST)


def _correlated(found: Sequence[Compared]) -> Iterator[tuple[Compared, tuple[Any, ...]]]:
    for one in found:
        if isinstance(one.result, Correlation):
            head = (one.measure, *one.of, one.test, one.result.n, one.result.r)
            yield one, (*head, one.result.low, one.result.high, one.p, one.holm, _planned(one))


def _planned(one: Compared) -> str:
    return "yes" if one.planned else "no"


def without_defaults(found: Sequence[Compared], again: Sequence[Compared]) -> pd.DataFrame:
    """Every comparison beside itself without the runs that hold a default."""
    rows = [
        (one.measure, " to ".join(one.of), one.test, *_estimate(one), *_estimate(other))
        for one, other in zip(found, again, strict=True)
    ]
    columns = ("measure", "of", "test", "n", "estimate", "holm")
    return _frame(rows, (*columns, "n_without", "estimate_without", "holm_without"))


def _estimate(one: Compared) -> tuple[int, float, float]:
    """Observations, the estimate (a difference, a break, a correlation) and Holm's p."""
    if isinstance(one.result, Comparison):
        return one.result.difference.n, one.result.difference.value, one.holm
    if isinstance(one.result, TwoLines):
        return one.result.n, one.result.at, one.holm
    return one.result.n, one.result.r, one.holm


def sensitivity(study: Study, without: Set[int] = frozenset()) -> pd.DataFrame:
    """Partial rank correlations in a sampled design, by measure and key; ``SENSITIVITY``.

    The unit is the arm, by the mean of its replicates.
    """
    keys = study.numeric() if study.sampled else []
    rows = []
    for measure in study.told.measures if keys else ():
        own = {arm: study.numbers(measure, arm, without) for arm in study.arms}
        arms = [arm for arm, values in own.items() if len(values)]
        inputs = {key: np.array([study.place(arm, key) for arm in arms]) for key in keys}
        means = np.array([own[arm].mean() for arm in arms], dtype=np.float64)
        for key, found in prcc(inputs, means).items():
            rows.append((measure, key, found.n, found.r, found.low, found.high, found.p))
    return _frame(rows, SENSITIVITY)


def lost(study: Study) -> pd.DataFrame:
    """The runs that are not done, with the reason that their status gives; columns ``LOST``."""
    gone = study.runs[study.runs["state"] != "done"]
    rows = [
        (int(row["run"]), row["arm"], int(row["replicate"]), row["state"], study.reason(row["run"]))
        for row in gone.to_dict("records")
    ]
    return _frame(rows, LOST)


def _frame(rows: Sequence[tuple[Any, ...]], columns: Sequence[str]) -> pd.DataFrame:
    return pd.DataFrame(list(rows), columns=list(columns))
