"""Do friends of friends become co-authors? New pairs by the co-authors they had in common."""

import networkx as nx
import pandas as pd
from matplotlib import pyplot

import virsci_society as vs

run = vs.Run.open(vs.run_scenario(vs.load_scenario("community/assembly"), "runs/assembly"))
ties = run.table("ties")
before = nx.from_pandas_edgelist(ties[ties["date"] < 0], "source", "target")
after = nx.from_pandas_edgelist(ties[ties["date"] >= 0], "source", "target")
table = pd.DataFrame(nx.non_edges(before), columns=["one", "other"])
mutual = [len(before.adj[a].keys() & before.adj[b].keys()) for a, b in table.to_numpy()]
table["tied"] = [after.has_edge(a, b) for a, b in table.to_numpy()]
found = table["tied"].groupby(pd.Series(mutual).clip(upper=4)).agg(["mean", "sum", "size"])

bars = pyplot.bar(found.index, 100 * found["mean"], width=0.7)
labels = [f"{row.sum} of\n{row.size:,}" for row in found.rename(columns=str).itertuples()]
pyplot.bar_label(bars, labels, padding=3, color="#444444", fontsize=9)
pyplot.xticks(range(5), ["0", "1", "2", "3", "4 or more"])
pyplot.margins(y=0.2)
pyplot.xlabel("co-authors in common on day 0")
pyplot.ylabel("write together in the run, %")
pyplot.savefig("closure.svg")
