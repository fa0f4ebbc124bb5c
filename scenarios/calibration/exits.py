"""Exits of stars: observed, and simulated from the papers before them."""

from __future__ import annotations

import numpy as np
import pandas as pd

from virsci_society.metrics.validation.star_exits import (
    SPAN,
    Exit,
    Team,
    differences,
    effect_table,
    star_exits,
)
from virsci_society.protocols.assembly_runs import AssemblySimulator
from virsci_society.scenarios.calibration.calibration_file import PreparedCalibration
from virsci_society.scenarios.calibration.windows import Corpus, Tell, Window
from virsci_society.society.literature.authorships import Authorships
from virsci_society.society.literature.papers import DAYS_PER_YEAR


def exit_effects(calibration: PreparedCalibration, tell: Tell = lambda text: None) -> pd.DataFrame:
    """What follows the exit of a star: real, simulated, and simulated if all had stayed.

    The groups and controls are the real ones on each side. Years after an exit are simulated with
    the values of the base and teams as in the two years before, with ``effort.seeds``; who stopped
    has left.
    """
    corpus = calibration.corpus
    real = teams_of(corpus.works, corpus.origin)
    exits = star_exits(real)
    sides = {"real": differences(real, exits)}
    years = sorted({one.year for one in exits})
    for side, leave in (("simulated", True), ("simulated, all stay", False)):
        found = np.full_like(sides["real"], np.nan)
        tell(f"{side}: exits of {years[0]} to {years[-1]}" if years else "no star stops")
        for year in years:
            chosen = [place for place, one in enumerate(exits) if one.year == year]
            here = [exits[place] for place in chosen]
            left = here if leave else []
            runs = _runs(corpus, calibration.simulator, year, left, calibration.file.effort.seeds)
            found[chosen] = np.mean([differences(run, here) for run in runs], axis=0)
        sides[side] = found
    return effect_table(sides)


def teams_of(works: Authorships, year: int) -> list[Team]:
    """The papers with their years, counted from day 0."""
    return [(year + int(date // DAYS_PER_YEAR), team) for date, team in works.dated()]


def _runs(
    corpus: Corpus, simulator: AssemblySimulator, year: int, exits: list[Exit], seeds: int
) -> list[list[Team]]:
    """Real papers up to a year, then papers of a society without some stars."""
    window = Window(year + 1, year + SPAN)
    before = corpus.before(window.first).counted_from(corpus.day(window.first))
    rate = len(before.between(-2 * DAYS_PER_YEAR, 0.0)) / 2
    parts = ({"founding.teams_per_year": rate}, before, 0.0, SPAN * DAYS_PER_YEAR)
    departed = tuple(one.star for one in exits)
    made = [simulator.simulate(*parts, seed, departed) for seed in range(seeds)]
    past = teams_of(before, window.first)
    return [past + teams_of(one, window.first) for one in made]
