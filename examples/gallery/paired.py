"""A small study: teams of two and of five under the same five seeds, and their differences."""

import numpy as np
from matplotlib import pyplot

import virsci_society as vs

KEYS = {"until": "1y", "population.ecosystem.scientists": 100, "metrics": []}
runs = {}
for size, seed in [(size, seed) for size in (2, 5) for seed in range(1, 6)]:
    keys = {**KEYS, "protocol.team_size": size, "seed": seed}
    scenario = vs.load_scenario("community/assembly", **keys)
    runs[size, seed] = vs.Run.open(vs.run_scenario(scenario, f"runs/{size}-{seed}", page=False))
tables = [vs.compute_metric(run, "structure").iloc[-1] for run in runs.values()]
shares = 100 * np.array([float(last["giant_share"]) for last in tables]).reshape(2, 5)
difference = shares[1] - shares[0]
error = 2.776 * difference.std(ddof=1) / np.sqrt(5)  # Student's t, 4 degrees of freedom

pyplot.plot([2, 5], shares, "o-", color="C5", lw=1.5)
pyplot.plot([2, 5], shares.mean(axis=1), "o-", color="C0", lw=4, ms=9)
pyplot.xticks([2, 5], ["teams of two", "teams of five"])
pyplot.margins(x=0.3)
pyplot.ylabel("authors in the largest component, %")
pyplot.title(f"Difference: {difference.mean():.0f} ± {error:.0f} points (mean, 95 % interval)")
pyplot.savefig("paired.svg")
