"""The co-authorship network on day 0 and two years later, coloured by community."""

import networkx as nx
from matplotlib import pyplot

import virsci_society as vs

run = vs.Run.open(vs.run_scenario(vs.load_scenario("community/assembly"), "runs/assembly"))
ties = run.table("ties")
end = nx.from_pandas_edgelist(ties, "source", "target")
end.remove_nodes_from(set(end) - max(nx.connected_components(end), key=len))
places = nx.spring_layout(end, k=0.16, iterations=100, seed=2)
groups = sorted(nx.community.louvain_communities(end, seed=1), key=len, reverse=True)
colour = {one: f"C{at}" for at, group in enumerate(groups[:6]) for one in group}

figure, axes = pyplot.subplots(1, 2, figsize=(9, 5))
for day, axis in zip((0, run.days), axes, strict=True):
    graph = nx.from_pandas_edgelist(ties[ties["date"] <= day], "source", "target").subgraph(end)
    nx.draw_networkx_edges(graph, places, ax=axis, edge_color="#d4d4d4", width=0.6)
    shades = [colour.get(one, "#a9a9a9") for one in graph]
    nx.draw_networkx_nodes(graph, places, ax=axis, node_size=14, node_color=shades)
    axis.set(title=f"Day {day:.0f}: {len(graph)} scientists, {graph.size()} pairs of co-authors")
    axis.set_axis_off()
figure.supxlabel("colours: the six largest communities (Louvain, at the end)", fontsize=9)
pyplot.savefig("communities.svg")
