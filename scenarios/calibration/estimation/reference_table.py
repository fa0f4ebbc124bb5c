"""Distances between simulated and observed moments, and the weights of simulated points.

Parameters are points of a space in which the prior is a standard normal distribution of each, so
that a logit-normal prior is on the logit scale and a log-uniform one is bounded on the log scale.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from scipy import linalg

from virsci_society.agents.arrays import FloatArray, IntArray

FLOOR = 1e-9


@dataclass(frozen=True, eq=False)
class ReferenceTable:
    """Points of the parameter space with the moments that one simulation of each gave.

    Attributes:
        points: standard normal scores of the parameters (points, parameters).
        moments: of every window (points, windows, moments).
        weights: prior density over the density from which each point was drawn (points,).
    """

    points: FloatArray
    moments: FloatArray
    weights: FloatArray

    def chosen(self, rows: IntArray) -> ReferenceTable:
        """Some of the points."""
        return ReferenceTable(self.points[rows], self.moments[rows], self.weights[rows])


@dataclass(frozen=True, eq=False)
class MomentScale:
    """The scale on which moments are compared: chance between seeds, and what the model misses.

    Attributes:
        roots: lower Cholesky factor of the covariance of each window (windows, moments, moments).
        summary: lower Cholesky factor of the covariance of the summaries.
        sloped: whether the slope of each moment over the windows is a summary, beside its mean.
    """

    roots: FloatArray
    summary: FloatArray
    sloped: bool

    @classmethod
    def of(cls, seeds: FloatArray, discrepancy: FloatArray, *, sloped: bool) -> MomentScale:
        """Make the scale.

        Args:
            seeds: moments of one point with many seeds (seeds, windows, moments).
            discrepancy: variance of each moment between real windows (moments,).
            sloped: whether slopes over the windows are summaries.
        """
        windows, width = seeds.shape[1:]
        roots = [
            _root(np.cov(seeds[:, one], rowvar=False).reshape(width, width) + np.diag(discrepancy))
            for one in range(windows)
        ]
        # Windows differ from each other by the discrepancy, so that their mean does by a part.
        made = summaries(seeds, sloped)
        noise = np.cov(made, rowvar=False).reshape(made.shape[1], made.shape[1])
        spread = np.tile(discrepancy / windows, made.shape[1] // width)
        return cls(np.array(roots), _root(noise + np.diag(spread)), sloped)

    def distances(self, moments: FloatArray, observed: FloatArray) -> FloatArray:
        """Root mean square of the standardised differences over all windows and moments.

        Args:
            moments: (points, windows, moments).
            observed: (windows, moments).

        Returns:
            Mahalanobis distances over the root of the number of moments: about 1 for a model that
            is right.
        """
        total = np.zeros(len(moments))
        for window, root in enumerate(self.roots):
            gap = (moments[:, window] - observed[window]).T
            total += (linalg.solve_triangular(root, gap, lower=True) ** 2).sum(axis=0)
        distances: FloatArray = np.sqrt(total / (observed.shape[0] * observed.shape[1]))
        return distances

    def standardised(self, moments: FloatArray) -> FloatArray:
        """Summaries of simulated moments on a scale where their noise is the unit matrix."""
        rows: FloatArray = linalg.solve_triangular(
            self.summary, summaries(moments, self.sloped).T, lower=True
        ).T
        return rows


def summaries(moments: FloatArray, sloped: bool) -> FloatArray:
    """The mean of every moment over the windows and, if wanted, its slope.

    Args:
        moments: (points, windows, moments).
        sloped: whether slopes are added.
    """
    mean: FloatArray = moments.mean(axis=1)
    windows = moments.shape[1]
    if not sloped or windows < 2:
        return mean
    place = np.arange(windows) - (windows - 1) / 2
    slope = np.tensordot(moments, place / (place @ place), axes=(1, 0))
    return np.concatenate([mean, slope], axis=1)


def between_windows(observed: FloatArray) -> FloatArray:
    """Variance of each moment between real windows, free of a trend.

    Half the mean square of successive differences (von Neumann et al. 1941): a trend over the
    windows, which the parameters follow, adds little to it.

    Args:
        observed: (windows, moments), in order of time.
    """
    if len(observed) < 2:
        return np.zeros(observed.shape[1])
    variance: FloatArray = (np.diff(observed, axis=0) ** 2).mean(axis=0) / 2
    return variance


def epanechnikov(distances: FloatArray, bandwidth: float) -> FloatArray:
    """Epanechnikov's kernel: 1 - (distance / bandwidth)^2, and 0 beyond the bandwidth."""
    weights: FloatArray = np.maximum(0.0, 1 - (distances / max(bandwidth, FLOOR)) ** 2)
    return weights


def proposal(points: FloatArray, weights: FloatArray, cube: FloatArray) -> FloatArray:
    """New points around old ones: a mixture of normal distributions.

    Args:
        points: old ones (points, parameters).
        weights: of the old ones; need not sum to one.
        cube: points of the unit cube with one dimension more than there are parameters: the first
            one says around which old point.

    Returns:
        (len(cube), parameters).
    """
    shares = np.cumsum(weights / weights.sum())
    chosen = np.minimum(np.searchsorted(shares, cube[:, 0], side="right"), len(points) - 1)
    root = _root(proposal_covariance(points, weights))
    # The normal quantile of 0 or of 1 is infinite.
    steps = scipy.stats.norm.ppf(np.clip(cube[:, 1:], 1e-6, 1 - 1e-6))
    moved: FloatArray = points[chosen] + steps @ root.T
    return moved


def proposal_covariance(points: FloatArray, weights: FloatArray) -> FloatArray:
    """Twice the weighted covariance of the points (Beaumont et al. 2009), never singular."""
    width = points.shape[1]
    covariance = np.cov(points, rowvar=False, aweights=weights).reshape(width, width)
    wide: FloatArray = 2 * covariance + 1e-4 * np.eye(width)
    return wide


def importance(
    points: FloatArray, first: int, centres: FloatArray, weights: FloatArray
) -> FloatArray:
    """Prior density over the density of the mixture of both waves, for all points.

    Args:
        points: of both waves.
        first: how many of them are of the first wave, drawn from the prior.
        centres: the points around which the second wave was drawn.
        weights: of these.

    Source:
        Veach and Guibas (1995), balance heuristic; Beaumont et al. (2009), Biometrika 96:983.
    """
    prior = scipy.stats.norm.logpdf(points).sum(axis=1)
    second = len(points) - first
    if not second:
        return np.ones(len(points))
    covariance = proposal_covariance(centres, weights)
    root, width = _root(covariance), points.shape[1]
    constant = width * np.log(2 * np.pi) / 2 + np.log(np.diag(root)).sum()
    shares = weights / weights.sum()
    density = np.zeros(len(points))
    for centre, share in zip(centres, shares, strict=True):
        gap = linalg.solve_triangular(root, (points - centre).T, lower=True)
        density += share * np.exp(-(gap**2).sum(axis=0) / 2 - constant)
    mixture = (first * np.exp(prior) + second * density) / len(points)
    result: FloatArray = np.exp(prior) / np.maximum(mixture, 1e-300)
    return result


def _root(covariance: FloatArray) -> FloatArray:
    """Cholesky factor of a covariance; a little is added to the diagonal where it is singular."""
    diagonal = np.diag(covariance)
    scale = np.maximum(diagonal, FLOOR)
    root: FloatArray = linalg.cholesky(covariance + np.diag(1e-3 * scale + FLOOR), lower=True)
    return root
