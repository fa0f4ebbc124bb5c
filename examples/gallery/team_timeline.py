"""Every team of a run as a bar: forming, at work, waiting for its paper to appear."""

from matplotlib import pyplot

import virsci_society as vs

SIZE = {"population.ecosystem.scientists": 60, "population.ecosystem.papers": 300}
scenario = vs.load_scenario("community/closed", until="3y", **{"protocol.turns": 1}, **SIZE)
run = vs.Run.open(vs.run_scenario(scenario, "runs/talking"))
teams = run.table("teams", plain=True).dropna(subset=["published"])
teams = teams.sort_values("founded").reset_index()

pyplot.figure(figsize=(7.5, 6))
phases = ("founded", "formed", "finished", "published")
labels = ("finds its members", "works", "waits until the paper appears")
for at, colour in enumerate(("C4", "C0", "#cccccc")):
    begin, end = teams[phases[at]], teams[phases[at + 1]]
    pyplot.barh(teams.index, end - begin, 1, begin, color=colour, label=labels[at])
pyplot.plot(teams["published"], teams.index, "k.", ms=3, label="paper")
pyplot.gca().invert_yaxis()
pyplot.xlabel("simulated days")
pyplot.ylabel("teams with a paper, by founding")
pyplot.title(f"{len(teams)} teams from the founding to the paper")
pyplot.legend()
pyplot.savefig("team_timeline.svg")
