"""Degree distributions, and power-law tests of degrees, papers and citations.

Power laws are fitted after Clauset, Shalizi and Newman (2009), discrete throughout: degrees, papers
and citations are whole numbers. The least value of the tail is the one at which the fitted law and
the data are closest (Kolmogorov-Smirnov distance). A bootstrap says whether data of that law would
lie as far away. Ratios of likelihoods (Vuong 1989) say whether a lognormal or an exponential fits
the same tail better. All candidates for the least value are fitted at once, which makes the
bootstrap affordable.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy
from numpy.typing import NDArray
from scipy import special

from virsci_society.agents.arrays import FloatArray, IntArray
from virsci_society.metrics.impact import inside_citations
from virsci_society.metrics.networks.structure import (
    final_networks,
)
from virsci_society.society.kernel.streams import Streams
from virsci_society.society.results.run import Run

MIN_TAIL = 50
"""A tail of fewer values decides nothing (Clauset et al. 2009, section 3.4)."""
MAX_CANDIDATES = 60
"""At most so many values are tried as the least of the tail, evenly spread by rank."""
MAX_EXPONENT = 50.0
REJECTION_LEVEL = 0.1
"""A fit whose p is not above this is rejected (Clauset et al. 2009); so is the worse of two laws
whose ratio of likelihoods has a p below it."""
MAX_TABULATED = 10_000
"""So many values of a tail are drawn exactly; beyond them the continuous law is rounded."""


class PowerLawFit(NamedTuple):
    """A power law p(x) ~ x^-alpha for x >= xmin.

    Attributes:
        xmin: least value of the tail.
        alpha: exponent, > 1.
        ks: largest distance between the two distributions over the tail, 0..1.
        n: values of the tail.
    """

    xmin: int
    alpha: float
    ks: float
    n: int


@dataclass(frozen=True)
class LikelihoodRatio:
    """Log likelihood ratio of the power law over another law on the tail, and its two-sided p.

    The ratio is positive where the power law is likelier; p is NaN where both agree everywhere.
    """

    ratio: float
    p: float


def fit_power_law(values: Any, xmin: int | None = None) -> PowerLawFit | None:
    """Fit a power law to the tail of counts from ``xmin`` on, the best one if it is not given.

    Values below 1 are left out.

    Returns:
        The fit; None where there are not two different positive values.

    Source:
        Clauset, A., Shalizi, C. R. and Newman, M. E. J. (2009). Power-law distributions in
        empirical data. SIAM Review 51.
    """
    distinct, counts = _counted(values)
    if xmin is not None:
        counts, distinct = counts[distinct >= xmin], distinct[distinct >= xmin]
        candidates = np.array([xmin], dtype=np.float64)
    else:
        # A tail of one value fits any law.
        candidates = distinct[:-1]
        if len(candidates) > MAX_CANDIDATES:
            candidates = candidates[
                np.linspace(0, len(candidates) - 1, MAX_CANDIDATES).round().astype(int)
            ]
    if len(distinct) < 2 or not len(candidates):
        return None
    indices = np.searchsorted(distinct, candidates)
    # From the top down: the tail of each candidate is a part of the one before.
    at_least = np.cumsum(counts[::-1])[::-1]
    logs = np.cumsum((counts * np.log(distinct))[::-1])[::-1]
    alpha = _exponents(candidates, logs[indices] / at_least[indices])
    ks = _distances(distinct, at_least, candidates, indices, alpha)
    best = int(np.argmin(ks))
    return PowerLawFit(
        int(candidates[best]), float(alpha[best]), float(ks[best]), int(at_least[indices[best]])
    )


def _counted(values: Any) -> tuple[FloatArray, FloatArray]:
    given = np.asarray(values, dtype=np.int64)
    distinct, counts = np.unique(given[given > 0], return_counts=True)
    return distinct.astype(np.float64), counts.astype(np.float64)


def _exponents(xmin: FloatArray, mean_log: FloatArray) -> FloatArray:
    """Maximum-likelihood exponents by Newton's method on log zeta, all at once."""
    step = 1e-4
    # The approximation of Clauset et al. (3.7) is where the search begins.
    spread = np.maximum(mean_log - np.log(xmin - 0.5), 1e-9)
    alpha = np.clip(1 + 1 / spread, 1.05, MAX_EXPONENT)
    for _ in range(40):
        below, here, above = (
            np.log(special.zeta(np.maximum(alpha + shift, 1 + 1e-9), xmin))
            for shift in (-step, 0.0, step)
        )
        slope = (above - below) / (2 * step) + mean_log
        bend = np.maximum((above - 2 * here + below) / step**2, 1e-6)
        # The function is convex in alpha; half the way down to 1 keeps a long step inside.
        new = np.clip(alpha - slope / bend, (alpha + 1) / 2, np.minimum(2 * alpha, MAX_EXPONENT))
        step_taken = float(np.abs(new - alpha).max())
        alpha = np.asarray(new, dtype=np.float64)
        if step_taken < 1e-7:
            break
    return alpha


def _distances(
    distinct: FloatArray,
    at_least: FloatArray,
    candidates: FloatArray,
    indices: NDArray[np.intp],
    alpha: FloatArray,
) -> FloatArray:
    """Kolmogorov-Smirnov distance of each candidate; the data step only at the values found."""
    ks = np.empty(len(candidates))
    for row, (start, exponent) in enumerate(zip(indices, alpha, strict=True)):
        values, seen = distinct[start:], at_least[start:] / at_least[start]
        whole = special.zeta(exponent, candidates[row])
        at = np.abs(special.zeta(exponent, values) / whole - seen).max()
        after = special.zeta(exponent, values + 1) / whole - np.append(seen[1:], 0.0)
        ks[row] = max(at, np.abs(after).max())
    return ks


def bootstrap(values: Any, tail: PowerLawFit, resamples: int, rng: np.random.Generator) -> float:
    """Share of samples of the fitted law that lie farther from their own fit than the data.

    A sample takes values below the tail from the data and the others from the law, and is fitted
    anew, its least value too. Standard error at p = 0.1: 0.03 for 100 resamples.

    Returns:
        p, 0..1; 0.1 and less rejects the power law.

    Source:
        Clauset et al. (2009), section 4.1.
    """
    given = np.asarray(values, dtype=np.int64)
    given = given[given > 0]
    body = given[given < tail.xmin]
    farther = 0
    for _ in range(resamples):
        # How many values lie in the tail is chance too (Clauset et al. 2009, section 4.1).
        count = int(rng.binomial(len(given), tail.n / len(given)))
        parts = [sample_power_law(tail, count, rng)]
        if count < len(given):
            parts.append(rng.choice(body, len(given) - count))
        again = fit_power_law(np.concatenate(parts))
        farther += again is not None and again.ks >= tail.ks
    return farther / resamples


def sample_power_law(tail: PowerLawFit, count: int, rng: np.random.Generator) -> IntArray:
    """Draw so many whole numbers of a power law.

    Source:
        Clauset et al. (2009), appendix D.
    """
    tabulated = np.arange(tail.xmin, tail.xmin + MAX_TABULATED + 1, dtype=np.float64)
    above = special.zeta(tail.alpha, tabulated) / special.zeta(tail.alpha, float(tail.xmin))
    # Never 0, whose place in the law is infinitely far.
    u = 1.0 - rng.random(count)
    ranks = np.searchsorted(-above, -u, side="right") - 1
    values = tail.xmin + ranks.astype(np.int64)
    far = ranks >= MAX_TABULATED
    if far.any():
        edge = tabulated[-1]
        stretched = (edge - 0.5) * (u[far] / above[-1]) ** (-1 / (tail.alpha - 1)) + 0.5
        # Beyond, floats leave out whole numbers.
        values[far] = np.minimum(stretched, 2.0**53).astype(np.int64)
    return values


def compare_with_exponential(values: Any, tail: PowerLawFit) -> LikelihoodRatio:
    """Likelihood ratio of the power law and p(x) ~ exp(-rate x) on the same tail."""
    distinct, counts = _tail_counts(values, tail)
    over = np.average(distinct - tail.xmin, weights=counts)
    rate = np.log1p(1 / over)
    other = np.log(-np.expm1(-rate)) - rate * (distinct - tail.xmin)
    return _vuong(_log_power_law(distinct, tail), other, counts)


def compare_with_lognormal(values: Any, tail: PowerLawFit) -> LikelihoodRatio:
    """Likelihood ratio of the power law and a lognormal of whole numbers on the same tail."""
    distinct, counts = _tail_counts(values, tail)
    logs = np.log(distinct)
    middle = float(np.average(logs, weights=counts))
    wide = float(np.sqrt(np.average((logs - middle) ** 2, weights=counts)))

    def loss(guess: FloatArray) -> float:
        return -float(counts @ _log_lognormal(distinct, tail.xmin, guess[0], np.exp(guess[1])))

    start = np.array([middle, np.log(max(wide, 1e-3))])
    options = {"xatol": 1e-6, "fatol": 1e-8, "maxiter": 2000}
    best = scipy.optimize.minimize(loss, start, method="Nelder-Mead", options=options).x
    other = _log_lognormal(distinct, tail.xmin, best[0], np.exp(best[1]))
    return _vuong(_log_power_law(distinct, tail), other, counts)


def _tail_counts(values: Any, tail: PowerLawFit) -> tuple[FloatArray, FloatArray]:
    distinct, counts = _counted(values)
    return distinct[distinct >= tail.xmin], counts[distinct >= tail.xmin]


def _log_power_law(distinct: FloatArray, tail: PowerLawFit) -> FloatArray:
    whole = np.log(special.zeta(tail.alpha, float(tail.xmin)))
    return np.asarray(-tail.alpha * np.log(distinct) - whole)


def _log_lognormal(distinct: FloatArray, xmin: int, mu: float, sigma: float) -> FloatArray:
    """Log probabilities of the rounded lognormal above xmin - 1/2, safe far out in its tail."""
    edges = [(np.log(distinct + half) - mu) / sigma for half in (-0.5, 0.5)]
    # log_ndtr(-x) is what scipy.stats.norm.logsf(x) computes, without its checks of arguments.
    low, high = (special.log_ndtr(-edge) for edge in edges)
    whole = special.log_ndtr(-(np.log(xmin - 0.5) - mu) / sigma)
    # Where both ends of a step have underflowed to the same number there is nothing between.
    between = np.maximum(-np.expm1(np.minimum(high - low, 0.0)), 1e-300)
    return np.asarray(low + np.log(between) - whole)


def _vuong(one: FloatArray, other: FloatArray, counts: FloatArray) -> LikelihoodRatio:
    """Log ratio of likelihoods and its p (Vuong 1989; Clauset et al. 2009, appendix C)."""
    differences, n = one - other, counts.sum()
    ratio = float(counts @ differences)
    spread = float(np.sqrt(max(counts @ (differences - ratio / n) ** 2 / n, 0.0)))
    if spread == 0:
        return LikelihoodRatio(ratio, float("nan"))
    return LikelihoodRatio(ratio, float(special.erfc(abs(ratio) / (np.sqrt(2 * n) * spread))))


def verdict(
    n: int,
    tail: PowerLawFit | None,
    p: float,
    lognormal: LikelihoodRatio | None,
    exponential: LikelihoodRatio | None,
) -> str:
    """What fit, bootstrap and ratios say together, in a sentence.

    A power law has a tail of at least 50 values, is not rejected, is not worse than another law,
    and is better than an exponential: a tail that an exponential fits as well is not heavy
    (Clauset et al. 2009, section 6; Broido and Clauset 2019 ask for the same 50).
    """
    if tail is None or n < MIN_TAIL:
        return f"undecided: {n} values"
    if tail.n < MIN_TAIL:
        return f"not a power law: it holds for {tail.n} of {n} values only"
    if p <= REJECTION_LEVEL:
        return "not a power law: the fit is rejected"
    if lognormal is not None and _favours(lognormal, -1):
        return "not a power law: a lognormal fits better"
    if exponential is not None and _favours(exponential, -1):
        return "not a power law: an exponential fits better"
    if exponential is not None and not _favours(exponential, 1):
        return "not a power law: an exponential fits as well"
    if lognormal is not None and not _favours(lognormal, 1):
        return "perhaps a power law: a lognormal fits as well"
    return "a power law"


def _favours(comparison: LikelihoodRatio, sign: int) -> bool:
    return comparison.ratio * sign > 0 and comparison.p < REJECTION_LEVEL


RESAMPLES = 100
MANY = 20_000
FEW_RESAMPLES = 25
"""Bootstrap samples, and above 20,000 values: the standard error of a p of 0.1 is 0.03 or 0.06."""
PARTS = (
    *("alpha", "ks", "p"),
    *("lognormal_ratio", "lognormal_p", "exponential_ratio", "exponential_p"),
)
COUNTS = ("n", "xmin", "tail", "resamples")


def degrees(run: Run) -> pd.DataFrame:
    """Distribution of degrees of both networks at the end (Newman 2001).

    Returns:
        One row per ``network`` (all, grown) and ``degree`` (co-authors, >= 1) that occurs:
        ``scientists`` of that degree and ``share_above`` (share with at least it, 0..1).
    """
    parts = []
    for network, matrix in final_networks(run):
        degree, counts = np.unique(np.diff(matrix.indptr), return_counts=True)
        above = np.cumsum(counts[::-1])[::-1] / max(counts.sum(), 1)
        columns = {"degree": degree, "scientists": counts, "share_above": above}
        parts.append(pd.DataFrame({"network": network, **columns}))
    kinds = {"network": "string", "degree": "Int64", "scientists": "Int64"}
    return pd.concat(parts, ignore_index=True).astype({**kinds, "share_above": "Float64"})


def tail(run: Run) -> pd.DataFrame:
    """Tails after Clauset, Shalizi and Newman (Clauset et al. 2009), discrete; seeded bootstrap.

    Returns:
        One row per ``quantity``: degree of each network (``degree, all``; ``degree, grown``),
        ``papers per scientist`` and ``citations per paper`` (since day 0). ``n`` (values above
        zero), ``xmin`` (where the tail begins), ``tail`` (values in it), ``alpha`` (exponent,
        > 1), ``ks`` (distance to the fitted law, 0..1); ``p`` (share of ``resamples`` samples of
        that law that lie farther from their own fit, 0..1; 0.1 and less rejects it);
        ``lognormal_ratio`` and ``exponential_ratio`` (log ratio of likelihoods, positive where
        the power law is likelier) with the ``_p`` of no difference; and ``verdict``, in words.
    """
    streams = Streams(run.seed, "metrics", "tail")
    rows = [
        {"quantity": name, **tail_test(values, streams.stream(name))}
        for name, values in _quantities(run)
    ]
    table = pd.DataFrame(rows)
    kinds = {"quantity": "string", "verdict": "string"}
    kinds |= dict.fromkeys(COUNTS, "Int64") | dict.fromkeys(PARTS, "Float64")
    return table.astype(kinds)[["quantity", *COUNTS, *PARTS, "verdict"]]


def tail_test(values: Any, rng: np.random.Generator) -> dict[str, Any]:
    """Every column of ``tail`` but the first, for one set of counts."""
    positive = np.asarray(values, dtype=np.int64)
    positive = positive[positive > 0]
    fitted = fit_power_law(positive)
    columns: dict[str, Any] = {**dict.fromkeys((*COUNTS, *PARTS)), "n": len(positive)}
    if fitted is None:
        return {**columns, "verdict": verdict(len(positive), None, 1.0, None, None)}
    columns |= {"xmin": fitted.xmin, "tail": fitted.n, "alpha": fitted.alpha, "ks": fitted.ks}
    testable = fitted.n >= MIN_TAIL
    p = 1.0
    if testable:
        columns["resamples"] = FEW_RESAMPLES if len(positive) > MANY else RESAMPLES
        p = columns["p"] = bootstrap(positive, fitted, columns["resamples"], rng)
    ratios = {
        "lognormal": compare_with_lognormal(positive, fitted),
        "exponential": compare_with_exponential(positive, fitted),
    }
    for name, comparison in ratios.items():
        columns[f"{name}_ratio"] = comparison.ratio
        columns[f"{name}_p"] = None if np.isnan(comparison.p) else comparison.p
    return {**columns, "verdict": verdict(len(positive), fitted, p, **ratios)}


def _quantities(run: Run) -> Iterator[tuple[str, IntArray]]:
    for network, matrix in final_networks(run):
        yield f"degree, {network}", np.diff(matrix.indptr).astype(np.int64)
    inside = inside_citations(run)
    columns = (
        ("papers per scientist", run.table("authorships")["scientist"]),
        ("citations per paper", inside["cited"]),
    )
    for name, column in columns:
        yield name, np.asarray(column.value_counts(), dtype=np.int64)
