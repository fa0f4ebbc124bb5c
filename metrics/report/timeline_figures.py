"""Timelines of the teams of a run, from founding to paper, and of people by their teams.

Of a large run some rows are drawn, evenly chosen, and the captions say how many of how many.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from markupsafe import Markup

from virsci_society.agents.arrays import FloatArray
from virsci_society.agents.spelling import cut_text
from virsci_society.metrics.report.drawing.axes import Axes
from virsci_society.metrics.report.drawing.elements import LegendEntry
from virsci_society.metrics.report.drawing.svg import BLUE, GREEN, INK, MUTED, ORANGE, PINK, Plot
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
LEADER, MEMBER = 3.4, 1.8
"""Widths of lines."""
LANES = 0.6
"""Share of the height of a row over which memberships at the same time are spread."""
UNSEEN = "1.5 2.5"
"""Dashes from the end of the work to the day on which the paper is visible."""
WORKING = ("effort", "switching", "meetings")


@dataclass(frozen=True)
class Timeline:
    """A figure of rows over simulated time."""

    figure: Markup
    drawn: int
    total: int


def team_timeline(run: Run) -> Timeline | None:
    """Draw each team as a row, the earliest founded on top; None where no team was founded.

    A thick line is homework or a meeting, a thin one waiting (until members have answered, for
    the date of a meeting, for people who are busy in other teams), a dotted one the time until
    the finished paper is visible.
    """
    teams = run.table("teams", plain=True).dropna(subset=["founded"])
    rows = _spread(teams.sort_values(["founded", "team"]))
    if not len(rows):
        return None
    drawn, axes = _row_axes(run, [str(name) for name in rows["team"]])
    place = {team: float(number) for number, team in enumerate(rows["team"])}
    _draw_courses(axes, run, rows, place)
    stages = _draw_meetings(axes, run, place)
    published = rows.dropna(subset=["published"])
    _draw_marks(axes, published, "published", place, "star", INK)
    gone = rows[rows["state"] == "dissolved"].dropna(subset=["finished"])
    _draw_marks(axes, gone, "finished", place, "cross", PINK)
    drawn.legend(
        [
            LegendEntry("at work", BLUE, width=AT_WORK - 1),
            LegendEntry("waiting", MUTED, width=WAITING),
            *(
                [LegendEntry("paper not yet visible", INK, dashes=UNSEEN, width=1.2)]
                * bool(len(published))
            ),
            *[
                LegendEntry(MEETING.get(stage, f"meeting: {stage}"), *_mark(stage)[::-1])
                for stage in stages
            ],
            *([LegendEntry("paper visible", INK, "star")] * bool(len(published))),
            *([LegendEntry("dissolved", PINK, "cross")] * bool(len(gone))),
        ]
    )
    label = "Teams over simulated time, from founding to paper"
    return Timeline(drawn.svg(label), len(rows), len(teams))


def people_timeline(run: Run) -> Timeline | None:
    """Draw people as rows and their memberships as lines; None where nobody was in a team.

    Memberships at the same time are drawn one below the other. Of a crowd, those who were in most
    teams are drawn.
    """
    members = run.table("members", plain=True).dropna(subset=["joined"])
    counts = members.groupby("scientist")["joined"].agg(["size", "min"]).reset_index()
    order = counts.sort_values(["size", "min", "scientist"], ascending=[False, True, True])
    names = order["scientist"].head(ROWS_DRAWN).tolist()
    if not names:
        return None
    drawn, axes = _row_axes(run, [str(name) for name in names])
    # In order of joining, since lanes are given in that order.
    own = members[members["scientist"].isin(names)].sort_values(["joined", "team"])
    place = {name: number for number, name in enumerate(names)}
    lanes = _lanes(own, run.days)
    height = own["scientist"].map(place).to_numpy(dtype=np.float64) + lanes
    start, end = (own[name].fillna(run.days).to_numpy(np.float64) for name in ("joined", "left"))
    leads = (own["role"] == "leader").to_numpy(dtype=bool)
    thinner = _thinner(own["scientist"], lanes)
    for rows, colour, width in ((~leads, GREEN, MEMBER), (leads, BLUE, LEADER)):
        # One path per width: a path has one, and thousands of paths make a page slow.
        for share in np.unique(thinner[rows]):
            row = rows & (thinner == share)
            ends = (start[row], height[row]), (end[row], height[row])
            axes.segments(*ends, colour, width=width * share)
    drawn.legend(
        [
            LegendEntry("leads a team", BLUE, width=LEADER),
            LegendEntry("member of a team", GREEN, width=MEMBER),
        ]
    )
    label = "People over simulated time, by the teams they are in"
    return Timeline(drawn.svg(label), len(names), len(counts))


def _spread(table: pd.DataFrame) -> pd.DataFrame:
    """At most ``ROWS_DRAWN`` rows, evenly chosen, the first and the last included."""
    if len(table) <= ROWS_DRAWN:
        return table
    return table.iloc[np.linspace(0, len(table) - 1, ROWS_DRAWN).round().astype(int)]


def _row_axes(run: Run, names: list[str]) -> tuple[Plot, Axes]:
    """A figure with one row for each name, the first on top."""
    drawn = Plot(7.0, 0.95 + ROW_HEIGHT * len(names))
    axes = drawn.axes()
    axes.y.ticks = range(len(names))
    axes.y.labels = [cut_text(name, NAME_SHOWN) for name in names]
    # Upside down, so that the first row is on top.
    axes.y.low, axes.y.high = len(names) - 0.4, -0.6
    axes.y.grid = True
    axes.x.low, axes.x.high = 0.0, max(run.days, 1e-6)
    axes.x.label, axes.x.grid = "simulated days", True
    return drawn, axes


def _draw_courses(axes: Axes, run: Run, rows: pd.DataFrame, place: dict[str, float]) -> None:
    """Waiting as a thin line over the whole course, work on top of it, and the way to the paper."""
    at = rows["team"].map(place).to_numpy(dtype=np.float64)
    founded = rows["founded"].to_numpy(dtype=np.float64)
    finished = rows["finished"].fillna(run.days).to_numpy(dtype=np.float64)
    axes.segments((founded, at), (finished, at), MUTED, width=WAITING)
    axes.segments((founded, at - 0.22), (founded, at + 0.22), MUTED, width=WAITING)
    spans = project_spans(run, list(place))
    if len(spans):
        spans = spans[spans["kind"].isin(WORKING)]
        height = spans["team"].map(place).to_numpy(dtype=np.float64)
        start, end = (spans[name].to_numpy(np.float64) for name in ("start", "end"))
        axes.segments((start, height), (end, height), BLUE, width=AT_WORK, opacity=0.55)
    if not len(run.table("meetings")):
        # Teams without meetings are at work from the day on which their members are known.
        formed = rows["formed"].fillna(rows["founded"]).to_numpy(dtype=np.float64)
        axes.segments((formed, at), (finished, at), BLUE, width=AT_WORK, opacity=0.55)
    published = rows["published"].to_numpy(dtype=np.float64)
    axes.segments((finished, at), (published, at), INK, width=1.2, dashes=UNSEEN)


def _draw_meetings(axes: Axes, run: Run, place: dict[str, float]) -> list[str]:
    """A symbol for each meeting; the stages that there are, in the order of a team's work."""
    met = run.table("meetings", plain=True)
    met = met[met["team"].isin(list(place))].dropna(subset=["held", "stage"])
    known = [*MARKED_STAGES, *sorted(set(met["stage"]) - set(MARKED_STAGES))]
    stages = [stage for stage in known if (met["stage"] == stage).any()]
    for stage in stages:
        _draw_marks(axes, met[met["stage"] == stage], "held", place, *_mark(stage))
    return stages


def _mark(stage: str) -> tuple[str, str]:
    return MARKED_STAGES.get(stage, OTHER_STAGE)


def _draw_marks(
    axes: Axes, rows: pd.DataFrame, column: str, place: dict[str, float], shape: str, colour: str
) -> None:
    height = rows["team"].map(place).to_numpy(dtype=np.float64)
    size = 7.0 if shape in ("star", "cross") else 4.6
    axes.symbols(rows[column].to_numpy(np.float64), height, shape, colour, size=size)


def _lanes(own: pd.DataFrame, days: float) -> FloatArray:
    """Where in its row each membership stands, -0.3..0.3, so that none covers another."""
    ends: dict[str, list[float]] = {}
    lanes: list[int] = []
    most: dict[str, int] = {}
    for who, joined, left in zip(
        own["scientist"], own["joined"], own["left"].fillna(days), strict=True
    ):
        busy = ends.setdefault(who, [])
        free = next((lane for lane, end in enumerate(busy) if end <= joined), len(busy))
        busy[free : free + 1] = [left]
        lanes.append(free)
        most[who] = max(most.get(who, 0), free)
    spread = [
        0.0 if not most[who] else LANES * (lane / most[who] - 0.5)
        for who, lane in zip(own["scientist"], lanes, strict=True)
    ]
    return np.array(spread, dtype=np.float64)


def _thinner(people: pd.Series, lanes: FloatArray) -> FloatArray:
    """By how much the lines of each membership are thinner, so that lanes stay apart; 0..1."""
    number = pd.Series(lanes).groupby(people.to_numpy()).transform("nunique").to_numpy()
    between = 72 * ROW_HEIGHT * LANES / np.maximum(number - 1, 1)
    share: FloatArray = np.minimum(1.0, 0.65 * between / LEADER)
    return share
