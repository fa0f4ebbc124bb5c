"""The fit of what cannot be counted, by two waves of simulations and the posterior from them.

A point is a standard normal score for each key with a prior, so that a prior is a standard normal
distribution of each score. No estimator is best for every parameter (Carrella 2021, JASSS 24(2)7):
regression-adjusted approximate Bayesian computation, ridge and forest are judged by
cross-validation, parameter by parameter, and a parameter that none of them recovers is said to be
not identified.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from scipy import linalg, stats

from virsci_society.agents.arrays import BoolArray, FloatArray, IntArray
from virsci_society.agents.errors import SocietyError
from virsci_society.scenarios.calibration import parameters as keys
from virsci_society.scenarios.calibration.calibration_file import PreparedCalibration
from virsci_society.scenarios.calibration.counting import CountedValues, Counting
from virsci_society.scenarios.calibration.windows import (
    MEASURED,
    Corpus,
    Job,
    ObservedWindow,
    Simulations,
    Tell,
    Window,
)

NOISE, FIRST, SECOND = "noise", "first_wave", "second_wave"
CHECK, HELD_OUT_DRAWS = "check", "held_out_draws"
STAGES = (NOISE, FIRST, SECOND, CHECK, HELD_OUT_DRAWS)
"""Stages of a calibration, in the order in which they are simulated."""
IMPLAUSIBLE = 3.0
"""Distance beyond which a point is dropped (Pukelsheim's three-sigma rule)."""
FEWEST_PLAUSIBLE = 0.1
"""Least share of the first wave that is kept, however far all of it is."""
EARLIER_WINDOWS = 4
"""Windows before the fitted ones that show how much windows differ, at most."""
ESTIMATORS = ("abc", "ridge", "forest")
FOLDS = 5
IDENTIFIED = 0.3
"""Least cross-validated R^2 of a parameter that counts as identified."""
TREES = 100
PENALTIES = tuple(10.0 ** np.arange(-2, 5))
FARTHEST = 3.0
"""Largest score of a draw."""
ACCEPT, FEWEST = 0.05, 30
"""Share and least number of the points that are accepted as near."""
FLOOR = 1e-9
Predictor = Callable[[FloatArray], FloatArray]
"""Estimates of the parameters at some summaries."""


def sobol_points(size: int, count: int, seed: int) -> FloatArray:
    """Scores at a scrambled Sobol sequence (count, size)."""
    return np.asarray(stats.norm.ppf(_cube(size, count, seed)), dtype=np.float64)


def _cube(size: int, count: int, seed: int) -> FloatArray:
    whole = stats.qmc.Sobol(size, scramble=True, rng=np.random.default_rng([seed, size]))
    # The sequence is balanced over powers of two; what is left over is not used.
    points = whole.random_base2(int(np.ceil(np.log2(max(2, count)))))[:count]
    # The normal quantile of 0 or of 1 is infinite.
    return np.clip(np.asarray(points, dtype=np.float64), 1e-6, 1 - 1e-6)


def job_seed(seed: int, stage: str, point: int) -> int:
    """The seed of the simulations of a point, which all windows of the point share."""
    state = np.random.SeedSequence([seed, STAGES.index(stage), point]).generate_state(1, np.uint64)
    # Seeds of a society are below 2^63.
    return int(state[0] >> np.uint64(1))


def second_points(points: FloatArray, weights: FloatArray, count: int, seed: int) -> FloatArray:
    """Scores around old points: a mixture of normal distributions (count, dimensions)."""
    cube = _cube(points.shape[1] + 1, count, seed)
    shares = np.cumsum(weights / weights.sum())
    # The first dimension says around which old point.
    chosen = np.minimum(np.searchsorted(shares, cube[:, 0], side="right"), len(points) - 1)
    root = _root(proposal_covariance(points, weights))
    moved: FloatArray = points[chosen] + stats.norm.ppf(cube[:, 1:]) @ root.T
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
    """Prior density over the density of the mixture of both waves (points,).

    The balance heuristic of Veach and Guibas (1995); Beaumont et al. (2009), Biometrika 96:983.

    Args:
        centres: the points around which the second wave was drawn.
    """
    prior = stats.norm.logpdf(points).sum(axis=1)
    second = len(points) - first
    root, width = _root(proposal_covariance(centres, weights)), points.shape[1]
    constant = width * np.log(2 * np.pi) / 2 + np.log(np.diag(root)).sum()
    density = np.zeros(len(points))
    for centre, share in zip(centres, weights / weights.sum(), strict=True):
        gap = linalg.solve_triangular(root, (points - centre).T, lower=True)
        density += share * np.exp(-(gap**2).sum(axis=0) / 2 - constant)
    mixture = (first * np.exp(prior) + second * density) / len(points)
    result: FloatArray = np.exp(prior) / np.maximum(mixture, 1e-300)
    return result


def _root(covariance: FloatArray) -> FloatArray:
    """Cholesky factor of a covariance; a little is added to the diagonal where it is singular."""
    scale = np.maximum(np.diag(covariance), FLOOR)
    root: FloatArray = linalg.cholesky(covariance + np.diag(1e-3 * scale + FLOOR), lower=True)
    return root


def between_windows(observed: FloatArray) -> FloatArray:
    """Variance of each measure between real windows (windows, measures), free of a trend.

    Half the mean square of successive differences (von Neumann et al. 1941): a trend over the
    windows, which the parameters follow, adds little to it.
    """
    if len(observed) < 2:
        return np.zeros(observed.shape[1])
    variance: FloatArray = (np.diff(observed, axis=0) ** 2).mean(axis=0) / 2
    return variance


def epanechnikov(distances: FloatArray, bandwidth: float) -> FloatArray:
    """Epanechnikov's kernel: 1 - (distance / bandwidth)^2, and 0 beyond the bandwidth."""
    weights: FloatArray = np.maximum(0.0, 1 - (distances / max(bandwidth, FLOOR)) ** 2)
    return weights


@dataclass(frozen=True, eq=False)
class MomentScale:
    """The scale on which moments are compared: chance between seeds, and what the model misses."""

    roots: FloatArray
    summary: FloatArray

    @classmethod
    def of(cls, seeds: FloatArray, discrepancy: FloatArray) -> MomentScale:
        """Make the scale.

        Args:
            discrepancy: variance of each moment between real windows (moments,).
        """
        windows, width = seeds.shape[1:]

        def covariance(rows: FloatArray, added: FloatArray) -> FloatArray:
            return _root(np.cov(rows, rowvar=False).reshape(width, width) + np.diag(added))

        roots = [covariance(seeds[:, one], discrepancy) for one in range(windows)]
        # Windows differ from each other by the discrepancy, so that their mean does by a part.
        return cls(np.array(roots), covariance(seeds.mean(axis=1), discrepancy / windows))

    def distances(self, moments: FloatArray, observed: FloatArray) -> FloatArray:
        """Root mean square of the standardised differences over all windows and moments."""
        total = np.zeros(len(moments))
        for window, root in enumerate(self.roots):
            gap = (moments[:, window] - observed[window]).T
            total += (linalg.solve_triangular(root, gap, lower=True) ** 2).sum(axis=0)
        distances: FloatArray = np.sqrt(total / observed.size)
        return distances

    def summaries(self, moments: FloatArray) -> FloatArray:
        """Means over windows on a scale where their noise is the unit matrix (points, moments)."""
        mean = moments.mean(axis=1)
        rows: FloatArray = linalg.solve_triangular(self.summary, mean.T, lower=True).T
        return rows


@dataclass(frozen=True, eq=False)
class PosteriorSample:
    """Weighted draws from the posterior, as standard normal scores of the prior."""

    draws: FloatArray
    weights: FloatArray
    estimator: tuple[str, ...]
    recovered: FloatArray

    @property
    def centre(self) -> FloatArray:
        """The posterior mean of each parameter; 0, the prior's median, where not identified."""
        known = np.array([bool(name) for name in self.estimator])
        mean: FloatArray = np.where(known, self.weights @ self.draws, 0.0)
        return mean

    def resampled(self, count: int) -> FloatArray:
        """Draws with equal weights, by systematic resampling (count, parameters)."""
        edges = np.cumsum(self.weights)
        places = (np.arange(count) + 0.5) / count * edges[-1]
        chosen: FloatArray = self.draws[np.searchsorted(edges, places, side="right")]
        return chosen


class Estimation:
    """The estimators on one table of simulations."""

    def __init__(
        self,
        points: FloatArray,
        moments: FloatArray,
        weights: FloatArray,
        scale: MomentScale,
        seed: int,
    ) -> None:
        self.points, self.moments, self.weights = points, moments, weights
        self.scale, self.seed = scale, seed
        self.features = scale.summaries(moments)
        width, n = self.features.shape[1], len(points)
        self.accepted = min(n, max(FEWEST, 2 * (width + 1), round(ACCEPT * n)))

    def recover(self) -> FloatArray:
        """Cross-validated R^2 of every estimator and parameter (estimators, parameters)."""
        made = np.array([self._out_of_fold(name) for name in ESTIMATORS])
        gap = ((made - self.points) ** 2).sum(axis=1)
        total = ((self.points - self.points.mean(axis=0)) ** 2).sum(axis=0)
        recovered: FloatArray = 1 - gap / np.maximum(total, 1e-300)
        return recovered

    def posterior(self, observed: FloatArray, recovered: FloatArray) -> PosteriorSample:
        """The posterior at observed moments."""
        distances = self.scale.distances(self.moments, observed)
        target = self.scale.summaries(observed[None])[0]
        near, weights = self._near(distances, self.weights)
        # Draws are in the order of the table, whatever their distance.
        order = np.argsort(near)
        rows, kernel = near[order], _shares(weights[order])
        best = np.where(recovered.max(axis=0) >= IDENTIFIED, recovered.argmax(axis=0), -1)
        draws = self.points[rows].copy()
        for place in sorted({*best.tolist()} - {-1}):
            name = ESTIMATORS[place]
            if name == "abc":
                made = adjusted(self.points[rows], self.features[rows], kernel, target)
            else:
                # What a regression misses near the observation, its bias included, is added to it.
                residuals = self.points[rows] - self._out_of_fold(name)[rows]
                made = self._fit(name, np.arange(len(self.points)))(target[None])[0] + residuals
            # A regression may extrapolate beyond what the prior holds possible.
            draws[:, best == place] = np.clip(made[:, best == place], -FARTHEST, FARTHEST)
        chosen = tuple("" if place < 0 else ESTIMATORS[place] for place in best.tolist())
        return PosteriorSample(draws, kernel, chosen, recovered)

    def _near(self, distances: FloatArray, weights: FloatArray) -> tuple[IntArray, FloatArray]:
        """The accepted points, the nearest first, and their weights times the kernel."""
        order = np.argsort(distances, kind="stable")
        near = order[: self.accepted]
        width = float(distances[order[min(self.accepted, len(order) - 1)]])
        return near, epanechnikov(distances[near], width * (1 + 1e-9)) * weights[near]

    def _out_of_fold(self, name: str) -> FloatArray:
        """Estimates of every point from the points of the other folds."""
        n = len(self.points)
        # The same folds for every estimator, so that their errors compare.
        fold = np.random.default_rng([self.seed, n]).permutation(n) % FOLDS
        made = np.zeros_like(self.points)
        for part in range(FOLDS):
            inside, outside = np.flatnonzero(fold == part), np.flatnonzero(fold != part)
            made[inside] = self._fit(name, outside)(self.features[inside])
        return made

    def _fit(self, name: str, rows: IntArray) -> Predictor:
        points, features, weights = self.points[rows], self.features[rows], self.weights[rows]
        if name == "ridge":
            return _ridge(points, features, weights)
        if name == "forest":
            return _forest(points, features, weights, self.seed)

        def local_mean(wanted: FloatArray) -> FloatArray:
            distances = np.sqrt(((features - wanted) ** 2).mean(axis=1))
            near, kernel = self._near(distances, weights)
            kernel = _shares(kernel)
            mean: FloatArray = kernel @ adjusted(points[near], features[near], kernel, wanted)
            return mean

        return lambda wanted: np.array([local_mean(one) for one in wanted])


def _shares(kernel: FloatArray) -> FloatArray:
    """Weights that sum to one; all alike where no point has any."""
    kernel = kernel if kernel.sum() > 0 else np.ones(len(kernel))
    shares: FloatArray = kernel / kernel.sum()
    return shares


def adjusted(
    points: FloatArray, features: FloatArray, kernel: FloatArray, target: FloatArray
) -> FloatArray:
    """Accepted points, moved to where the target would be by a local linear regression.

    Beaumont, Zhang and Balding (2002), Genetics 162:2025; a ridge penalty (Blum 2010) keeps the
    regression determined where few points are accepted.
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
    """A ridge regression of each parameter on the summaries and their squares."""
    from sklearn.linear_model import RidgeCV

    centre, scale = features.mean(axis=0), np.maximum(features.std(axis=0), 1e-12)

    def expanded(wanted: FloatArray) -> FloatArray:
        standard = (wanted - centre) / scale
        return np.concatenate([standard, standard**2], axis=1)

    known = expanded(features)
    models = [RidgeCV(alphas=PENALTIES).fit(known, column, weights) for column in points.T]
    return lambda wanted: np.stack([one.predict(expanded(wanted)) for one in models], axis=1)


def _forest(points: FloatArray, features: FloatArray, weights: FloatArray, seed: int) -> Predictor:
    """A random forest for each parameter."""
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
    return lambda wanted: np.stack([one.predict(wanted) for one in models], axis=1)


@dataclass(frozen=True, eq=False)
class Waves:
    """The simulated points of both waves."""

    points: FloatArray
    first: int
    moments: FloatArray
    distances: FloatArray
    plausible: BoolArray
    weights: FloatArray


class Fit:
    """The fit of one calibration."""

    def __init__(
        self,
        calibration: PreparedCalibration,
        folder: Path,
        workers: int = 1,
        tell: Tell = lambda text: None,
    ) -> None:
        self.calibration, self.file, self.corpus = calibration, calibration.file, calibration.corpus
        self.tell = tell
        # In the order of the table: that of a file must change no point of the design.
        self.names = tuple(key for key in keys.PARAMETERS if key in self.file.priors)
        self.simulations = Simulations(folder, calibration.simulator, workers)
        self.targets = [MEASURED.index(name) for name in self.file.targets]
        self.fit_windows = sorted(self.file.fit, key=lambda one: one.first)

    @cached_property
    def windows(self) -> list[ObservedWindow]:
        """The fit windows, in order of time."""
        return [ObservedWindow.of(self.corpus, one) for one in self.fit_windows]

    @cached_property
    def counting(self) -> Counting:
        """Counts over the papers before the first held-out year."""
        since, end = self.fit_windows[0].first, self.file.first_held_out
        return Counting(self.corpus, end, since, self.calibration.leader, self.file.seed)

    @cached_property
    def counted(self) -> CountedValues:
        """What was counted before the first held-out year."""
        return self.counting.values()

    @cached_property
    def settings(self) -> list[dict[str, float]]:
        """Counted values in every fit window."""
        pooled = self.counted.values()
        found = []
        for one in self.fit_windows:
            level = self.counting.in_window(one)
            if keys.SIZE not in self.calibration.base_values:
                # Sizes of the papers before a window are those of the window only with their trend.
                level[keys.SIZE_TREND] = pooled[keys.SIZE_TREND]
            found.append(self.of_base({**pooled, **level}))
        return found

    def of_base(self, values: Mapping[str, float]) -> dict[str, float]:
        """Those counted values whose keys the base has."""
        known = self.calibration.base_values
        return {key: values[key] for key in keys.PARAMETERS if key in known and key in values}

    def parameters(self, scores: FloatArray, counted: Mapping[str, float]) -> dict[str, float]:
        """The counted and fitted parameters of a point (parameters,) in a window."""
        found = dict(counted)
        for key, score in zip(self.names, scores.tolist(), strict=True):
            found[key] = self.file.priors[key].value(key, score, counted.get(key))
        return found

    @cached_property
    def observed(self) -> FloatArray:
        """The targets in every fit window (windows, targets)."""
        rows = np.array([self._targets_of(one) for one in self.windows])
        for place, name in enumerate(self.file.targets):
            unknown = [self.windows[n].name for n in np.flatnonzero(np.isnan(rows[:, place]))]
            if unknown:
                self.calibration.diagnostics.add(
                    ("targets", place), f"{name} is never measured in {', '.join(unknown)}"
                )
        self.calibration.diagnostics.raise_faults()
        return rows

    @cached_property
    def real_windows(self) -> list[ObservedWindow]:
        """The fit windows and some of as many years before them, in order of time."""
        return [*windows_before(self.corpus, self.fit_windows[0], EARLIER_WINDOWS), *self.windows]

    @cached_property
    def scale(self) -> MomentScale:
        """The scale of the moments, from seeds at the centre and real windows."""
        centre = np.zeros((self.file.effort.noise, len(self.names)))
        seeds = self.moments(self.simulate(NOISE, centre, self.settings, self.windows))
        kept = np.isfinite(seeds).all(axis=(1, 2))
        if kept.sum() < 5:
            raise SocietyError(
                "the simulations at the centre of the priors have no known targets; widen the "
                "windows or change the targets"
            )
        rows = np.array([self._targets_of(one) for one in self.real_windows])
        return MomentScale.of(seeds[kept], between_windows(rows[np.isfinite(rows).all(axis=1)]))

    @cached_property
    def waves(self) -> Waves:
        """Both waves of simulations."""
        effort, seed = self.file.effort, self.file.seed
        first, scale = effort.first_wave, self.scale
        points = sobol_points(len(self.names), first, seed)
        moments = self.moments(self.simulate(FIRST, points, self.settings, self.windows))
        distances = self._distances(scale, moments)
        limit = max(IMPLAUSIBLE, float(np.quantile(distances, FEWEST_PLAUSIBLE)))
        weights = np.ones(first)
        if effort.second_wave:
            near = np.flatnonzero(distances <= limit)
            # A little wider, since the kernel is 0 at the limit and the farthest point counts too.
            kernel = epanechnikov(distances[near], limit * 1.01)
            more = second_points(points[near], kernel, effort.second_wave, seed)
            again = self.moments(self.simulate(SECOND, more, self.settings, self.windows))
            weights = importance(np.concatenate([points, more]), first, points[near], kernel)
            points = np.concatenate([points, more])
            moments = np.concatenate([moments, again])
            distances = np.concatenate([distances, self._distances(scale, again)])
        return Waves(points, first, moments, distances, distances <= limit, weights)

    @cached_property
    def posterior(self) -> PosteriorSample:
        """The posterior of every parameter."""
        waves, seed = self.waves, self.file.seed
        known = np.isfinite(waves.distances)
        self.tell("cross-validating the estimators")
        # Over the prior, from which the points of the first wave alone are drawn.
        rows = np.flatnonzero(known[: waves.first])
        parts = waves.points[rows], waves.moments[rows], np.ones(len(rows))
        recovered = Estimation(*parts, self.scale, seed).recover()
        self.tell("estimating the posterior")
        rows = np.flatnonzero(waves.plausible & known)
        parts = waves.points[rows], waves.moments[rows], waves.weights[rows]
        return Estimation(*parts, self.scale, seed).posterior(self.observed, recovered)

    def simulate(
        self,
        stage: str,
        points: FloatArray,
        settings: Sequence[Mapping[str, float]],
        windows: Sequence[ObservedWindow],
    ) -> FloatArray:
        """Measure points (points, parameters) in windows, each with its counted values.

        What the log holds is not simulated again. Returns (points, windows, ``MEASURED``).
        """
        values = self.simulations.measured(self.jobs(stage, points, settings), windows, self.tell)
        shape = len(points), len(settings), len(MEASURED)
        return np.array(values, dtype=np.float64).reshape(shape)

    def jobs(
        self, stage: str, points: FloatArray, settings: Sequence[Mapping[str, float]]
    ) -> list[Job]:
        """The simulations of some points in all windows, point by point."""
        return [
            Job(
                stage,
                point,
                window,
                job_seed(self.file.seed, stage, point),
                self.parameters(scores, setting),
            )
            for point, scores in enumerate(points)
            for window, setting in enumerate(settings)
        ]

    def moments(self, measured: FloatArray) -> FloatArray:
        """The targets among everything measured."""
        return np.asarray(measured[:, :, self.targets], dtype=np.float64)

    def _targets_of(self, window: ObservedWindow) -> list[float]:
        return [float(getattr(window.measures, name)) for name in self.file.targets]

    def _distances(self, scale: MomentScale, moments: FloatArray) -> FloatArray:
        known = np.isfinite(moments).all(axis=(1, 2))
        distances = np.full(len(moments), np.inf)
        distances[known] = scale.distances(moments[known], self.observed)
        return distances


def windows_before(
    corpus: Corpus, window: Window, most: int, skipped: int = 2
) -> list[ObservedWindow]:
    """Earlier windows of the same length, in order of time, at most so many.

    The first ones of a field are skipped: in them almost everybody is new.
    """
    least = corpus.first_year + skipped * window.years
    earlier = [window.earlier(step) for step in range(most, 0, -1)]
    return [ObservedWindow.of(corpus, one) for one in earlier if one.first >= least]
