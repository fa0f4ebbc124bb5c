"""Who bridges the parts of a field: scientists on many shortest paths."""

import networkx as nx
from matplotlib import pyplot

import virsci_society as vs

run = vs.Run.open(vs.run_scenario(vs.load_scenario("community/assembly"), "runs/assembly"))
ties = run.table("ties")
graph = nx.from_pandas_edgelist(ties[ties["date"] >= 0], "source", "target")
graph.remove_nodes_from(set(graph) - max(nx.connected_components(graph), key=len))
between = nx.betweenness_centrality(graph)
top = sorted(between, key=between.get)[-5:]

pyplot.figure(figsize=(8, 6))
places = nx.kamada_kawai_layout(graph)
sizes = [20 + 900 * between[one] for one in graph]
nx.draw_networkx_edges(graph, places, edge_color="#cccccc")
shades = ["C1" if one in top else "C5" for one in graph]
nx.draw_networkx_nodes(graph, places, node_size=sizes, node_color=shades, edgecolors="white")
for one in top:
    pyplot.annotate(one, places[one], (10, 8), textcoords="offset points", fontsize=9)
pyplot.title(f"The largest component, {len(graph)} scientists; orange: the five on most paths")
pyplot.axis("off")
pyplot.savefig("bridges.svg")
