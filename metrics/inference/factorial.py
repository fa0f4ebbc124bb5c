"""Main effects and interactions of a complete factorial design, by ANOVA-type statistics.

An effect is the part of the means of the cells that its keys explain. Variances of cells may
differ, and may be zero in some: the test compares the effect with what the cells' own variances
and covariances make of it, with Box's degrees of freedom. Where all cells share their seeds it is
the analysis of variance with repeated measures, corrected after Greenhouse and Geisser (1959).

Source:
    Box, G. E. P. (1954). Some theorems on quadratic forms applied in the study of analysis of
    variance problems. Annals of Mathematical Statistics 25.
    Brunner, E., Dette, H. and Munk, A. (1997). Box-type approximations in nonparametric factorial
    designs. JASA 92.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations, product

import numpy as np
import pandas as pd
import scipy

from virsci_society.agents.arrays import FloatArray
from virsci_society.agents.errors import InputError
from virsci_society.metrics.inference.intervals import NAN

Cell = tuple[str, ...]


@dataclass(frozen=True)
class FactorialEffect:
    """One main effect, or the interaction of two keys.

    Attributes:
        keys: one key, or two.
        size: root mean square of the effect over the cells, in the unit of the measure.
        share: share of the variance between the means of the cells, 0..1.
        statistic: F; NaN where it cannot be computed.
        freedom: degrees of freedom of F, of the effect and of the error.
        p: against no effect.
        n: replicates that count: seeds that all cells have, or the fewest of a cell.
        note: empty, or why there is no p.
    """

    keys: tuple[str, ...]
    size: float
    share: float
    statistic: float
    freedom: tuple[float, float]
    p: float
    n: int
    note: str = ""


def factorial_effects(
    levels: Mapping[str, Sequence[str]], cells: Mapping[Cell, pd.Series], paired: bool
) -> list[FactorialEffect]:
    """Every main effect and every interaction of two keys.

    Args:
        levels: values of each key.
        cells: value of each key, in their order -> values, with the replicate as index.
        paired: replicate r has the same seed in every cell; replicates that some cell lacks are
            then left out.

    Returns:
        Main effects in the order of the keys, then interactions. Without a p, and with a note,
        where a cell is missing, has fewer than two replicates, or no cell varies.

    Raises:
        InputError: there is no key.
    """
    if not levels:
        raise InputError("a factorial design needs at least one key that is varied")
    order = list(product(*levels.values()))
    names = [(key,) for key in levels] + list(combinations(levels, 2))
    values = [cells.get(cell, pd.Series(dtype="float64")) for cell in order]
    if paired:
        table = pd.concat(values, axis=1, join="inner")
        values = [table.iloc[:, place] for place in range(len(order))]
    n = min(len(one) for one in values)
    if n < 2:
        note = "not estimable: some cell of the grid has fewer than two replicates"
        return [FactorialEffect(keys, NAN, NAN, NAN, (NAN, NAN), NAN, n, note) for keys in names]
    samples = [one.to_numpy(dtype=np.float64) for one in values]
    means = np.array([sample.mean() for sample in samples])
    if paired:
        spread = np.atleast_2d(np.cov(np.stack(samples), ddof=1)) / n
    else:
        spread = np.diag([sample.var(ddof=1) / len(sample) for sample in samples])
    return [_effect(keys, levels, means, spread, samples, paired) for keys in names]


def _effect(
    keys: tuple[str, ...],
    levels: Mapping[str, Sequence[str]],
    means: FloatArray,
    spread: FloatArray,
    samples: Sequence[FloatArray],
    paired: bool,
) -> FactorialEffect:
    """One effect by the ANOVA-type statistic; ``spread`` is the covariance of the means."""
    part = _projection(keys, levels)
    explained = float(((part @ means) ** 2).sum())
    total = float(((means - means.mean()) ** 2).sum())
    size, share = float(np.sqrt(explained / len(means))), explained / total if total else NAN
    fewest = min(len(sample) for sample in samples)
    noise = part @ spread
    trace = float(np.trace(noise))
    # Traces below rounding are those of cells whose values do not vary.
    if trace <= 1e-12 * max(1.0, float(means @ means)):
        note = "not estimable: the replicates do not vary"
        return FactorialEffect(keys, size, share, NAN, (NAN, NAN), NAN, fewest, note)
    first = trace**2 / float(np.trace(noise @ noise))
    if paired:
        second = first * (fewest - 1)
    else:
        own = np.diag(part) * np.diag(spread)
        freedom = np.array([len(sample) - 1 for sample in samples])
        second = float(own.sum() ** 2 / (own**2 / freedom).sum())
    statistic = explained / trace
    p = float(scipy.stats.f.sf(statistic, first, second))
    return FactorialEffect(keys, size, share, statistic, (first, second), p, fewest)


def _projection(keys: tuple[str, ...], levels: Mapping[str, Sequence[str]]) -> FloatArray:
    """The matrix that takes the part of an effect from the means of all cells."""
    parts = [
        np.eye(len(values)) - 1 / len(values)
        if key in keys
        else np.full((len(values), len(values)), 1 / len(values))
        for key, values in levels.items()
    ]
    return np.asarray(reduce(np.kron, parts), dtype=np.float64)
