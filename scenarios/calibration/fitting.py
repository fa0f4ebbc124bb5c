"""The fit of parameters by two waves of simulations, and the posterior that follows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from virsci_society.agents.arrays import BoolArray, FloatArray
from virsci_society.agents.errors import SocietyError
from virsci_society.scenarios.calibration import parameters as keys
from virsci_society.scenarios.calibration.calibration_file import Window
from virsci_society.scenarios.calibration.design import (
    FIRST,
    NOISE,
    SECOND,
    Setting,
    Space,
    jobs_of,
    middle,
    second_points,
    sobol_points,
)
from virsci_society.scenarios.calibration.estimation.counted import (
    TREND_OF,
    CountedValues,
    Counting,
)
from virsci_society.scenarios.calibration.estimation.estimators import Estimation, PosteriorSample
from virsci_society.scenarios.calibration.estimation.reference_table import (
    MomentScale,
    ReferenceTable,
    between_windows,
    epanechnikov,
    importance,
)
from virsci_society.scenarios.calibration.simulation import (
    MEASURED,
    ObservedWindow,
    PreparedCalibration,
    SimulationLog,
    Simulations,
)

IMPLAUSIBLE = 3.0
"""Distance beyond which a point is dropped (Pukelsheim's three-sigma rule)."""
FEWEST_PLAUSIBLE = 0.1
"""Least share of the first wave that is kept, however far all of it is."""
EARLIER_WINDOWS = 4
"""Windows before the fitted ones by which the variance between windows is told, at most."""
Tell = Callable[[str], None]


@dataclass(frozen=True, eq=False)
class Waves:
    """The simulated points of both waves.

    Attributes:
        points: scores (points, dimensions), those of the first wave first.
        first: how many are of the first wave.
        measured: everything measured of each (points, windows, quantities).
        distances: from the observed moments.
        plausible: whether each is kept.
        weights: prior density over the density from which each was drawn.
    """

    points: FloatArray
    first: int
    measured: FloatArray
    distances: FloatArray
    plausible: BoolArray
    weights: FloatArray


class Fit:
    """The fit of one calibration.

    Args:
        calibration: the file and its papers.
        folder: to which simulations are appended.
        workers: processes.
        tell: is told what is being done.
    """

    def __init__(
        self,
        calibration: PreparedCalibration,
        folder: Path,
        workers: int = 1,
        tell: Tell = lambda text: None,
    ) -> None:
        self.calibration, self.file, self.corpus = calibration, calibration.file, calibration.corpus
        self.workers, self.tell = workers, tell
        self.space = Space(self.file)
        self.log = SimulationLog(folder)
        self._made: Simulations | None = None
        self.targets = [MEASURED.index(name) for name in self.file.targets]

    @cached_property
    def windows(self) -> list[ObservedWindow]:
        """The fit windows, in order of time."""
        return [ObservedWindow.of(self.corpus, one) for one in self.fit_windows]

    @property
    def fit_windows(self) -> list[Window]:
        """The years of the fit windows, in order of time."""
        return sorted(self.file.fit, key=lambda one: one.first)

    @cached_property
    def counting(self) -> Counting:
        """Counts over the papers before the first held-out year."""
        since = self.fit_windows[0].first
        end = self.calibration.first_held_out
        return Counting(self.corpus, end, since, self.calibration.leader, self.file.seed)

    @cached_property
    def counted(self) -> CountedValues:
        """What was counted before the first held-out year."""
        return self.counting.values()

    @cached_property
    def settings(self) -> list[Setting]:
        """Counted values in every fit window."""
        pooled = self.counted.values()
        found = []
        for one in self.fit_windows:
            level = self.counting.in_window(one)
            if keys.SIZE not in self.calibration.base_values:
                # Sizes of the papers before a window are those of the window only with their trend.
                level[keys.SIZE_TREND] = pooled[keys.SIZE_TREND]
            when = middle(one, self.calibration.boundary)
            found.append(Setting(one.name, when, self.read_off({**pooled, **level})))
        return found

    def read_off(self, values: Mapping[str, float]) -> dict[str, float]:
        """Those values that are read off, or are the middle of a prior."""
        centred = {key for key, prior in self.file.priors.items() if prior.centred}
        named = {*self.calibration.counted, *centred}
        return {key: values[key] for key in keys.PARAMETERS if key in named and key in values}

    @cached_property
    def observed(self) -> FloatArray:
        """The targets in every fit window (windows, targets).

        Raises:
            InputError: a target is not known in some window.
        """
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
        first, length = self.fit_windows[0].first, self.fit_windows[0].years
        earlier = [
            Window(first=first - step * length, last=first - (step - 1) * length - 1)
            for step in range(EARLIER_WINDOWS, 0, -1)
        ]
        # A field's first years are not like the later ones: almost everybody is new.
        least = self.corpus.first_year + 2 * length
        kept = [ObservedWindow.of(self.corpus, one) for one in earlier if one.first >= least]
        return [*kept, *self.windows]

    @cached_property
    def discrepancy(self) -> FloatArray:
        """Variance of each target between real windows of this length (targets,)."""
        rows = np.array([self._targets_of(one) for one in self.real_windows])
        return between_windows(rows[np.isfinite(rows).all(axis=1)])

    @cached_property
    def scale(self) -> MomentScale:
        """The scale of the moments, from seeds at the centre and real windows."""
        centre = np.zeros((self.file.effort.noise, self.space.size))
        seeds = self.moments(self.simulate(NOISE, centre, self.settings, self.windows))
        kept = np.isfinite(seeds).all(axis=(1, 2))
        if kept.sum() < 5:
            raise SocietyError(
                "the simulations at the centre of the priors have no known targets; widen the "
                "windows or change the targets"
            )
        sloped = any(prior.trend for prior in self.file.priors.values())
        return MomentScale.of(seeds[kept], self.discrepancy, sloped=sloped)

    @cached_property
    def waves(self) -> Waves:
        """Both waves of simulations."""
        effort, seed = self.file.effort, self.file.seed
        points = sobol_points(self.space.size, effort.first_wave, seed)
        scale = self.scale
        measured = self.simulate(FIRST, points, self.settings, self.windows)
        distances = self._distances(scale, measured)
        limit = max(IMPLAUSIBLE, float(np.quantile(distances, FEWEST_PLAUSIBLE)))
        weights = np.ones(len(points))
        first = len(points)
        if effort.second_wave:
            near = np.flatnonzero(distances <= limit)
            # A little wider, since the kernel is 0 at the limit and the farthest point counts too.
            kernel = epanechnikov(distances[near], limit * 1.01)
            more = second_points(points[near], kernel, effort.second_wave, seed)
            again = self.simulate(SECOND, more, self.settings, self.windows)
            weights = importance(np.concatenate([points, more]), first, points[near], kernel)
            points = np.concatenate([points, more])
            measured = np.concatenate([measured, again])
            distances = np.concatenate([distances, self._distances(scale, again)])
        return Waves(points, first, measured, distances, distances <= limit, weights)

    @cached_property
    def table(self) -> ReferenceTable:
        """The plausible points of both waves."""
        waves = self.waves
        whole = ReferenceTable(waves.points, self.moments(waves.measured), waves.weights)
        return whole.chosen(np.flatnonzero(waves.plausible & np.isfinite(waves.distances)))

    @cached_property
    def prior_estimation(self) -> Estimation:
        """The estimators on the first wave, whose points are drawn from the prior."""
        waves = self.waves
        rows = np.flatnonzero(np.isfinite(waves.distances[: waves.first]))
        moments = self.moments(waves.measured)
        whole = ReferenceTable(waves.points, moments, np.ones(len(waves.points)))
        return Estimation(whole.chosen(rows), self.scale, self.file.effort.accept, self.file.seed)

    @cached_property
    def recovered(self) -> FloatArray:
        """Cross-validated R^2 of every estimator and dimension, over the prior."""
        self.tell("cross-validating the estimators")
        return self.prior_estimation.recover()

    @cached_property
    def posterior(self) -> PosteriorSample:
        """The posterior of every dimension."""
        recovered = self.recovered
        self.tell("estimating the posterior")
        made = Estimation(self.table, self.scale, self.file.effort.accept, self.file.seed)
        return made.posterior(self.observed, recovered)

    def simulate(
        self,
        stage: str,
        points: FloatArray,
        settings: Sequence[Setting],
        windows: Sequence[ObservedWindow],
    ) -> FloatArray:
        """Measure points in windows; what the log holds is not simulated again.

        Args:
            stage: of ``design.STAGES``.
            points: scores (points, dimensions).
            settings: counted values in each window.
            windows: what is simulated.

        Returns:
            (points, windows, ``MEASURED``).
        """
        # Every job is looked up, so that a calibration that was stopped repeats nothing.
        jobs = jobs_of(stage, points, self.space, settings, self.file.seed)
        missing = [job for job in jobs if self.log.find(job) is None]
        if missing:
            self.tell(f"{stage.replace('_', ' ')}: {len(missing):,} simulations")
            made = self._simulations(windows)
            for done, _ in enumerate(self.log.append(missing, made.results(missing)), 1):
                if done % 100 == 0:
                    self.tell(f"{stage.replace('_', ' ')}: {done:,} of {len(missing):,}")
        values = np.array([self.log.find(job) for job in jobs], dtype=np.float64)
        return values.reshape(len(points), len(settings), len(MEASURED))

    def _simulations(self, windows: Sequence[ObservedWindow]) -> Simulations:
        """Those in the same windows as before, whose processes have started, or new ones."""
        if self._made is None or self._made.windows != tuple(windows):
            self.close()
            self._made = Simulations(self.calibration.simulator, windows, self.workers)
        return self._made

    def close(self) -> None:
        """End the worker processes; the next simulation starts them again."""
        if self._made is not None:
            self._made.close()
            self._made = None

    def moments(self, measured: FloatArray) -> FloatArray:
        """The targets among everything measured."""
        return np.asarray(measured[:, :, self.targets], dtype=np.float64)

    def _targets_of(self, window: ObservedWindow) -> list[float]:
        return [window.observed[name] for name in self.file.targets]

    def _distances(self, scale: MomentScale, measured: FloatArray) -> FloatArray:
        moments = self.moments(measured)
        known = np.isfinite(moments).all(axis=(1, 2))
        distances = np.full(len(moments), np.inf)
        distances[known] = scale.distances(moments[known], self.observed)
        return distances


def continued(counted: CountedValues, years: float) -> dict[str, float]:
    """Counted values some years after the year before which they were counted.

    Args:
        counted: at that year.
        years: for which trends go on.
    """
    values = counted.values()
    for key, trend in counted.trends.items():
        known = keys.PARAMETERS[key]
        values[key] = known.value(known.level(values[key]) + trend.change_after(years))
        values[TREND_OF[key]] = trend.slope_after(years)
    return values
