"""The design of the simulations, that is points of the parameter space, windows and seeds.

A point is a score for each dimension: one for each key with a prior, and one for its drift where
the prior has a trend. A key that is neither fitted nor counted keeps its value in the base.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from virsci_society.agents.arrays import FloatArray
from virsci_society.scenarios.calibration import parameters as keys
from virsci_society.scenarios.calibration.calibration_file import DRIFT, CalibrationFile, Window
from virsci_society.scenarios.calibration.estimation.reference_table import proposal

FIRST, SECOND, NOISE = "first", "second", "noise"
CHECK, HELD_OUT_DRAWS, PREDICTION, TRUTH = "check", "held_out_draws", "prediction", "truth"
STAGES = (NOISE, FIRST, SECOND, PREDICTION, CHECK, HELD_OUT_DRAWS, TRUTH)
"""Stages of a calibration, in the order in which they are simulated."""


@dataclass(frozen=True, slots=True)
class Job:
    """One simulation of one window.

    Attributes:
        stage: one of ``STAGES``.
        point: number of the point in its stage.
        window: number of the window among those of its stage.
        seed: of the simulation.
        parameters: values by key.
    """

    stage: str
    point: int
    window: int
    seed: int
    parameters: Mapping[str, float]


@dataclass(frozen=True, eq=False)
class Setting:
    """A window, or the date from which the calibrated society starts.

    Attributes:
        name: of the window, or of the boundary.
        time: years from the boundary to its middle; 0 for the boundary.
        counted: counted values in it.
    """

    name: str
    time: float
    counted: Mapping[str, float]


class Space:
    """The dimensions of the parameter space, and the values of a point in a window.

    Attributes:
        names: of the dimensions: keys, and keys followed by `` (drift)``.
    """

    def __init__(self, file: CalibrationFile) -> None:
        # In the order of the table: that of a file must change no point of the design.
        self.priors = {key: file.priors[key] for key in keys.PARAMETERS if key in file.priors}
        drifting = [key for key, prior in self.priors.items() if prior.trend]
        self._drift = {key: len(self.priors) + place for place, key in enumerate(drifting)}
        self.names = (*self.priors, *(f"{key} (drift)" for key in drifting))

    @property
    def size(self) -> int:
        """Number of dimensions."""
        return len(self.names)

    def values(self, scores: FloatArray, setting: Setting) -> dict[str, float]:
        """The counted and fitted parameters of a point in a window.

        Args:
            scores: of the point, one per dimension.
            setting: the window.
        """
        found = dict(setting.counted)
        for place, (key, prior) in enumerate(self.priors.items()):
            score = float(scores[place])
            if key in self._drift:
                score += DRIFT * float(scores[self._drift[key]]) * setting.time
            counted = setting.counted.get(key) if prior.centred else None
            known = keys.PARAMETERS[key]
            level = None if counted is None else known.level(counted)
            found[key] = known.clip(prior.value(score, known.floor, level))
        return {key: float(found[key]) for key in keys.PARAMETERS if key in found}


def sobol_points(size: int, count: int, seed: int) -> FloatArray:
    """Scores at a scrambled Sobol sequence (count, size)."""
    return np.asarray(scipy.stats.norm.ppf(_cube(size, count, seed)), dtype=np.float64)


def second_points(points: FloatArray, weights: FloatArray, count: int, seed: int) -> FloatArray:
    """Scores around those points of the first wave that are plausible."""
    return proposal(points, weights, _cube(points.shape[1] + 1, count, seed))


def jobs_of(
    stage: str,
    points: FloatArray,
    space: Space,
    settings: Sequence[Setting],
    seed: int,
) -> list[Job]:
    """The simulations of some points (scores: points, dimensions) in all windows, point by point.

    All windows of a point have the same seed, and the same point of a stage always has.
    """
    return [
        Job(stage, point, window, job_seed(seed, stage, point), space.values(scores, setting))
        for point, scores in enumerate(points)
        for window, setting in enumerate(settings)
    ]


def job_seed(seed: int, stage: str, point: int) -> int:
    """The seed of the simulations of a point, by the number of the point in its stage."""
    state = np.random.SeedSequence([seed, STAGES.index(stage), point]).generate_state(1, np.uint64)
    # Seeds of a society are below 2^63.
    return int(state[0] >> np.uint64(1))


def middle(window: Window, boundary: int) -> float:
    """Years from the boundary to the middle of a window."""
    return (window.first + window.last + 1) / 2 - boundary


def _cube(size: int, count: int, seed: int) -> FloatArray:
    whole = scipy.stats.qmc.Sobol(size, scramble=True, rng=np.random.default_rng([seed, size]))
    # The sequence is balanced over powers of two; what is left over is not used.
    points = whole.random_base2(int(np.ceil(np.log2(max(2, count)))))[:count]
    # The normal quantile of 0 or of 1 is infinite.
    return np.clip(np.asarray(points, dtype=np.float64), 1e-6, 1 - 1e-6)
