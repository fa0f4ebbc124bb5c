"""Community figures: degrees, team assembly, and where the time between meetings goes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup

from metrics.report.drawing import BLUE, GREEN, MUTED, ORANGE, PINK, figure, only_whole, svg

PARTS = {
    "notice": ("notice", MUTED),
    "teammates": ("team-mates at their homework", BLUE),
    "desk_queue": ("homework of other projects", GREEN),
    "meeting_queue": ("meetings of other teams", PINK),
}


def delays(table: pd.DataFrame) -> Markup | None:
    """Waiting of a member per round, by team size and by memberships, part upon part."""
    if not len(table):
        return None
    with figure("delays", 7.0, 2.9) as drawn:
        panels = drawn.subplots(1, 2, sharey=True)
        labels = {"size": "people in the meeting", "memberships": "teams the member is in"}
        for axes, (by, label) in zip(panels, labels.items(), strict=True):
            _stacked(axes, table[table["by"] == by])
            axes.set_xlabel(label)
        panels[0].set_title("Days of waiting per round")
        panels[0].set_ylim(top=panels[0].get_ylim()[1] * 1.45)
        panels[0].legend(loc="upper left", handlelength=1.0, ncols=2)
        return svg(drawn, "Mean days of waiting per round by team size and by memberships")


def _stacked(axes: Any, rows: pd.DataFrame) -> None:
    value = rows["value"].to_numpy(dtype=np.float64)
    floor = np.zeros(len(rows))
    for name, (label, colour) in PARTS.items():
        height = rows[name].to_numpy(dtype=np.float64, na_value=0.0)
        axes.bar(value, height, bottom=floor, width=0.62, color=colour, label=label)
        floor += height
    only_whole(axes.xaxis, 8)
    axes.grid(axis="y")


def assembly(table: pd.DataFrame) -> Markup | None:
    """Shares of incumbents and of repeats among all papers so far, over simulated time."""
    if not table["links"].any():
        return None
    with figure("assembly", 4.2, 2.5) as drawn:
        axes = drawn.subplots()
        for name, colour, label in (
            ("p_so_far", BLUE, "p: authorships of incumbents"),
            ("q_so_far", ORANGE, "q: repeats, of links of two incumbents"),
        ):
            shares = table[name].to_numpy(dtype=np.float64, na_value=np.nan)
            axes.plot(table["date"].to_numpy(dtype=np.float64), shares, color=colour, label=label)
        axes.set_title("Incumbents and old partners")
        axes.set_xlabel("simulated days")
        axes.set_ylim(-0.02, 1.4)
        axes.set_yticks([0, 0.5, 1])
        axes.grid(axis="y")
        axes.legend(loc="upper left", handlelength=1.0)
        return svg(drawn, "Shares p and q of team assembly, over simulated time")


def degrees(table: pd.DataFrame) -> Markup | None:
    """Share of scientists with at least so many co-authors, on logarithmic axes."""
    if not len(table):
        return None
    with figure("degrees", 4.2, 2.5) as drawn:
        axes = drawn.subplots()
        for network, colour, label in (
            ("all", BLUE, "with day 0"),
            ("grown", ORANGE, "since day 0"),
        ):
            rows = table[table["network"] == network]
            if len(rows):
                degree = rows["degree"].to_numpy(dtype=np.float64)
                share = rows["share_above"].to_numpy(dtype=np.float64)
                axes.loglog(degree, share, "o", markersize=3.2, color=colour, label=label)
        axes.set_title("Share with at least so many co-authors")
        axes.set_xlabel("co-authors")
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter("{x:g}")
            axis.set_minor_formatter("")
        axes.grid(axis="y")
        axes.legend(loc="lower left", handletextpad=0.1)
        return svg(drawn, "Distribution of the number of co-authors, logarithmic axes")
