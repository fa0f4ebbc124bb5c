"""Powerlaw: the tail of a distribution of counts, after Clauset, Shalizi and Newman (2009).

Discrete throughout: degrees, papers and citations are whole numbers. The least value of the tail
is the one at which the fitted law and the data are closest (Kolmogorov-Smirnov); a bootstrap
tells whether data of that law would lie as far away, and ratios of likelihoods (Vuong 1989)
whether a lognormal or an exponential does better on the same tail.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special, stats

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

LEAST_TAIL = 50
"""A tail of fewer values decides nothing (Clauset et al. 2009, section 3.4)."""
CANDIDATES = 60
"""At most so many values are tried as the least of the tail, evenly spread by rank."""
STEEPEST = 50.0
REJECTED = 0.1
"""A fit whose p is not above this is rejected (Clauset et al. 2009); so is the worse of two laws
whose ratio of likelihoods has a p below it."""
LISTED = 10_000
"""So many values of a tail are drawn exactly; beyond them the continuous law is rounded."""


class Tail(NamedTuple):
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
class Ratio:
    """Likelihood of the power law over that of another law on the same tail.

    Attributes:
        ratio: log of it; positive where the power law is likelier.
        p: two-sided, of a ratio that is zero; NaN where the two laws agree everywhere.
    """

    ratio: float
    p: float


def fit(values: Any, xmin: int | None = None) -> Tail | None:
    """Fit the tail; None where there are not two different positive values.

    Args:
        values: whole numbers; those below 1 are left out.
        xmin: least value of the tail; the best one if not given.
    """
    found, counts = _counted(values)
    if xmin is not None:
        counts, found = counts[found >= xmin], found[found >= xmin]
        tried = np.array([xmin], dtype=np.float64)
    else:
        tried = found[:-1]
        if len(tried) > CANDIDATES:
            tried = tried[np.linspace(0, len(tried) - 1, CANDIDATES).round().astype(int)]
    if len(found) < 2 or not len(tried):
        return None
    place = np.searchsorted(found, tried)
    held = np.cumsum(counts[::-1])[::-1]
    logs = np.cumsum((counts * np.log(found))[::-1])[::-1]
    alpha = _exponents(tried, logs[place] / held[place])
    ks = _distances(found, held, tried, place, alpha)
    best = int(np.argmin(ks))
    return Tail(int(tried[best]), float(alpha[best]), float(ks[best]), int(held[place[best]]))


def _counted(values: Any) -> tuple[Floats, Floats]:
    given = np.asarray(values, dtype=np.int64)
    found, counts = np.unique(given[given > 0], return_counts=True)
    return found.astype(np.float64), counts.astype(np.float64)


def _exponents(xmin: Floats, mean_log: Floats) -> Floats:
    """Maximum-likelihood exponents by Newton's method on log zeta, all at once."""
    step = 1e-4
    spread = np.maximum(mean_log - np.log(xmin - 0.5), 1e-9)
    alpha = np.clip(1 + 1 / spread, 1.05, STEEPEST)
    for _ in range(40):
        below, here, above = (
            np.log(special.zeta(np.maximum(alpha + shift, 1 + 1e-9), xmin))
            for shift in (-step, 0.0, step)
        )
        slope = (above - below) / (2 * step) + mean_log
        bend = np.maximum((above - 2 * here + below) / step**2, 1e-6)
        # The function is convex in alpha; half the way down to 1 keeps a long step inside.
        new = np.clip(alpha - slope / bend, (alpha + 1) / 2, np.minimum(2 * alpha, STEEPEST))
        step_taken = float(np.abs(new - alpha).max())
        alpha = np.asarray(new, dtype=np.float64)
        if step_taken < 1e-7:
            break
    return alpha


def _distances(
    found: Floats, held: Floats, tried: Floats, place: NDArray[np.intp], alpha: Floats
) -> Floats:
    """Kolmogorov-Smirnov distance of each candidate; the data step only at the values found."""
    ks = np.empty(len(tried))
    for row, (start, exponent) in enumerate(zip(place, alpha, strict=True)):
        values, seen = found[start:], held[start:] / held[start]
        whole = special.zeta(exponent, tried[row])
        at = np.abs(special.zeta(exponent, values) / whole - seen).max()
        after = special.zeta(exponent, values + 1) / whole - np.append(seen[1:], 0.0)
        ks[row] = max(at, np.abs(after).max())
    return ks


def bootstrap(values: Any, tail: Tail, resamples: int, rng: np.random.Generator) -> float:
    """Share of samples of the fitted law that lie farther from their own fit (0..1).

    A sample takes values below the tail from the data and the others from the law, and is fitted
    anew, its least value too (Clauset et al. 2009, section 4.1). Standard error at p = 0.1:
    0.03 for 100 resamples.
    """
    given = np.asarray(values, dtype=np.int64)
    given = given[given > 0]
    body = given[given < tail.xmin]
    farther = 0
    for _ in range(resamples):
        count = int(rng.binomial(len(given), tail.n / len(given)))
        parts = [drawn(tail, count, rng)]
        if count < len(given):
            parts.append(rng.choice(body, len(given) - count))
        again = fit(np.concatenate(parts))
        farther += again is not None and again.ks >= tail.ks
    return farther / resamples


def drawn(tail: Tail, count: int, rng: np.random.Generator) -> Whole:
    """Whole numbers of a power law (Clauset et al. 2009, appendix D)."""
    listed = np.arange(tail.xmin, tail.xmin + LISTED + 1, dtype=np.float64)
    above = special.zeta(tail.alpha, listed) / special.zeta(tail.alpha, float(tail.xmin))
    u = 1.0 - rng.random(count)
    place = np.searchsorted(-above, -u, side="right") - 1
    values = tail.xmin + place.astype(np.int64)
    far = place >= LISTED
    if far.any():
        edge = listed[-1]
        stretched = (edge - 0.5) * (u[far] / above[-1]) ** (-1 / (tail.alpha - 1)) + 0.5
        values[far] = np.minimum(stretched, 2.0**53).astype(np.int64)
    return values


def against_exponential(values: Any, tail: Tail) -> Ratio:
    """The power law against p(x) ~ exp(-rate x) on the same tail."""
    found, counts = _of_tail(values, tail)
    over = np.average(found - tail.xmin, weights=counts)
    rate = np.log1p(1 / over)
    other = np.log(-np.expm1(-rate)) - rate * (found - tail.xmin)
    return _vuong(_log_law(found, tail), other, counts)


def against_lognormal(values: Any, tail: Tail) -> Ratio:
    """The power law against a lognormal, cut at the tail and rounded to whole numbers."""
    found, counts = _of_tail(values, tail)
    logs = np.log(found)
    middle = float(np.average(logs, weights=counts))
    wide = float(np.sqrt(np.average((logs - middle) ** 2, weights=counts)))

    def loss(guess: Floats) -> float:
        return -float(counts @ _log_lognormal(found, tail.xmin, guess[0], np.exp(guess[1])))

    start = np.array([middle, np.log(max(wide, 1e-3))])
    options = {"xatol": 1e-6, "fatol": 1e-8, "maxiter": 2000}
    best = optimize.minimize(loss, start, method="Nelder-Mead", options=options).x
    other = _log_lognormal(found, tail.xmin, best[0], np.exp(best[1]))
    return _vuong(_log_law(found, tail), other, counts)


def _of_tail(values: Any, tail: Tail) -> tuple[Floats, Floats]:
    found, counts = _counted(values)
    return found[found >= tail.xmin], counts[found >= tail.xmin]


def _log_law(found: Floats, tail: Tail) -> Floats:
    whole = np.log(special.zeta(tail.alpha, float(tail.xmin)))
    return np.asarray(-tail.alpha * np.log(found) - whole)


def _log_lognormal(found: Floats, xmin: int, mu: float, sigma: float) -> Floats:
    """Log probabilities of the rounded lognormal above xmin - 1/2, safe far out in its tail."""
    edges = [(np.log(found + half) - mu) / sigma for half in (-0.5, 0.5)]
    low, high = (stats.norm.logsf(edge) for edge in edges)
    whole = stats.norm.logsf((np.log(xmin - 0.5) - mu) / sigma)
    # Where both ends of a step have underflowed to the same number there is nothing between.
    between = np.maximum(-np.expm1(np.minimum(high - low, 0.0)), 1e-300)
    return np.asarray(low + np.log(between) - whole)


def _vuong(one: Floats, other: Floats, counts: Floats) -> Ratio:
    """Log ratio of likelihoods and its p (Vuong 1989; Clauset et al. 2009, appendix C)."""
    apart, n = one - other, counts.sum()
    ratio = float(counts @ apart)
    spread = float(np.sqrt(max(counts @ (apart - ratio / n) ** 2 / n, 0.0)))
    if spread == 0:
        return Ratio(ratio, float("nan"))
    return Ratio(ratio, float(special.erfc(abs(ratio) / (np.sqrt(2 * n) * spread))))


def verdict(
    n: int, tail: Tail | None, p: float, lognormal: Ratio | None, exponential: Ratio | None
) -> str:
    """What fit, bootstrap and ratios say together, in a sentence.

    A power law has a tail of at least 50 values, is not rejected, is not worse than another law,
    and is better than an exponential: a tail that an exponential fits as well is not heavy
    (Clauset et al. 2009, section 6; Broido and Clauset 2019 ask for the same 50).

    Args:
        n: positive values, those of the tail among them.
        tail: the fit, or None.
        p: of the bootstrap.
        lognormal: the power law against it.
        exponential: likewise.
    """
    if tail is None or n < LEAST_TAIL:
        return f"undecided: {n} values"
    if tail.n < LEAST_TAIL:
        return f"not a power law: it holds for {tail.n} of {n} values only"
    if p <= REJECTED:
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


def _favours(found: Ratio, sign: int) -> bool:
    return found.ratio * sign > 0 and found.p < REJECTED
