"""Do busy people decline? Invitations accepted, by the teams the invitee was in."""

from matplotlib import pyplot

import virsci_society as vs

SIZE = {"population.ecosystem.scientists": 60, "population.ecosystem.papers": 300}
scenario = vs.load_scenario("community/closed", until="3y", **{"protocol.turns": 1}, **SIZE)
run = vs.Run.open(vs.run_scenario(scenario, "runs/talking"))
table = vs.compute_metric(run, "acceptance").astype(float)

share, low, high = (100 * table[name] for name in ("share", "low", "high"))
pyplot.errorbar(table["load"], share, [share - low, high - share], fmt="o", ms=9, capsize=5)
for load, at, answered in zip(table["load"], share, table["answered"], strict=True):
    pyplot.annotate(f"{answered:.0f} asked", (load, at), (12, -3), textcoords="offset points")
pyplot.ylim(0, 100)
pyplot.margins(x=0.25)
pyplot.xticks(table["load"])
pyplot.xlabel("teams the invitee was in")
pyplot.ylabel("invitations accepted, %")
pyplot.title("Acceptance by load, with 95 % intervals")
pyplot.savefig("acceptance.svg")
