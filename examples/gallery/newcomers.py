"""Who writes with whom: newcomers and people who have written before, quarter by quarter."""

from matplotlib import pyplot

import virsci_society as vs

run = vs.Run.open(vs.run_scenario(vs.load_scenario("community/assembly"), "runs/assembly"))
kinds = {
    "repeats": "had written together before",
    "new": "had both written before, not together",
    "newcomer_incumbent": "a newcomer and somebody who had written",
    "newcomer_newcomer": "two newcomers",
}
table = vs.compute_metric(run, "assembly").astype(float)
table["new"] = table["incumbent_incumbent"] - table["repeats"]
quarters = table[table["date"] > 0].groupby((table["date"] - 1) // 91.3)[list(kinds)].sum()
shares = 100 * quarters.div(quarters.sum(axis=1), axis=0)
shares.index = [f"{3 * at:.0f}-{3 * at + 3:.0f}" for at in shares.index]

axis = shares.rename(columns=kinds).plot.bar(stacked=True, width=0.85, figsize=(8, 5), rot=0)
axis.set(xlabel="months", ylabel="pairs of authors of one paper, %", ylim=(0, 100))
axis.set(title="Pairs of co-authors by what they had done before")
axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.13), ncol=2)
pyplot.savefig("newcomers.svg")
