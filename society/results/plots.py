"""Plots of a run, drawn with matplotlib on given axes, which are returned, or on new ones."""

from __future__ import annotations

from typing import Any

from virsci_society.agents.lazy_imports import nx, require_extra

STATES = {
    "published": "tab:blue",
    "finished": "tab:cyan",
    "running": "tab:orange",
    "dissolved": "tab:red",
}
"""Colours of teams by their state at the end."""
SIZE = (7.0, 4.0)
"""Of a new figure, in inches."""


class RunPlots:
    """The plots of one run; ``run.plot`` gives it."""

    def __init__(self, run: Any) -> None:
        self._run = run

    def __repr__(self) -> str:
        return "<plots of a run: timeline, network>"

    def timeline(self, ax: Any = None) -> Any:
        """Every team as a bar from its founding to the end of its work, by colour of its state."""
        axes = _axes(ax)
        teams = self._run.table("teams", plain=True).sort_values("founded", kind="stable")
        teams = teams.reset_index(drop=True)
        ends = teams["finished"].fillna(self._run.days)
        for state, colour in STATES.items():
            rows = teams["state"] == state
            if rows.any():
                begun = teams.loc[rows, "founded"]
                axes.barh(
                    teams.index[rows], ends[rows] - begun, left=begun, color=colour, label=state
                )
        axes.plot(teams["published"], teams.index, "k.", label="paper visible")
        axes.set_xlim(min([0.0, *teams["founded"]]), self._run.days)
        axes.invert_yaxis()
        axes.set(xlabel="simulated days", ylabel="team, by founding", title="Teams")
        axes.locator_params(axis="y", integer=True)
        if len(teams):
            axes.legend()
        return axes

    def network(self, ax: Any = None, *, day: float | None = None, seed: int = 0) -> Any:
        """The co-authors of a day (None: the last), ties from before day 0 grey, later blue."""
        axes = _axes(ax)
        last = self._run.days if day is None else day
        graph, since = self._run.network(last), self._run.network(last, since=0)
        places = nx.spring_layout(graph, seed=seed)
        old = [edge for edge in graph.edges if not since.has_edge(*edge)]
        for edges, colour, label in (
            (old, "lightgrey", "before day 0"),
            (list(since.edges), "tab:blue", "since"),
        ):
            if edges:
                nx.draw_networkx_edges(graph, places, edgelist=edges, ax=axes, edge_color=colour)
                axes.collections[-1].set_label(label)
        if len(graph):
            nx.draw_networkx_nodes(graph, places, ax=axes, node_size=15, node_color="black")
            axes.legend()
        axes.set(title=f"Co-authors on day {last:g}")
        axes.set_axis_off()
        return axes


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    # Loaded at the first plot: it takes a second, and most runs are never drawn.
    require_extra("plots", "matplotlib", "a plot needs matplotlib")
    from matplotlib import pyplot

    return pyplot.subplots(figsize=SIZE, layout="constrained")[1]
