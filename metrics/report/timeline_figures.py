"""Timelines of the teams of a run, from founding to paper, and of people by their teams."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
from markupsafe import Markup

from virsci_society.agents.spelling import cut_text
from virsci_society.metrics.report.drawing.axes import Axes
from virsci_society.metrics.report.drawing.elements import LegendEntry
from virsci_society.metrics.report.drawing.svg import (
    BLUE,
    COLOURS,
    GREEN,
    GRID,
    INCH,
    INK,
    MUTED,
    ORANGE,
    PINK,
    WIDE,
    Plot,
)
from virsci_society.metrics.report.network_layout import Communities
from virsci_society.metrics.teams.timelines import project_spans
from virsci_society.society.results.run import Run

ROWS_DRAWN = 40
"""Teams, and people, of one figure."""
NAME_SHOWN = 24
ROW_HEIGHT = 0.165
"""Inches."""
MARKED_STAGES = {
    "topic": ("triangle", GREEN),
    "ideas": ("circle", ORANGE),
    "novelty": ("square", PINK),
    "abstract": ("diamond", BLUE),
}
"""Shape and colour of the meetings of each stage; others have the last of the shapes."""
MEETING = {"meetings": "meeting"}
"""Names of stages in the legend that are written otherwise than ``meeting: STAGE``."""
OTHER_STAGE = ("circle", MUTED)
AT_WORK, WAITING = 6.0, 1.3
LOADS = {1: 2.6, 2: 5.4, 3: 8.2}
"""Widths of the line of somebody who is in so many teams, or more."""
LEADER = 1.1
UNSEEN = "1.5 2.5"
"""Dashes from the end of the work to the day on which the paper is visible."""
WORKING = ("effort", "switching", "meetings")


class Timeline(NamedTuple):
    """A figure of rows over simulated time, and which of all rows it shows."""

    picture: Markup
    drawn: int
    total: int

    @property
    def shown(self) -> str:
        """How many of how many are drawn."""
        return f"all {self.total}" if self.drawn == self.total else f"{self.drawn} of {self.total}"


def team_timeline(run: Run) -> Timeline | None:
    """Draw each team as a row, the earliest founded on top; None where no team was founded."""
    teams = run.table("teams", plain=True).dropna(subset=["founded"])
    if not len(teams):
        return None
    # Of many some are drawn, evenly chosen, the first and the last included.
    chosen = np.unique(np.linspace(0, len(teams) - 1, ROWS_DRAWN).round().astype(int))
    rows = teams.sort_values(["founded", "team"]).iloc[chosen]
    drawn, axes = _row_axes(run, [str(name) for name in rows["team"]])
    place = {team: float(number) for number, team in enumerate(rows["team"])}

    def mark(table: pd.DataFrame, column: str, shape: str, colour: str) -> None:
        height = table["team"].map(place).to_numpy(dtype=np.float64)
        size = 7.0 if shape in ("star", "cross") else 4.6
        axes.symbols(table[column].to_numpy(np.float64), height, shape, colour, size=size)

    # Waiting over the whole course, work on top of it, and the way to the paper.
    at, founded = np.arange(len(rows), dtype=np.float64), rows["founded"].to_numpy(np.float64)
    finished = rows["finished"].fillna(run.days).to_numpy(dtype=np.float64)
    axes.segments((founded, at), (finished, at), MUTED, width=WAITING)
    axes.segments((founded, at - 0.22), (founded, at + 0.22), MUTED, width=WAITING)
    spans = project_spans(run, list(place))
    spans = spans[spans["kind"].isin(WORKING)]
    height = spans["team"].map(place).to_numpy(dtype=np.float64)
    begun, ended = (spans[name].to_numpy(np.float64) for name in ("start", "end"))
    met = run.table("meetings", plain=True)
    if not len(met):
        # Teams without meetings are at work from the day on which their members are known.
        begun, ended, height = rows["formed"].fillna(rows["founded"]).to_numpy(), finished, at
    axes.segments((begun, height), (ended, height), BLUE, width=AT_WORK, opacity=0.55)
    visible = rows["published"].to_numpy(dtype=np.float64)
    axes.segments((finished, at), (visible, at), INK, width=1.2, dashes=UNSEEN)
    met = met[met["team"].isin(list(place))].dropna(subset=["held", "stage"])
    others = sorted(set(met["stage"]) - set(MARKED_STAGES))
    stages = [stage for stage in (*MARKED_STAGES, *others) if (met["stage"] == stage).any()]
    for stage in stages:
        mark(met[met["stage"] == stage], "held", *MARKED_STAGES.get(stage, OTHER_STAGE))
    published = rows.dropna(subset=["published"])
    gone = rows[rows["state"] == "dissolved"].dropna(subset=["finished"])
    mark(published, "published", "star", INK)
    mark(gone, "finished", "cross", PINK)
    entries = []
    if (finished > founded).any():
        entries.append(LegendEntry("at work", BLUE, width=AT_WORK - 1))
        entries.append(LegendEntry("waiting", MUTED, width=WAITING))
        if len(published):
            unseen = LegendEntry("paper not yet visible", INK, dashes=UNSEEN, width=1.2)
            entries.append(unseen)
    for stage in stages:
        shape, colour = MARKED_STAGES.get(stage, OTHER_STAGE)
        entries.append(LegendEntry(MEETING.get(stage, f"meeting: {stage}"), colour, shape))
    entries += [LegendEntry("paper visible", INK, "star")] if len(published) else []
    entries += [LegendEntry("dissolved", PINK, "cross")] if len(gone) else []
    drawn.legend(entries)
    label = "Teams over simulated time, from founding to paper"
    return Timeline(drawn.svg(label), len(rows), len(teams))


def people_timeline(run: Run, whole: Communities) -> Timeline | None:
    """Draw people as rows, community by community; None where nobody was in a team."""
    members = run.table("members", plain=True).dropna(subset=["joined"])
    counts = members.groupby("scientist")["joined"].agg(["size", "min"]).reset_index()
    order = counts.sort_values(["size", "min", "scientist"], ascending=[False, True, True])
    community = dict(zip(whole.names, whole.community.tolist(), strict=True))
    found = [(community.get(who, len(whole.names)), who) for who in order["scientist"]]
    shown = sorted(found[:ROWS_DRAWN], key=lambda one: one[0])
    if not shown:
        return None
    drawn, axes = _row_axes(run, [str(who) for _, who in shown])
    axes.y.grid = False
    bands = np.arange(1, len(shown), 2)
    ends = (0.0 * bands, bands), (0.0 * bands + axes.x.ends()[1], bands)
    axes.segments(*ends, GRID, width=INCH * ROW_HEIGHT, opacity=0.6)
    place = {who: number for number, (_, who) in enumerate(shown)}
    colour = {who: COLOURS[one] if one < len(COLOURS) else MUTED for one, who in shown}
    own = members[members["scientist"].isin(place)]
    loads = _loads(own, run.days)
    paint, teams_of = loads["scientist"].map(colour), loads["teams"].clip(upper=max(LOADS))
    # One path per colour and width: a path has one of each, and thousands make a page slow.
    for one in sorted(set(colour.values())):
        for teams, width in LOADS.items():
            rows = loads[(paint == one) & (teams_of == teams)]
            if len(rows):
                _draw_spans(axes, rows, place, one, width)
    leads = own[own["role"] == "leader"].assign(start=own["joined"], end=own["left"])
    _draw_spans(axes, leads.fillna({"end": run.days}), place, INK, LEADER)
    words = {1: "in a team", 2: "in two teams at once", 3: "in three or more"}
    most = int(loads["teams"].max())
    lines = [LegendEntry(words[one], BLUE, width=LOADS[one]) for one in words if one <= most]
    drawn.legend([*lines, LegendEntry("leads a team", INK, width=LEADER)])
    label = "People over simulated time, by the teams they are in"
    return Timeline(drawn.svg(label), len(shown), len(counts))


def _draw_spans(
    axes: Axes, spans: pd.DataFrame, place: dict[str, int], colour: str, width: float
) -> None:
    """Lines from ``start`` to ``end`` in the rows of the scientists; dots where these are equal."""
    height = spans["scientist"].map(place).to_numpy(dtype=np.float64)
    start, end = (spans[name].to_numpy(dtype=np.float64) for name in ("start", "end"))
    axes.segments((start, height), (end, height), colour, width=width)
    axes.symbols(start[start == end], height[start == end], "circle", colour, size=1.7 * width)


def _loads(own: pd.DataFrame, days: float) -> pd.DataFrame:
    """In how many ``teams`` (> 0) each scientist is from ``start`` to ``end``."""
    left = own["left"].fillna(days)
    changes = pd.concat([own.assign(start=own["joined"], by=1), own.assign(start=left, by=-1)])
    steps = changes.groupby(["scientist", "start"])["by"].sum().reset_index()
    own_steps = steps.groupby("scientist")
    steps = steps.assign(teams=own_steps["by"].cumsum(), end=own_steps["start"].shift(-1))
    # Teams without words write at once: their members join and leave on one date.
    moments = own[own["joined"] == left].assign(start=left, end=left, teams=1)
    return pd.concat([steps[steps["teams"] > 0], moments])


def _row_axes(run: Run, names: list[str]) -> tuple[Plot, Axes]:
    """A figure with one row for each name, the first on top."""
    drawn = Plot(WIDE, 0.95 + ROW_HEIGHT * len(names))
    axes = drawn.axes()
    axes.y.ticks = range(len(names))
    axes.y.labels = [cut_text(name, NAME_SHOWN) for name in names]
    # Upside down, so that the first row is on top.
    axes.y.low, axes.y.high = len(names) - 0.4, -0.6
    axes.y.grid = True
    axes.x.low, axes.x.high = 0.0, max(run.days, 1e-6)
    axes.x.label, axes.x.grid = "simulated days", True
    return drawn, axes
