"""Disruption of a paper by the size of its team: who cites it without what it builds on?"""

from matplotlib import pyplot

import virsci_society as vs

SIZE = {"population.ecosystem.scientists": 60, "population.ecosystem.papers": 300}
scenario = vs.load_scenario("community/closed", until="3y", **{"protocol.turns": 1}, **SIZE)
run = vs.Run.open(vs.run_scenario(scenario, "runs/talking"))
papers = vs.compute_metric(run, "disruption").merge(
    run.table("teams"), left_on="paper", right_on="team"
)
papers = papers[papers["CD"].notna()]
sizes = [size for size, n in papers["size"].value_counts().sort_index().items() if n >= 5]

values = [papers.loc[papers["size"] == size, "CD"].astype(float) for size in sizes]
pyplot.axhline(0, color="#cccccc", lw=1)
LOOK = {"patch_artist": True, "boxprops": {"facecolor": "#cfe3f1"}, "medianprops": {"lw": 2}}
pyplot.boxplot(values, positions=sizes, widths=0.5, showmeans=True, **LOOK)
pyplot.xticks(sizes, [f"{size}\n({(papers['size'] == size).sum()} papers)" for size in sizes])
pyplot.ylim(-1.05, 1.05)
pyplot.xlabel("members of the team")
pyplot.ylabel("disruption CD, -1 to 1")
pyplot.title("Disruption by team size: line, median; triangle, mean")
pyplot.savefig("disruption.svg")
