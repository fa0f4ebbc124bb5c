"""Plots of a run, drawn from its tables with matplotlib.

Every plot takes the axes to draw on and returns them, so that plots can be put together, changed
and saved as matplotlib's users do. Without axes a new figure is made.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import pandas as pd

from virsci_society.agents.invented_names import with_invented_names
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


class RunWithTables(Protocol):
    """What a plot needs of a run."""

    @property
    def days(self) -> float:
        """The simulated time from day 0 to the end, in days."""

    def table(self, name: str, *, plain: bool = False) -> pd.DataFrame:
        """One table, with numpy's dtypes if ``plain``."""


class RunPlots:
    """The plots of one run; ``run.plot`` gives it."""

    def __init__(self, run: RunWithTables) -> None:
        self._run = run

    def __repr__(self) -> str:
        return "<plots of a run: timeline, people, network, papers, calls>"

    def timeline(self, ax: Any = None) -> Any:
        """Every team as a bar from its founding to the end of its work, by colour of its state.

        A dot marks the day on which its paper became visible.
        """
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

    def people(self, ax: Any = None, *, most: int = 40) -> Any:
        """Scientists as rows and their memberships as bars, those with most of them on top.

        Memberships at the same time are drawn over each other, so that a darker part of a bar
        is a scientist in several teams.
        """
        axes = _axes(ax)
        members = self._run.table("members", plain=True)
        # By name among equals, because pandas leaves their order open.
        names = sorted(members["scientist"].value_counts().items(), key=lambda one: (-one[1], one))
        place = {name: row for row, (name, _) in enumerate(names[:most])}
        shown = members[members["scientist"].isin(list(place))]
        begun = shown["joined"]
        for role, colour in (("leader", "tab:blue"), ("member", "tab:green")):
            rows = (shown["role"] == "leader") == (role == "leader")
            spans = shown["left"].fillna(self._run.days)[rows] - begun[rows]
            at = shown.loc[rows, "scientist"].map(place)
            axes.barh(at, spans, left=begun[rows], color=colour, alpha=0.5, label=role)
        called = [with_invented_names(str(name)) for name in place]
        axes.set_yticks(list(place.values()), called, fontsize="x-small")
        axes.set_xlim(min([0.0, *begun]), self._run.days)
        axes.invert_yaxis()
        axes.set(xlabel="simulated days", title="People by the teams they are in")
        if len(shown):
            axes.legend()
        return axes

    def network(self, ax: Any = None, *, day: float | None = None, seed: int = 0) -> Any:
        """The co-authorship network of a day: ties from before day 0 in grey, later ones in blue.

        Scientists without a tie are left out. Positions are those of networkx' spring layout.

        Args:
            day: the last day that counts; None: the end of the run.
        """
        axes = _axes(ax)
        ties = self._run.table("ties", plain=True)
        last = self._run.days if day is None else day
        ties = ties[ties["date"] <= last]
        since = ties["date"] >= 0
        graph: nx.Graph[str] = nx.Graph()
        for source, target in zip(ties["source"], ties["target"], strict=True):
            graph.add_edge(source, target)
        places = nx.spring_layout(graph, seed=seed)
        for rows, colour, label in (
            (~since, "lightgrey", "before day 0"),
            (since, "tab:blue", "since"),
        ):
            edges = list(zip(ties.loc[rows, "source"], ties.loc[rows, "target"], strict=True))
            if edges:
                nx.draw_networkx_edges(graph, places, edgelist=edges, ax=axes, edge_color=colour)
                axes.collections[-1].set_label(label)
        if len(graph):
            nx.draw_networkx_nodes(graph, places, ax=axes, node_size=15, node_color="black")
            axes.legend()
        axes.set(title=f"Co-authors on day {last:g}")
        axes.set_axis_off()
        return axes

    def papers(self, ax: Any = None) -> Any:
        """Papers so far, and teams at work, over simulated time."""
        axes = _axes(ax)
        run = self._run
        teams = run.table("teams", plain=True)
        published = np.sort(run.table("papers", plain=True)["published"].to_numpy())
        days = np.concatenate([[0.0], published, [run.days]])
        counts = np.concatenate([np.arange(len(published) + 1), [len(published)]])
        axes.step(days, counts, where="post", color="tab:blue", label="papers so far")
        begun = pd.Series(1.0, index=teams["founded"])
        ended = pd.Series(-1.0, index=teams["finished"].dropna())
        span = pd.Series(0.0, index=[0.0, run.days])
        at_work = pd.concat([begun, ended, span]).groupby(level=0).sum().sort_index().cumsum()
        axes.step(
            at_work.index,
            at_work.to_numpy(),
            where="post",
            color="tab:orange",
            label="teams at work",
        )
        axes.set(xlabel="simulated days", ylabel="number", title="Papers and teams")
        axes.locator_params(axis="y", integer=True)
        axes.legend()
        return axes

    def calls(self, ax: Any = None) -> Any:
        """Questions asked, by stage and act."""
        axes = _axes(ax)
        calls = self._run.table("calls", plain=True)
        counts = calls.groupby(["stage", "act"]).size().unstack("act", fill_value=0)
        before = np.zeros(len(counts))
        for act in counts.columns:
            axes.bar(counts.index, counts[act], bottom=before, label=act)
            before = before + counts[act].to_numpy()
        axes.set(xlabel="stage", ylabel="calls", title="Calls by stage and act")
        axes.locator_params(axis="y", integer=True)
        if len(counts):
            axes.legend(fontsize="small")
        return axes


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    # Loaded at the first plot: it takes a second, and most runs are never drawn.
    require_extra("plots", "matplotlib", "a plot needs matplotlib")
    from matplotlib import pyplot

    return pyplot.subplots(figsize=SIZE, layout="constrained")[1]
