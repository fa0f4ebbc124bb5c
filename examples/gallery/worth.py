"""What an idea is worth and what came of it: true and false discoveries."""

from matplotlib import pyplot

import virsci_society as vs

WORTH = {"use": "landscape", "worthless": 0.3}
TRY = {"use": "attempt", "noise": 0.3, "success": 0.5}
KEYS = {"worth": WORTH, "execution": TRY, "founding.teams_per_year": 150}
scenario = vs.load_scenario("community/assembly", **KEYS)
run = vs.Run.open(vs.run_scenario(scenario, "runs/worth"))
tried = run.table("outcomes", plain=True).dropna(subset=["outcome"])
held, true = tried["outcome"] >= 0.5, tried["worth"] >= 0.5

kinds = {"discovery": held & true, "false claim": held & ~true}
kinds |= {"missed": ~held & true, "failure": ~held & ~true}
for (kind, of), colour in zip(kinds.items(), ("C2", "C1", "C4", "#bbbbbb"), strict=True):
    text = f"{kind}: {of.sum()}"
    pyplot.scatter(tried["worth"][of], tried["outcome"][of], 18, color=colour, label=text)
pyplot.axhline(0.5, color="#666666", lw=1, ls=":")
pyplot.axvline(0.5, color="#666666", lw=1, ls=":")
pyplot.xlabel("hidden worth of the idea, 0 to 1")
pyplot.ylabel("outcome: worth and noise")
pyplot.legend(loc="upper left", bbox_to_anchor=(1, 1))
pyplot.savefig("worth.svg")
