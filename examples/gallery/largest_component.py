"""How the network of a run grows from many pieces: the largest component, month by month."""

from matplotlib import pyplot

import virsci_society as vs

run = vs.Run.open(vs.run_scenario(vs.load_scenario("community/assembly"), "runs/assembly"))
table = vs.compute_metric(run, "structure").astype({"date": float, "giant_share": float})
grown = table[table["network"] == "grown"].fillna({"giant_share": 0})
days, nodes = grown["date"], grown["nodes"].astype(int)
largest = nodes * grown["giant_share"]

pyplot.fill_between(days, nodes, color="C5", alpha=0.35, label="scientists with a joint paper")
pyplot.fill_between(days, largest, color="C0", label="of them in the largest component")
share = f"{grown['giant_share'].iloc[-1]:.0%}"
pyplot.annotate(share, (days.iloc[-1], largest.iloc[-1]), (5, -4), textcoords="offset points")
pyplot.xlim(0, run.days)
pyplot.ylim(0)
pyplot.xlabel("simulated days")
pyplot.ylabel("scientists")
pyplot.title("The network of the papers since day 0")
pyplot.legend(loc="upper left")
pyplot.savefig("largest_component.svg")
