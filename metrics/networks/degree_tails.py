"""Degree distributions, and power-law tests of degrees, papers and citations.

All least values are fitted at once, since the known facts fit thousands of samples.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from virsci_society.agents.arrays import IntArray
from virsci_society.agents.lazy_imports import special
from virsci_society.metrics.impact import inside_citations
from virsci_society.metrics.networks.structure import final_networks
from virsci_society.metrics.registry import metric
from virsci_society.society.kernel.streams import Streams
from virsci_society.society.results.run import Run

MIN_TAIL = 50
"""A tail of fewer values decides nothing (Clauset et al. 2009, section 3.4)."""
MAX_CANDIDATES = 60
"""Most candidates for the start of the tail, evenly spread by rank."""
MAX_EXPONENT = 50.0
OTHER_LAWS = {"lognormal": "a lognormal", "exponential": "an exponential"}
REJECTION_LEVEL = 0.1
"""A fit whose p is not above this is rejected (Clauset et al. 2009); so is the worse of two laws
whose ratio of likelihoods has a p below it."""
MAX_TABULATED = 10_000
"""Values of a tail that are drawn exactly; above them the continuous law is rounded."""
RESAMPLES = 100
"""Bootstrap samples: the standard error of a p of 0.1 is 0.03."""


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
        # The function is convex in alpha; the bound halfway to 1 limits a long step.
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


def bootstrap(values: Any, tail: PowerLawFit, resamples: int, rng: np.random.Generator) -> float:
    """p-value of a fit: the share of samples with at least the KS distance of the data."""
    given = np.asarray(values, dtype=np.int64)
    given = given[given > 0]
    body = given[given < tail.xmin]
    farther = 0
    for _ in range(resamples):
        # The number of values in the tail is random too.
        count = int(rng.binomial(len(given), tail.n / len(given)))
        parts = [sample_power_law(tail, count, rng)]
        if count < len(given):
            parts.append(rng.choice(body, len(given) - count))
        again = fit_power_law(np.concatenate(parts))
        if again is not None and again.ks >= tail.ks:
            farther += 1
    return farther / resamples


def sample_power_law(tail: PowerLawFit, count: int, rng: np.random.Generator) -> IntArray:
    """Draw whole numbers of a power law (Clauset et al. 2009, appendix D)."""
    tabulated = np.arange(tail.xmin, tail.xmin + MAX_TABULATED + 1, dtype=np.float64)
    above = special.zeta(tail.alpha, tabulated) / special.zeta(tail.alpha, float(tail.xmin))
    # Never 0, whose quantile is infinite.
    u = 1.0 - rng.random(count)
    ranks = np.searchsorted(-above, -u, side="right") - 1
    values = tail.xmin + ranks.astype(np.int64)
    far = ranks >= MAX_TABULATED
    stretched = (tabulated[-1] - 0.5) * (u[far] / above[-1]) ** (-1 / (tail.alpha - 1)) + 0.5
    # Beyond 2^53 floats leave out whole numbers.
    values[far] = np.minimum(stretched, 2.0**53).astype(np.int64)
    return values


Ratios = Mapping[str, tuple[float, float]]
"""Log likelihood ratio of the power law over each other law (Vuong 1989), and its two-sided p."""


def compare_with_other_laws(values: Any, tail: PowerLawFit) -> Ratios:
    """Likelihood ratios over a lognormal and an exponential on the same tail, by ``powerlaw``."""
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


def verdict(n: int, tail: PowerLawFit | None, p: float, ratios: Ratios) -> str:
    """The verdict of fit, bootstrap and ratios, as a sentence (Clauset et al. 2009, 6)."""
    if tail is None or n < MIN_TAIL:
        return f"undecided: {n} values"
    if tail.n < MIN_TAIL:
        return f"not a power law: it fits only {tail.n} of {n} values"
    if p <= REJECTION_LEVEL:
        return "not a power law: the fit is rejected"
    if not ratios:
        return "undecided: the comparison with other laws needs the extra [tails] (powerlaw)"
    likelier = {law: p < REJECTION_LEVEL and ratio > 0 for law, (ratio, p) in ratios.items()}
    for law, (ratio, p_equal) in ratios.items():
        if ratio < 0 and p_equal < REJECTION_LEVEL:
            return f"not a power law: {OTHER_LAWS[law]} fits better"
    # A tail that an exponential fits as well is not heavy.
    if not likelier["exponential"]:
        return "not a power law: an exponential fits as well"
    return (
        "a power law" if likelier["lognormal"] else "perhaps a power law: a lognormal fits as well"
    )


PARTS = (
    *("alpha", "ks", "p"),
    *("lognormal_ratio", "lognormal_p", "exponential_ratio", "exponential_p"),
)
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
    """Tails after Clauset, Shalizi and Newman (Clauset et al. 2009), discrete; seeded bootstrap."""
    values = {f"degree, {name}": np.diff(matrix.indptr) for name, matrix in final_networks(run)}
    values["papers per scientist"] = run.table("authorships")["scientist"].value_counts()
    values["citations per paper"] = inside_citations(run)["cited"].value_counts()
    streams = Streams(run.seed, "metrics", "tail")
    rows = [{"of": name, **tail_test(one, streams.stream(name))} for name, one in values.items()]
    kinds = {"of": "string", "verdict": "string"}
    kinds |= dict.fromkeys(COUNTS, "Int64") | dict.fromkeys(PARTS, "Float64")
    return pd.DataFrame(rows).astype(kinds)[["of", *COUNTS, *PARTS, "verdict"]]


def tail_test(values: Any, rng: np.random.Generator) -> dict[str, Any]:
    """Every column of ``tail`` but the first, for one set of counts."""
    positive = np.asarray(values, dtype=np.int64)
    positive = positive[positive > 0]
    fitted, p, ratios = fit_power_law(positive), 1.0, dict[str, tuple[float, float]]()
    columns: dict[str, Any] = {**dict.fromkeys((*COUNTS, *PARTS)), "n": len(positive)}
    if fitted is not None:
        columns |= {"xmin": fitted.xmin, "tail": fitted.n, "alpha": fitted.alpha, "ks": fitted.ks}
        if fitted.n >= MIN_TAIL:
            p = columns["p"] = bootstrap(positive, fitted, RESAMPLES, rng)
            if find_spec("powerlaw") is not None:
                ratios |= compare_with_other_laws(positive, fitted)
    for law, pair in ratios.items():
        columns[f"{law}_ratio"], columns[f"{law}_p"] = pair
    return {**columns, "verdict": verdict(len(positive), fitted, p, ratios)}
