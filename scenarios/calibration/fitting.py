"""The fit of what cannot be counted, by simulations at points of the priors and their posterior.

A point is a standard normal score for each key with a prior.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from scipy import linalg, spatial, stats

from virsci_society.agents.arrays import BoolArray, FloatArray
from virsci_society.agents.errors import SocietyError
from virsci_society.scenarios.calibration import parameters as keys
from virsci_society.scenarios.calibration.calibration_file import PreparedCalibration
from virsci_society.scenarios.calibration.counting import Counting, known_values
from virsci_society.scenarios.calibration.rates import Estimate
from virsci_society.scenarios.calibration.windows import (
    MEASURED,
    Corpus,
    Job,
    ObservedWindow,
    Simulations,
    Tell,
    Window,
)

STAGES = ("noise", "points", "check", "held_out_draws", "counted")
"""Stages of a calibration, in the order in which they are simulated."""
NOISE, POINTS, CHECK, DRAWS, COUNTED = STAGES
EARLIER_WINDOWS = 4
"""Windows before the fitted ones that show how much windows differ, at most."""
IDENTIFIED = 0.3
"""Least cross-validated R^2 of a parameter that counts as identified."""
PENALTIES = tuple(10.0 ** np.arange(-2, 5))
FARTHEST = 3.0
"""Largest score of a draw, in standard deviations of the prior."""
CLIPPED = 0.05
"""Largest share of draws that may be clipped there without a note."""
ACCEPT, MIN_NEAR = 0.05, 30
"""Share and least number of the points that are accepted as near."""
FLOOR = 1e-9


def sobol_points(size: int, count: int, seed: int) -> FloatArray:
    """Scores at a scrambled Sobol sequence (count, size)."""
    whole = stats.qmc.Sobol(size, scramble=True, rng=np.random.default_rng([seed, size]))
    # The sequence is balanced over powers of two; what is left over is not used.
    points = whole.random_base2(int(np.ceil(np.log2(max(2, count)))))[:count]
    # The normal quantile of 0 or of 1 is infinite.
    return np.asarray(stats.norm.ppf(np.clip(points, 1e-6, 1 - 1e-6)), dtype=np.float64)


def job_seed(seed: int, stage: str, point: int) -> int:
    """The seed of the simulations of a point, which all windows of the point share."""
    state = np.random.SeedSequence([seed, STAGES.index(stage), point]).generate_state(1, np.uint64)
    # Seeds of a society are below 2^63.
    return int(state[0] >> np.uint64(1))


def between_windows(observed: FloatArray) -> FloatArray:
    """Variance of each measure between real windows, to which a trend over them adds little.

    Half the mean square of successive differences (von Neumann et al. 1941).
    """
    if len(observed) < 2:
        return np.zeros(observed.shape[1])
    variance: FloatArray = (np.diff(observed, axis=0) ** 2).mean(axis=0) / 2
    return variance


@dataclass(frozen=True, eq=False)
class MomentScale:
    """The scale on which moments are compared: chance between seeds, and what the model misses."""

    roots: FloatArray
    summary: FloatArray
    discrepancy: FloatArray

    @classmethod
    def of(cls, seeds: FloatArray, discrepancy: FloatArray) -> MomentScale:
        """The scale by the moments of seeds and their variance between real windows (moments,)."""
        windows, width = seeds.shape[1:]

        def root(rows: FloatArray, added: FloatArray) -> FloatArray:
            covariance = np.cov(rows, rowvar=False).reshape(width, width) + np.diag(added)
            # Never singular, so that its Cholesky factor exists.
            scale = np.maximum(np.diag(covariance), FLOOR)
            factor = linalg.cholesky(covariance + np.diag(1e-3 * scale + FLOOR), lower=True)
            return np.asarray(factor, dtype=np.float64)

        roots = [root(seeds[:, one], discrepancy) for one in range(windows)]
        # Windows differ from each other by the discrepancy, so that their mean does by a part.
        summary = root(seeds.mean(axis=1), discrepancy / windows)
        return cls(np.array(roots), summary, discrepancy)

    def distances(self, moments: FloatArray, observed: FloatArray) -> FloatArray:
        """Root mean square of the standardised differences over all windows and moments."""
        total = np.zeros(len(moments))
        for window, root in enumerate(self.roots):
            gap = (moments[:, window] - observed[window]).T
            total += (linalg.solve_triangular(root, gap, lower=True) ** 2).sum(axis=0)
        return np.sqrt(total / observed.size)

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
    recovered: FloatArray
    extrapolated: bool
    """Whether the observed targets are outside the simulated range, at least jointly."""

    @property
    def at_limit(self) -> BoolArray:
        """For which parameters more than 5 % of the draws were clipped, so that intervals fail."""
        clipped = self.weights @ (np.abs(self.draws) >= FARTHEST)
        return np.asarray(self.identified & (clipped > CLIPPED))

    @property
    def identified(self) -> BoolArray:
        """Which parameters the simulations determine."""
        return np.asarray(self.recovered >= IDENTIFIED)

    @property
    def centre(self) -> FloatArray:
        """The posterior mean of each parameter; 0, the prior's median, where not identified."""
        return np.where(self.identified, self.weights @ self.draws, 0.0)

    def resampled(self, count: int) -> FloatArray:
        """Draws with equal weights, by systematic resampling (count, parameters)."""
        edges = np.cumsum(self.weights)
        places = (np.arange(count) + 0.5) / count * edges[-1]
        chosen: FloatArray = self.draws[np.searchsorted(edges, places, side="right")]
        return chosen


class Estimation:
    """Ridge regressions of the parameters on the standardised summaries and their squares.

    Each parameter has the penalty with the least leave-one-out error (Golub et al. 1979).
    """

    def __init__(
        self, points: FloatArray, moments: FloatArray, scale: MomentScale, seed: int = 0
    ) -> None:
        self.points, self.moments, self.scale = points, moments, scale
        self._summaries = scale.summaries(moments)
        # Real windows differ from the model's by the discrepancy: without it the slopes are those
        # of a model that is right, and extrapolate where it is not (Wilkinson 2013).
        noise = np.random.default_rng([seed, len(STAGES)]).standard_normal(moments.shape)
        summaries = scale.summaries(moments + np.sqrt(scale.discrepancy) * noise)
        self._middle = summaries.mean(axis=0)
        self._spread = np.maximum(summaries.std(axis=0), FLOOR)
        design, mean = self._expanded(summaries), points.mean(axis=0)
        self._offset = design.mean(axis=0)
        u, sizes, v = np.linalg.svd(design - self._offset, full_matrices=False)
        turned = u.T @ (points - mean)
        least = np.full(points.shape[1], np.inf)
        self._missed, self._slopes = np.zeros_like(points), np.zeros((v.shape[1], points.shape[1]))
        self._mean = mean
        for penalty in PENALTIES:
            shrunk = sizes / (sizes**2 + penalty)
            leverage = u**2 @ (shrunk * sizes) + 1 / len(points)
            fitted = mean + u @ ((shrunk * sizes)[:, None] * turned)
            # The leave-one-out residual of a linear fit, without fitting it again for each point.
            missed = (points - fitted) / np.maximum(1 - leverage, FLOOR)[:, None]
            error = (missed**2).mean(axis=0)
            better = error < least
            least = np.where(better, error, least)
            self._missed = np.where(better, missed, self._missed)
            self._slopes = np.where(better, v.T @ (shrunk[:, None] * turned), self._slopes)
        self.recovered: FloatArray = 1 - least / np.maximum(points.var(axis=0), FLOOR)
        """Cross-validated R^2 of every parameter."""

    def posterior(self, observed: FloatArray) -> PosteriorSample:
        """The posterior at observed moments, by the nearest points under Epanechnikov's kernel."""
        distances = self.scale.distances(self.moments, observed)
        n = len(self.points)
        accepted = min(n, max(MIN_NEAR, round(ACCEPT * n)))
        order = np.argsort(distances, kind="stable")
        bandwidth = float(distances[order[min(accepted, n - 1)]]) * (1 + 1e-9)
        # In the order of the table, whatever their distance.
        near = np.sort(order[:accepted])
        kernel = np.maximum(0.0, 1 - (distances[near] / max(bandwidth, FLOOR)) ** 2)
        kernel = kernel if kernel.sum() > 0 else np.ones(len(near))
        summary, simulated = self.scale.summaries(observed[None]), spatial.KDTree(self._summaries)
        target = self._expanded(summary)[0]
        # Leave-one-out residuals of the near points give the spread, and correct a local bias.
        made = self._mean + (target - self._offset) @ self._slopes + self._missed[near]
        # Beyond the simulated points the squares may extrapolate to what the prior rules out.
        made = np.clip(made, -FARTHEST, FARTHEST)
        draws = np.where(self.recovered >= IDENTIFIED, made, self.points[near])
        # Several targets may be out of reach together though none is alone: the nearest point is
        # farther away than every point is from its own nearest one.
        apart = float(simulated.query(self._summaries, k=2)[0][:, 1].max())
        beyond = float(simulated.query(summary)[0][0]) > apart
        return PosteriorSample(draws, kernel / kernel.sum(), self.recovered, beyond)

    def _expanded(self, summaries: FloatArray) -> FloatArray:
        standard = (summaries - self._middle) / self._spread
        return np.concatenate([standard, standard**2], axis=1)


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
        # In the order of the table: the order in a file must not change the design.
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
        since, end = self.fit_windows[0].first, self.file.held_out.first
        return Counting(self.corpus, end, since, self.calibration.leader, self.file.seed)

    @cached_property
    def counted(self) -> dict[str, Estimate]:
        """Values counted before the first held-out year."""
        return self.counting.estimates()

    @cached_property
    def settings(self) -> list[dict[str, float]]:
        """Counted values in every fit window."""
        pooled = known_values(self.counted)
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
        """The fit windows and earlier windows of the same length, in order of time."""
        return [*windows_before(self.corpus, self.fit_windows[0], EARLIER_WINDOWS), *self.windows]

    @cached_property
    def scale(self) -> MomentScale:
        """The scale of the moments, from seeds at the centre and real windows."""
        centre = np.zeros((self.file.effort.noise, len(self.names)))
        seeds = self.moments(self.simulate(NOISE, centre, self.settings, self.windows))
        kept = np.isfinite(seeds).all(axis=(1, 2))
        if kept.sum() < 5:
            raise SocietyError(
                "too few simulations at the centre of the priors yield all targets; "
                "widen the windows or change the targets"
            )
        rows = np.array([self._targets_of(one) for one in self.real_windows])
        return MomentScale.of(seeds[kept], between_windows(rows[np.isfinite(rows).all(axis=1)]))

    @cached_property
    def points(self) -> FloatArray:
        """The points that are simulated (points, parameters)."""
        return sobol_points(len(self.names), self.file.effort.points, self.file.seed)

    @cached_property
    def distances(self) -> FloatArray:
        """The distance of every point from what was observed; infinite without a target."""
        known = np.isfinite(self.simulated).all(axis=(1, 2))
        distances = np.full(len(self.points), np.inf)
        distances[known] = self.scale.distances(self.simulated[known], self.observed)
        return distances

    @cached_property
    def simulated(self) -> FloatArray:
        """The targets of every point (points, windows, targets)."""
        return self.moments(self.simulate(POINTS, self.points, self.settings, self.windows))

    def beyond(self) -> list[str]:
        """Targets whose average over the windows is outside the range of all points."""
        means, observed = self.simulated.mean(axis=1), self.observed.mean(axis=0)
        outside = (observed < np.nanmin(means, axis=0)) | (observed > np.nanmax(means, axis=0))
        return [self.file.targets[place] for place in np.flatnonzero(outside)]

    @cached_property
    def posterior(self) -> PosteriorSample:
        """The posterior of every parameter."""
        scale = self.scale
        rows = np.flatnonzero(np.isfinite(self.distances))
        self.tell("estimating the posterior")
        parts = self.points[rows], self.simulated[rows], scale, self.file.seed
        return Estimation(*parts).posterior(self.observed)

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


def windows_before(
    corpus: Corpus, window: Window, most: int, skipped: int = 2
) -> list[ObservedWindow]:
    """At most ``most`` earlier windows of the same length, in order of time.

    The first ones of a field are skipped: in them almost everybody is new.
    """
    least = corpus.first_year + skipped * window.years
    earlier = [window.earlier(step) for step in range(most, 0, -1)]
    return [ObservedWindow.of(corpus, one) for one in earlier if one.first >= least]
