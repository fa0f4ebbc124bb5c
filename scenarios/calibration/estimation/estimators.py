"""Parameters estimated from a table of simulations: regression-adjusted ABC, ridge and forest.

No estimator is best for every parameter (Carrella 2021, JASSS 24(2)7), so each is judged by
cross-validation, parameter by parameter, and a parameter that none of them recovers is said to be
not identified.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from virsci_society.agents.arrays import FloatArray, IntArray
from virsci_society.scenarios.calibration.estimation.reference_table import (
    MomentScale,
    ReferenceTable,
    epanechnikov,
)

ESTIMATORS = ("abc", "ridge", "forest")
FOLDS = 5
IDENTIFIED = 0.3
"""Least cross-validated R^2 of a parameter that counts as identified."""
TREES = 100
PENALTIES = tuple(10.0 ** np.arange(-2, 5))
FARTHEST = 3.0
"""Largest score of a draw."""
FEWEST = 30
"""Least number of accepted points."""
Predictor = Callable[[FloatArray], FloatArray]
"""Estimates of the parameters at some summaries."""


@dataclass(frozen=True, eq=False)
class PosteriorSample:
    """Weighted draws from the posterior, as standard normal scores of the prior.

    Attributes:
        draws: (accepted points, parameters).
        weights: of the draws, summing to one.
        rows: which points of the table were accepted.
        estimator: by which each parameter was estimated; empty where it is not identified.
        recovered: cross-validated R^2 of every estimator (estimators, parameters).
    """

    draws: FloatArray
    weights: FloatArray
    rows: IntArray
    estimator: tuple[str, ...]
    recovered: FloatArray

    @property
    def centre(self) -> FloatArray:
        """The posterior mean of each parameter; 0, the prior's median, where not identified."""
        known = np.array([bool(name) for name in self.estimator])
        mean: FloatArray = np.where(known, self.weights @ self.draws, 0.0)
        return mean


def weighted_quantile(values: FloatArray, weights: FloatArray, share: float) -> float:
    """The quantile of values with weights, interpolated between them.

    Args:
        values: in any order.
        weights: of each, not all zero.
        share: 0..1.
    """
    order = np.argsort(values, kind="stable")
    mass = np.cumsum(weights[order]) - weights[order] / 2
    return float(np.interp(share, mass / weights.sum(), values[order]))


class Estimation:
    """The estimators of one reference table.

    Args:
        table: of all points.
        scale: of the moments.
        accept: share of the points that are accepted as near.
        seed: of folds and forests.
    """

    def __init__(self, table: ReferenceTable, scale: MomentScale, accept: float, seed: int) -> None:
        self.table, self.scale, self.seed = table, scale, seed
        self.features = scale.standardised(table.moments)
        self._fitted: dict[str, Predictor] = {}
        self._folds: dict[str, FloatArray] = {}
        width = self.features.shape[1]
        self.accepted = min(
            len(table.points), max(FEWEST, 2 * (width + 1), round(accept * len(table.points)))
        )

    def recover(self) -> FloatArray:
        """Cross-validated R^2 of every estimator and parameter (estimators, parameters)."""
        made = np.array([self._out_of_fold(name) for name in ESTIMATORS])
        truth = self.table.points
        gap = ((made - truth) ** 2).sum(axis=1)
        total = ((truth - truth.mean(axis=0)) ** 2).sum(axis=0)
        recovered: FloatArray = 1 - gap / np.maximum(total, 1e-300)
        return recovered

    def posterior(self, observed: FloatArray, recovered: FloatArray) -> PosteriorSample:
        """The posterior at observed moments.

        Args:
            observed: (windows, moments).
            recovered: R^2 of every estimator, of the points drawn from the prior alone.
        """
        distances = self.scale.distances(self.table.moments, observed)
        target = self.scale.standardised(observed[None])[0]
        near, weights = self._near(distances, self.table.weights)
        # Draws stand in the order of the table, whatever their distance.
        order = np.argsort(near)
        rows, kernel = near[order], _shares(weights[order])
        best = recovered.argmax(axis=0)
        chosen = tuple(
            ESTIMATORS[place] if recovered[place, column] >= IDENTIFIED else ""
            for column, place in enumerate(best.tolist())
        )
        draws = self.table.points[rows].copy()
        made = {name: self._draws(name, rows, kernel, target) for name in sorted({*chosen} - {""})}
        for column, name in enumerate(chosen):
            if name:
                # A regression may extrapolate beyond what the prior holds possible.
                draws[:, column] = np.clip(made[name][:, column], -FARTHEST, FARTHEST)
        return PosteriorSample(draws, kernel, rows, chosen, recovered)

    def _near(self, distances: FloatArray, weights: FloatArray) -> tuple[IntArray, FloatArray]:
        """The accepted points, the nearest first, and their weights times the kernel."""
        order = np.argsort(distances, kind="stable")
        near = order[: self.accepted]
        width = float(distances[order[min(self.accepted, len(order) - 1)]])
        return near, epanechnikov(distances[near], width * (1 + 1e-9)) * weights[near]

    def _draws(
        self, name: str, rows: IntArray, kernel: FloatArray, target: FloatArray
    ) -> FloatArray:
        points, features = self.table.points, self.features
        if name == "abc":
            return adjusted(points[rows], features[rows], kernel, target)
        # What a regression misses near the observation, its bias included, is added to it.
        residuals = points[rows] - self._out_of_fold(name)[rows]
        drawn: FloatArray = self._whole(name)(target[None])[0] + residuals
        return drawn

    def _whole(self, name: str) -> Predictor:
        """An estimator fitted to all points, once."""
        if name not in self._fitted:
            self._fitted[name] = self._fit(name, np.arange(len(self.table.points)))
        return self._fitted[name]

    def _out_of_fold(self, name: str) -> FloatArray:
        """Estimates of every point from the points of the other folds."""
        if name not in self._folds:
            n = len(self.table.points)
            # The same folds for every estimator, so that their errors compare.
            fold = np.random.default_rng([self.seed, n]).permutation(n) % FOLDS
            made = np.zeros_like(self.table.points)
            for part in range(FOLDS):
                inside, outside = np.flatnonzero(fold == part), np.flatnonzero(fold != part)
                made[inside] = self._fit(name, outside)(self.features[inside])
            self._folds[name] = made
        return self._folds[name]

    def _fit(self, name: str, rows: IntArray) -> Predictor:
        points, features = self.table.points[rows], self.features[rows]
        weights = self.table.weights[rows]
        if name == "abc":
            return lambda wanted: np.array(
                [self._local_mean(points, features, weights, one) for one in wanted]
            )
        if name == "ridge":
            return _ridge(points, features, weights)
        return _forest(points, features, weights, self.seed)

    def _local_mean(
        self, points: FloatArray, features: FloatArray, weights: FloatArray, wanted: FloatArray
    ) -> FloatArray:
        distances = np.sqrt(((features - wanted) ** 2).mean(axis=1))
        near, kernel = self._near(distances, weights)
        kernel = _shares(kernel)
        mean: FloatArray = kernel @ adjusted(points[near], features[near], kernel, wanted)
        return mean


def _shares(kernel: FloatArray) -> FloatArray:
    """Weights that sum to one; all alike where no point has any."""
    kernel = kernel if kernel.sum() > 0 else np.ones(len(kernel))
    shares: FloatArray = kernel / kernel.sum()
    return shares


def adjusted(
    points: FloatArray, features: FloatArray, kernel: FloatArray, target: FloatArray
) -> FloatArray:
    """Accepted points, moved to where the target would be by a local linear regression.

    Args:
        points: scores of the parameters (accepted, parameters).
        features: summaries of each (accepted, summaries).
        kernel: weights, summing to one.
        target: the observed summaries.

    Source:
        Beaumont, Zhang and Balding (2002), Genetics 162:2025; a ridge penalty (Blum 2010) keeps
        the regression determined where few points are accepted.
    """
    gaps = features - target
    design = np.column_stack([np.ones(len(gaps)), gaps])
    weighted = design * kernel[:, None]
    penalty = 1e-3 * np.diag(weighted.T @ design).mean() * np.eye(design.shape[1])
    penalty[0, 0] = 0.0
    beta = np.linalg.lstsq(weighted.T @ design + penalty, weighted.T @ points, rcond=None)[0]
    moved: FloatArray = points - gaps @ beta[1:]
    return moved


def _ridge(points: FloatArray, features: FloatArray, weights: FloatArray) -> Predictor:
    from sklearn.linear_model import RidgeCV

    centre, scale = features.mean(axis=0), np.maximum(features.std(axis=0), 1e-12)
    known = _expanded((features - centre) / scale)
    models = [RidgeCV(alphas=PENALTIES).fit(known, column, weights) for column in points.T]

    def predict(wanted: FloatArray) -> FloatArray:
        asked = _expanded((wanted - centre) / scale)
        return np.stack([model.predict(asked) for model in models], axis=1)

    return predict


def _expanded(features: FloatArray) -> FloatArray:
    """Features and their squares."""
    return np.concatenate([features, features**2], axis=1)


def _forest(points: FloatArray, features: FloatArray, weights: FloatArray, seed: int) -> Predictor:
    from sklearn.ensemble import RandomForestRegressor

    models = [
        RandomForestRegressor(
            n_estimators=TREES,
            min_samples_leaf=5,
            max_features=0.5,
            random_state=(seed + number) % 2**32,
            n_jobs=1,
        ).fit(features, column, weights)
        for number, column in enumerate(points.T)
    ]

    def predict(wanted: FloatArray) -> FloatArray:
        return np.stack([model.predict(wanted) for model in models], axis=1)

    return predict
