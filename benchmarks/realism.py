"""A calibrated scenario beside real communities, and beside their own past.

For each corpus and boundary the scenario is run in memory for some years, from the real papers
before it, with as many teams a year as there were papers a year in the two years before; nothing
else is fitted. Printed are the score (root mean square of the errors of the means over seeds, in
tolerances; 0 is best), how many of 14 quantities are within tolerance, and the same for the years
before the boundary repeated (persistence).

    python benchmarks/realism.py vis=shared/vis/papers.jsonl.gz nlp=shared/nlp/papers.jsonl.gz
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from virsci_society.metrics.validation.assembly_measures import AssemblyMeasures, assembly_measures
from virsci_society.metrics.validation.tolerances import (
    TOLERANCES,
    errors_in_tolerances,
    score,
    within_tolerance,
)
from virsci_society.protocols.assembly_runs import AssemblySimulator
from virsci_society.protocols.wordless import Wordless
from virsci_society.scenarios.calibration.windows import Corpus, ObservedWindow, Window, read_source
from virsci_society.scenarios.config.schema import load_scenario
from virsci_society.society.literature.papers import DAYS_PER_YEAR

RECENT = 6 * DAYS_PER_YEAR
"""Only authors of papers of the last so many days are the population of day 0."""


def simulated(
    simulator: AssemblySimulator, corpus: Corpus, window: Window, seeds: int
) -> list[AssemblyMeasures]:
    """The quantities of the simulated papers of a window, one set per seed."""
    seen = ObservedWindow.of(corpus, window)
    rate = len(seen.before.between(-2 * DAYS_PER_YEAR, 0.0)) / 2
    parameters = {"founding.teams_per_year": rate}
    runs = (simulator.simulate(parameters, seen.before, 0.0, seen.days, n) for n in range(seeds))
    return [assembly_measures(run.dated(), seen.history) for run in runs]


def judged(found: list[AssemblyMeasures], real: AssemblyMeasures) -> tuple[float, int]:
    """The score of the means over runs, and how many of the means are within tolerance."""
    errors = [errors_in_tolerances(one, real) for one in found]
    means = {name: float(np.mean([one[name] for one in errors])) for name in TOLERANCES}
    return score(means), within_tolerance(means)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("corpora", nargs="+", metavar="NAME=FILE", help="papers as JSON lines")
    parser.add_argument("--scenario", default="community/assembly")
    parser.add_argument("--boundaries", type=int, nargs="+", default=[2008, 2012, 2016])
    parser.add_argument("--years", type=int, default=2)
    parser.add_argument("--seeds", type=int, default=5)
    given = parser.parse_args()
    scenario = load_scenario(given.scenario)
    protocol = scenario.protocol
    if not isinstance(protocol, Wordless):
        parser.error(f"{given.scenario}: its protocol is not wordless")
    simulator = AssemblySimulator(scenario.founding, protocol, RECENT)
    print("| corpus | years | papers | score | within | persistence | within |")
    print("|---|---|---:|---:|---:|---:|---:|")
    for name, _, file in (one.partition("=") for one in given.corpora):
        corpus = read_source("jsonl", [Path(file)], max(given.boundaries) + given.years)
        for first in given.boundaries:
            window = Window(first, first + given.years - 1)
            real = ObservedWindow.of(corpus, window).measures
            ours = judged(simulated(simulator, corpus, window, given.seeds), real)
            past = judged([ObservedWindow.of(corpus, window.earlier()).measures], real)
            cells = (f"{ours[0]:.2f}", ours[1], f"{past[0]:.2f}", past[1])
            print(f"| {name} | {window.name} | {real.papers} | {' | '.join(map(str, cells))} |")


if __name__ == "__main__":
    main()
