"""Papers per author beside Lotka's law, by which 1/k^2 of the authors have k papers."""

import numpy as np
from matplotlib import pyplot

import virsci_society as vs

run = vs.Run.open(vs.run_scenario(vs.load_scenario("community/assembly"), "runs/assembly"))
papers = vs.compute_metric(run, "productivity")["papers"].astype(int)
shares = papers.value_counts(normalize=True).sort_index()
lotka = 6 / np.pi**2 / np.arange(1, shares.index.max() + 1) ** 2

pyplot.loglog(range(1, len(lotka) + 1), lotka, color="#999999", ls="--", label="Lotka (1926)")
pyplot.loglog(shares.index, shares, "o", ms=8, label=f"this run, {len(papers)} authors")
ticks = [1, 2, 3, 5, 10, 20]
pyplot.xticks(ticks, ticks)
pyplot.yticks([0.5, 0.2, 0.1, 0.05, 0.02, 0.01], ["50 %", "20 %", "10 %", "5 %", "2 %", "1 %"])
pyplot.minorticks_off()
pyplot.xlabel("papers of an author")
pyplot.ylabel("authors with so many papers")
pyplot.title("Most authors have one paper")
pyplot.legend()
pyplot.savefig("lotka.svg")
