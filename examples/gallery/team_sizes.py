"""How many authors a paper has."""

from matplotlib import pyplot

import virsci_society as vs

run = vs.Run.open(vs.run_scenario(vs.load_scenario("community/assembly"), "runs/assembly"))
sizes = run.table("authorships").groupby("paper").size()
counts = sizes.value_counts().reindex(range(1, sizes.max() + 1), fill_value=0)

bars = pyplot.bar(counts.index, counts, width=0.75)
pyplot.bar_label(bars, padding=3, color="#444444")
pyplot.axvline(sizes.mean(), color="C1", ls="--", label=f"mean {sizes.mean():.1f}")
pyplot.xticks(counts.index)
pyplot.xlabel("authors of a paper")
pyplot.ylabel("papers")
pyplot.title(f"Team sizes of {len(sizes)} papers")
pyplot.legend()
pyplot.savefig("team_sizes.svg")
