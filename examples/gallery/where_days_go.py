"""Where the days of a team go, by its size: work, waiting for people, waiting for dates."""

from matplotlib import pyplot

import virsci_society as vs

SIZE = {"population.ecosystem.scientists": 60, "population.ecosystem.papers": 300}
scenario = vs.load_scenario("community/closed", until="3y", **{"protocol.turns": 1}, **SIZE)
run = vs.Run.open(vs.run_scenario(scenario, "runs/talking"))
parts = {
    "effort": "homework",
    "gathering": "until the first meeting",
    "desk_queue": "other projects came first",
    "notice": "notice of the next meeting",
    "other": "other",
}
days = vs.compute_metric(run, "projects").astype(dict.fromkeys(parts, float))
axis = days.groupby("size")[list(parts)].mean().rename(columns=parts).plot.bar(stacked=True, rot=0)
axis.set(xlabel="members of the team", ylabel="days, mean over teams")
axis.set(title="From the founding to the end of the work")
axis.legend(loc="upper left", bbox_to_anchor=(1, 1), reverse=True)
pyplot.savefig("where_days_go.svg")
