"""A society and its fork: after a year the ten best-connected scientists leave."""

from matplotlib import pyplot

import virsci_society as vs

LEAVE = [{"at": "1y", "remove_scientists": {"by": "degree", "count": 10}}]
parent = vs.run_scenario(vs.load_scenario("community/assembly"), "runs/assembly")
changed = vs.load_scenario("community/assembly", interventions=LEAVE)
without = vs.run_scenario(changed, "runs/without")

for folder, label, style in ((parent, "nobody leaves", "C0o-"), (without, "ten leave", "C1o--")):
    table = vs.compute_metric(vs.Run.open(folder), "active_structure")
    recent = table[table["years"] == 1].astype({"date": float})
    share = 100 * recent["giant_share"].astype(float)
    pyplot.plot(recent["date"], share, style, ms=5, label=label)
pyplot.axvline(365, color="#999999", lw=1, ls=":")
pyplot.ylim(0)
pyplot.xlabel("simulated days")
pyplot.ylabel("authors in the largest component, %")
pyplot.title("Network of the papers of the last year")
pyplot.legend()
pyplot.savefig("removal.svg")
