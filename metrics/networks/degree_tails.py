"""Degree distributions, and power laws beside other laws of degrees, papers and citations.

All least values are fitted at once, since the known facts fit thousands of samples.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import special

from virsci_society.metrics.impact import inside_citations
from virsci_society.metrics.networks.structure import final_networks
from virsci_society.metrics.registry import metric
from virsci_society.society.results.run import Run

MIN_TAIL = 50
"""A tail of fewer values decides nothing (Clauset et al. 2009, section 3.4)."""
MAX_CANDIDATES = 60
"""Values that are tried as the least of the tail at most, evenly spread by rank."""
MAX_EXPONENT = 50.0
OTHER_LAWS = {"lognormal": "a lognormal", "exponential": "an exponential"}
REJECTION_LEVEL = 0.1
"""The worse of two laws is rejected where the p of their ratio of likelihoods is below this."""


class PowerLawFit(NamedTuple):
    """A power law p(x) ~ x^-alpha for x >= xmin."""

    xmin: int
    alpha: float
    ks: float
    n: int


def fit_power_law(values: Any, xmin: int | None = None) -> PowerLawFit | None:
    """Fit a power law to the tail of counts from ``xmin`` on, the best one if it is not given."""
    given = np.asarray(values, dtype=np.int64)
    found = np.unique(given[given > 0], return_counts=True)
    distinct, counts = (one.astype(np.float64) for one in found)
    if xmin is not None:
        counts, distinct = counts[distinct >= xmin], distinct[distinct >= xmin]
        candidates = np.array([xmin], dtype=np.float64)
    else:
        # A tail of one value fits any law.
        candidates = distinct[:-1]
        if len(candidates) > MAX_CANDIDATES:
            places = np.linspace(0, len(candidates) - 1, MAX_CANDIDATES).round().astype(int)
            candidates = candidates[places]
    if len(distinct) < 2 or not len(candidates):
        return None
    starts = np.searchsorted(distinct, candidates)
    # From the top down: the tail of each candidate is a part of the one before.
    at_least = np.cumsum(counts[::-1])[::-1]
    logs = np.cumsum((counts * np.log(distinct))[::-1])[::-1]
    mean_log, step = logs[starts] / at_least[starts], 1e-4
    # Newton's method on log zeta, all at once, from the approximation of Clauset et al. (3.7).
    spread = np.maximum(mean_log - np.log(candidates - 0.5), 1e-9)
    alpha = np.clip(1 + 1 / spread, 1.05, MAX_EXPONENT)
    for _ in range(40):
        below, here, above = (
            np.log(special.zeta(np.maximum(alpha + shift, 1 + 1e-9), candidates))
            for shift in (-step, 0.0, step)
        )
        slope = (above - below) / (2 * step) + mean_log
        bend = np.maximum((above - 2 * here + below) / step**2, 1e-6)
        # The function is convex in alpha; half the way down to 1 keeps a long step inside.
        new = np.clip(alpha - slope / bend, (alpha + 1) / 2, np.minimum(2 * alpha, MAX_EXPONENT))
        moved = float(np.abs(new - alpha).max())
        alpha = np.asarray(new, dtype=np.float64)
        if moved < 1e-7:
            break
    ks = np.empty(len(candidates))
    for row, (start, exponent) in enumerate(zip(starts, alpha, strict=True)):
        # The data step only at the values found: the distance is greatest at one or just above.
        tail, seen = distinct[start:], at_least[start:] / at_least[start]
        whole = special.zeta(exponent, candidates[row])
        at = np.abs(special.zeta(exponent, tail) / whole - seen).max()
        after = special.zeta(exponent, tail + 1) / whole - np.append(seen[1:], 0.0)
        ks[row] = max(at, np.abs(after).max())
    best = int(np.argmin(ks))
    n = int(at_least[starts[best]])
    return PowerLawFit(int(candidates[best]), float(alpha[best]), float(ks[best]), n)


def compare_with_other_laws(values: Any, tail: PowerLawFit) -> dict[str, tuple[float, float]]:
    """Log likelihood ratios over other laws on the same tail, and p (Vuong 1989; ``powerlaw``)."""
    import powerlaw

    given = np.asarray(values, dtype=np.int64)
    with warnings.catch_warnings():
        # Of starting values outside its own bounds, which its search then enters.
        warnings.simplefilter("ignore")
        fit = powerlaw.Fit(
            given[given > 0],
            xmin=tail.xmin,
            discrete=True,
            verbose=False,
            parameter_ranges={"alpha": [1.0, MAX_EXPONENT]},
        )
        laws = {law: fit.distribution_compare("power_law", law) for law in OTHER_LAWS}
    return {law: (float(ratio), float(p)) for law, (ratio, p) in laws.items()}


def verdict(ratios: Mapping[str, tuple[float, float]]) -> str:
    """What the ratios of likelihoods say of a tail that is long enough (Clauset et al. 2009, 6)."""
    for law, (ratio, p) in ratios.items():
        if ratio < 0 and p < REJECTION_LEVEL:
            return f"not a power law: {OTHER_LAWS[law]} fits better"
    better = {law: ratio > 0 and p < REJECTION_LEVEL for law, (ratio, p) in ratios.items()}
    # A tail that an exponential fits as well is not heavy.
    if not better["exponential"]:
        return "not a power law: an exponential fits as well"
    if not better["lognormal"]:
        return "perhaps a power law: a lognormal fits as well"
    return "consistent with a power law"


PARTS = ("alpha", "ks", "lognormal_ratio", "lognormal_p", "exponential_ratio", "exponential_p")
COUNTS = ("n", "xmin", "tail")


@metric("structure")
def degrees(run: Run) -> pd.DataFrame:
    """Distribution of degrees of both networks at the end (Newman 2001)."""
    parts = []
    for network, matrix in final_networks(run):
        degree, counts = np.unique(np.diff(matrix.indptr), return_counts=True)
        above = np.cumsum(counts[::-1])[::-1] / max(counts.sum(), 1)
        columns = {"degree": degree, "scientists": counts, "share_above": above}
        parts.append(pd.DataFrame({"network": network, **columns}))
    kinds = {"network": "string", "degree": "Int64", "scientists": "Int64"}
    return pd.concat(parts, ignore_index=True).astype({**kinds, "share_above": "Float64"})


@metric("chance")
def tail(run: Run) -> pd.DataFrame:
    """Tails of degrees, papers and citations: discrete power laws (Clauset et al. 2009)."""
    values = {f"degree, {name}": np.diff(matrix.indptr) for name, matrix in final_networks(run)}
    values["papers per scientist"] = run.table("authorships")["scientist"].value_counts()
    values["citations per paper"] = inside_citations(run)["cited"].value_counts()
    kinds = {"of": "string", **dict.fromkeys(COUNTS, "Int64"), **dict.fromkeys(PARTS, "Float64")}
    rows = [{"of": name, **tail_test(one)} for name, one in values.items()]
    return pd.DataFrame(rows, columns=[*kinds, "verdict"]).astype({**kinds, "verdict": "string"})


def tail_test(values: Any) -> dict[str, Any]:
    """The columns of ``tail`` but the first, where they are known, for one set of counts."""
    positive = np.asarray(values, dtype=np.int64)
    positive = positive[positive > 0]
    fitted, columns = fit_power_law(positive), dict[str, Any](n=len(positive))
    if fitted is not None:
        columns |= {"xmin": fitted.xmin, "tail": fitted.n, "alpha": fitted.alpha, "ks": fitted.ks}
    if fitted is None or len(positive) < MIN_TAIL:
        said = f"undecided: {len(positive)} values"
    elif fitted.n < MIN_TAIL:
        said = f"not a power law: it fits only {fitted.n} of {len(positive)} values"
    elif find_spec("powerlaw") is None:
        said = "undecided: the comparison with other laws needs the extra [tails] (powerlaw)"
    else:
        ratios = compare_with_other_laws(positive, fitted)
        for law, pair in ratios.items():
            columns[f"{law}_ratio"], columns[f"{law}_p"] = pair
        said = verdict(ratios)
    return {**columns, "verdict": said}
