"""What is needed of Mesa, as it exists in all releases from 3.3 to the alpha of 4.0."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.util import find_spec, module_from_spec
from typing import Any

from virsci_society.agents.lazy_imports import LazyModule, nx
from virsci_society.agents.profile import Profile, Recollection


def _import_later(name: str) -> None:
    """Put a module into ``sys.modules`` whose code runs when a name is asked of it, if at all."""
    spec: Any = find_spec(name)
    if spec is None:
        return
    module: Any = module_from_spec(spec)

    def load(missing: str) -> Any:
        del module.__getattr__
        spec.loader.exec_module(module)
        return getattr(module, missing)

    module.__getattr__ = load
    sys.modules[name] = module


if "mesa" not in sys.modules:
    # Their own code imports NetworkX and the geometry of SciPy, for spaces that no society has.
    for _module in ("mesa", "mesa.discrete_space", "mesa.experimental", "mesa.space"):
        _import_later(_module)
from mesa import DataCollector as DataCollector  # noqa: E402
from mesa import Model as Model  # noqa: E402
from mesa.discrete_space.cell_agent import CellAgent  # noqa: E402

_network: Any = LazyModule("mesa.discrete_space.network")


def network_space(model: Model, graph: nx.Graph[int], space: Any = None) -> Any:
    """A space whose places are the nodes of a graph, or the same one when the graph has grown."""
    space = space or _network.Network(nx.Graph(), random=model.random)
    for node in graph:
        if node not in space._cells:
            space.add_cell(space.cell_klass(node, random=space.random))
    for first, other in graph.edges:
        if not space.G.has_edge(first, other):
            space.add_connection(space[first], space[other])
    space.G.add_edges_from(graph.edges(data=True))
    return space


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
