"""How old a paper is when it is cited by another one of the society."""

from matplotlib import pyplot

import virsci_society as vs

SIZE = {"population.ecosystem.scientists": 60, "population.ecosystem.papers": 300}
scenario = vs.load_scenario("community/closed", until="3y", **{"protocol.turns": 1}, **SIZE)
run = vs.Run.open(vs.run_scenario(scenario, "runs/talking"))
papers = run.table("papers", plain=True).rename(columns={"paper": "cited"})
cited = run.table("citations", plain=True).merge(papers, on="cited")  # those of the society
age = (cited["date"] - cited["published"]) / 30.4

pyplot.hist(age, bins=range(0, 37, 3), color="C0", rwidth=0.9)
pyplot.axvline(age.median(), color="C1", ls="--", label=f"median {age.median():.0f} months")
pyplot.xticks(range(0, 37, 6))
pyplot.xlabel("age of the cited paper, months")
pyplot.ylabel("citations")
pyplot.title(f"{len(age)} citations within the society")
pyplot.legend()
pyplot.savefig("citations.svg")
