"""What is needed of Mesa, as it exists in all releases from 3.3 to the alpha of 4.0."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from typing import TYPE_CHECKING

import networkx as nx

from virsci_society.agents.profile import Recollection

# Mesa names its logger by `inspect.stack()`, which reads the source of every frame of whoever
# imports it: a thread begins with an empty stack.
with ThreadPoolExecutor(1) as _pool:
    _pool.submit(import_module, "mesa").result()
from mesa import DataCollector, Model
from mesa.discrete_space import CellAgent, Network

if TYPE_CHECKING:
    from collections.abc import Callable

    from virsci_society.agents.profile import Profile


__all__ = ["CellAgent", "DataCollector", "Model", "NetworkSpace"]


class NetworkSpace(Network):
    """A space whose places are the nodes of a graph, which may grow; its graph is ``G``."""

    def __init__(self, model: Model) -> None:
        super().__init__(nx.Graph(), random=model.random)

    def update(self, graph: nx.Graph[int]) -> None:
        """Add the nodes and edges of a graph that are new, and take the values of all edges."""
        for node in graph:
            if node not in self._cells:
                self.add_cell(self.cell_klass(node, random=self.random))
        for first, other in graph.edges:
            if not self.G.has_edge(first, other):
                self.add_connection(self[first], self[other])
        self.G.add_edges_from(graph.edges(data=True))


class Scientist(CellAgent):
    """One person of the society: masked name, profile, memory and memberships."""

    def __init__(
        self, model: Model, name: str, row: int, present: Callable[[int], Profile]
    ) -> None:
        super().__init__(model)
        # Mesa's counter of ids would keep every model alive for ever; the row is as good an id.
        getattr(CellAgent, "_ids", {}).pop(model, None)
        self.unique_id = row + 1
        self.name = name
        self.row = row
        self.teams: list[str] = []
        self.memory: tuple[Recollection, ...] = ()
        self._present = present

    @property
    def profile(self) -> Profile:
        """The profile as of now."""
        return self._present(self.row)

    @property
    def load(self) -> int:
        """Number of teams that it is working in now."""
        return len(self.teams)

    def remember(self, date: float, team: str, line: str) -> None:
        """Add one line of memory on a simulated date in days."""
        self.memory = (*self.memory, Recollection(date, team, line))
