"""A calibrated scenario beside real communities, and beside their own past.

For each corpus and boundary the scenario is run in memory for some years, from the real papers
before it, with as many teams a year as there were papers a year in the two years before; nothing
else is fitted. Printed are the score (root mean square of the errors of the means over seeds, in
tolerances; 0 is best), how many of 14 quantities are within tolerance, and the same for the years
before the boundary taken as a forecast (persistence).

    python benchmarks/realism.py vis=shared/vis/papers.jsonl.gz nlp=shared/nlp/papers.jsonl.gz
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from metrics.validation.assembly_quantities import (
    AssemblyQuantities,
    AuthorHistory,
    assembly_quantities,
)
from metrics.validation.tolerances import (
    TOLERANCES,
    errors_in_tolerances,
    score,
    within_tolerance,
)
from protocols.assembly_runs import AssemblySimulator
from protocols.wordless import Wordless
from scenarios.calibration.corpus import Corpus, read_source
from scenarios.config.schema import load_scenario
from society.literature.authorships import Authorships
from society.literature.papers import DAYS_PER_YEAR

RECENT = 6 * DAYS_PER_YEAR
"""Only authors of papers of the last so many days are the population of day 0."""


def listed(papers: Authorships) -> list[tuple[float, list[int]]]:
    """Date and authors of each paper."""
    return [(papers.dates[n], papers.authors_of(n).tolist()) for n in range(len(papers))]


def between(corpus: Corpus, first: int, end: int) -> Authorships:
    """The papers from a year on and before another one."""
    return corpus.works.between(corpus.day(first), corpus.day(end))


def observed(corpus: Corpus, first: int, end: int) -> AssemblyQuantities:
    """The quantities of the real papers of some years."""
    before = AuthorHistory.from_papers(listed(corpus.before(first)))
    return assembly_quantities(listed(between(corpus, first, end)), before)


def simulated(
    simulator: AssemblySimulator, corpus: Corpus, first: int, end: int, seeds: int
) -> list[AssemblyQuantities]:
    """The quantities of the simulated papers of the same years, one set per seed."""
    past = corpus.before(first)
    before = AuthorHistory.from_papers(listed(past))
    rate = len(between(corpus, first - 2, first)) / 2
    runs = (
        simulator.simulate(
            {"founding.teams_per_year": rate}, past, corpus.day(first), corpus.day(end), seed
        )
        for seed in range(seeds)
    )
    return [assembly_quantities(listed(run), before) for run in runs]


def judged(found: list[AssemblyQuantities], real: AssemblyQuantities) -> tuple[float, int]:
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
            end = first + given.years
            real = observed(corpus, first, end)
            runs = simulated(simulator, corpus, first, end, given.seeds)
            ours = judged(runs, real)
            past = judged([observed(corpus, first - given.years, first)], real)
            cells = (f"{ours[0]:.2f}", ours[1], f"{past[0]:.2f}", past[1])
            print(f"| {name} | {first}-{end - 1} | {real.papers} | {' | '.join(map(str, cells))} |")


if __name__ == "__main__":
    main()
