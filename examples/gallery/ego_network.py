"""The co-authors of the best-connected scientist, and who of them write with each other."""

import networkx as nx
from matplotlib import pyplot

import virsci_society as vs

run = vs.Run.open(vs.run_scenario(vs.load_scenario("community/assembly"), "runs/assembly"))
ties = run.table("ties")
ties = ties[ties["date"] >= 0].groupby(["source", "target"], as_index=False)["papers"].sum()
graph = nx.from_pandas_edgelist(ties, "source", "target", "papers")
centre = max(graph, key=graph.degree)
ego = nx.ego_graph(graph, centre)

pyplot.figure(figsize=(6, 6))
groups = map(sorted, nx.connected_components(ego.subgraph(ego[centre])))  # without the centre
others = [one for group in sorted(groups) for one in group]
places = nx.circular_layout(others) | {centre: (0, 0)}
widths = [papers for *_, papers in ego.edges.data("papers")]
nx.draw_networkx_edges(ego, places, width=widths, edge_color="#a9c3d6")
shades = ["C1" if one == centre else "C0" for one in ego]
nx.draw_networkx_nodes(ego, places, node_size=260, node_color=shades, edgecolors="white")
pyplot.title(f"{centre} and {len(others)} co-authors; wider lines: more joint papers")
pyplot.axis("off")
pyplot.savefig("ego_network.svg")
