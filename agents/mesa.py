"""What is needed of Mesa, from 3.3 to the alpha of 4.0: model, agent, collector, network space.

Mesa 4 has no ``mesa.space``, no argument ``seed``, no ``model.steps`` and no ``batch_run``. What is
used here exists in all of these releases.
"""

from __future__ import annotations

import networkx as nx
from mesa import DataCollector, Model
from mesa.discrete_space import CellAgent, Network

__all__ = ["CellAgent", "DataCollector", "Model", "NetworkSpace"]


class NetworkSpace(Network):
    """A space whose places are the nodes of a graph, which may grow; its graph is ``G``.

    Args:
        model: the model whose agents have their places in it.
    """

    def __init__(self, model: Model) -> None:
        super().__init__(nx.Graph(), random=model.random)

    def update(self, graph: nx.Graph[int]) -> None:
        """Add the nodes and edges of a graph that are new, and take the values of all edges."""
        for node in graph:
            if node not in self._cells:
                self.add_cell(self.cell_klass(node, random=self.random))
        for one, other in graph.edges:
            if not self.G.has_edge(one, other):
                self.add_connection(self[one], self[other])
        self.G.add_edges_from(graph.edges(data=True))
