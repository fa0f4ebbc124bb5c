"""Figures of a run's page, each drawn from tables as one inline SVG, or None without data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup

from agents.arrays import FloatArray
from metrics.inference import Interval, bca_interval, t_interval
from metrics.report.svg import (
    BLUE,
    GREEN,
    GRID,
    INK,
    MUTED,
    ORANGE,
    PAGE,
    PINK,
    figure,
    inline_svg,
    integer_ticks,
)

MAX_BOOTSTRAPPED = 2000
MAX_DOTS = 800

PARTS = {
    "HD": "HD  historical dissimilarity",
    "CD": "CD  contemporary dissimilarity",
    "CI": "CI  contemporary impact",
    "ON": "ON  overall novelty = HD × CI / CD",
}


def novelty(table: pd.DataFrame, relative: bool = True) -> Markup | None:
    """Every paper as a dot in four strips, with mean and interval.

    Args:
        table: the measure ``novelty``.
        relative: the values are relative to a year's mean, which is marked at 1.
    """
    known = {name: _known_floats(table[name]) for name in PARTS}
    if not any(len(values) for values in known.values()):
        return None
    with figure("novelty", 7.0, 3.9) as drawn:
        strips = drawn.subplots(4, 1)
        distances = np.concatenate([known["HD"], known["CD"]])
        for axes, (name, title) in zip(strips, PARTS.items(), strict=True):
            colour = ORANGE if name == "ON" else BLUE
            # The two distances share one axis, so that they can be compared by eye.
            span = distances if name in ("HD", "CD") else known[name]
            _strip(axes, known[name], title, colour, np.append(span, 1.0) if relative else span)
            if relative and len(known[name]):
                axes.axvline(1.0, color=MUTED, linewidth=0.8, dashes=(3, 3))
        if relative:
            strips[-1].set_xlabel(
                "relative to the mean of the neighbours’ year (1: like that mean)"
            )
        return inline_svg(drawn, "HD, CD, CI and ON of each paper, with means and intervals")


def _strip(axes: Any, values: FloatArray, title: str, colour: str, span: FloatArray) -> None:
    axes.set_title(title)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.set_ylim(-1, 1)
    if not len(values):
        axes.set_xticks([])
        axes.text(0.0, 0.0, "not available: no citation count is known", color=MUTED, va="center")
        axes.set_xlim(0, 1)
        return
    shown = _thinned(values)
    axes.scatter(shown, _dot_heights(shown), s=20, color=colour, alpha=0.6, linewidths=0)
    band = mean_interval(values)
    if band.low < band.high:
        axes.plot([band.low, band.high], [-0.72, -0.72], color=INK, linewidth=1.4)
    axes.plot([band.value], [-0.72], "o", color=INK, markersize=4.5)
    low, high = span.min(), span.max()
    pad = 0.06 * (high - low) or 0.1
    axes.set_xlim(max(low - pad, -pad), high + pad)


def mean_interval(values: FloatArray) -> Interval:
    """The 95 % interval of a mean as pages give it: BCa, or Student's t above 2,000 values."""
    return bca_interval(values) if len(values) <= MAX_BOOTSTRAPPED else t_interval(values)


def _thinned(values: FloatArray) -> FloatArray:
    """At most ``MAX_DOTS`` values, evenly spaced by rank, the extremes included."""
    if len(values) <= MAX_DOTS:
        return values
    rank = np.linspace(0, len(values) - 1, MAX_DOTS).round().astype(int)
    chosen: FloatArray = np.sort(values)[rank]
    return chosen


def _dot_heights(values: FloatArray) -> FloatArray:
    """Heights in -0.4..0.8 that keep equal values apart, from the order alone."""
    if len(values) == 1:
        return np.array([0.2])
    order = np.argsort(np.argsort(values, kind="stable"), kind="stable").astype(np.float64)
    heights: FloatArray = ((order * 0.618033988749895) % 1.0) * 1.2 - 0.4
    return heights


STRUCTURE = {
    "edges": "Pairs who have published together",
    "mean_degree": "Co-authors per scientist",
    "giant_share": "Share in the largest component",
    "clustering": "Clustering",
}


def structure(table: pd.DataFrame) -> list[Markup]:
    """Edges, mean degree, giant component and clustering of both networks over time."""
    if not table["edges"].fillna(0).any():
        return []
    return [_structure_figure(table, name, title) for name, title in STRUCTURE.items()]


def _structure_figure(table: pd.DataFrame, name: str, title: str) -> Markup:
    with figure(f"structure {name}", 4.2, 2.2) as drawn:
        axes = drawn.subplots()
        for network, colour in (("all", BLUE), ("grown", ORANGE)):
            rows = table[table["network"] == network]
            axes.plot(_floats(rows["date"]), _floats(rows[name]), color=colour)
        axes.set_title(title)
        axes.set_xlabel("simulated days")
        axes.grid(axis="y")
        axes.set_ylim(bottom=0)
        if name in ("giant_share", "clustering"):
            axes.set_ylim(0, 1.04)
        if name == "edges":
            _legend(axes, [("with day 0", BLUE), ("since day 0", ORANGE)])
        return inline_svg(drawn, f"{title}, over simulated time")


def teams_in_flight(weekly: pd.DataFrame) -> Markup | None:
    """Teams at work at the same time, week by week."""
    if not weekly["teams_in_flight"].any():
        return None
    with figure("flight", 4.2, 2.5) as drawn:
        axes = drawn.subplots()
        days, count = _floats(weekly["date"]), _floats(weekly["teams_in_flight"])
        axes.fill_between(days, count, step="post", color=BLUE, alpha=0.18, linewidth=0)
        axes.plot(days, count, color=BLUE, drawstyle="steps-post")
        _over_time(axes, "Teams at work at the same time")
        return inline_svg(drawn, "Number of teams in flight over simulated time")


def memberships(weekly: pd.DataFrame) -> Markup | None:
    """Scientists in at least one, two and three teams, week by week."""
    if not weekly["in_1"].any():
        return None
    with figure("memberships", 4.2, 2.5) as drawn:
        axes = drawn.subplots()
        days = _floats(weekly["date"])
        shades = (("in_1", BLUE, "1 or more"), ("in_2", ORANGE, "2 or more"), ("in_3", GREEN, "3+"))
        for name, colour, _ in shades:
            axes.plot(days, _floats(weekly[name]), color=colour, drawstyle="steps-post")
        _over_time(axes, "Scientists in so many teams at once")
        _legend(axes, [(label, colour) for _, colour, label in shades])
        return inline_svg(drawn, "Scientists in one, two and three or more teams over time")


def contacts(weekly: pd.DataFrame) -> Markup | None:
    """Invitations to members of other teams and consultations, summed from day 0."""
    lines = (
        ("cross_invitations", PINK, "invitations to members of other teams"),
        ("consultations", GREEN, "consultations"),
        ("cross_consultations", BLUE, "of these, of members of other teams"),
    )
    if not any(weekly[name].any() for name, _, _ in lines):
        return None
    with figure("contacts", 4.2, 2.7) as drawn:
        axes = drawn.subplots()
        days = _floats(weekly["date"])
        for name, colour, _ in lines:
            axes.plot(days, _floats(weekly[name]), color=colour, drawstyle="steps-post")
        _over_time(axes, "Contacts between teams, from day 0")
        _legend(axes, [(label, colour) for _, colour, label in lines])
        return inline_svg(drawn, "Cumulative cross-team invitations and consultations over time")


def waiting(table: pd.DataFrame) -> Markup | None:
    """Days of waiting for people and of queueing at the desk, by team size."""
    if not len(table):
        return None
    with figure("waiting", 4.2, 2.7) as drawn:
        axes = drawn.subplots()
        size = _floats(table["size"])
        most = np.nanmax([_floats(table["held_up"]), _floats(table["homework_queue"]), 0 * size])
        unit, scale = ("Days", 1.0) if most >= 0.5 else ("Hours", 24.0)
        kinds = (
            ("held_up", PINK, "a team waits for its people, per round"),
            ("homework_queue", GREEN, "a piece of homework waits at the desk"),
        )
        for shift, (name, colour, _) in zip((-0.08, 0.08), kinds, strict=True):
            length = scale * _floats(table[name])
            axes.vlines(size + shift, 0, length, color=colour, linewidth=1.4)
            axes.plot(size + shift, length, "o", color=colour, markersize=5)
        axes.set_title(f"{unit} of waiting, by team size")
        axes.set_xlabel("people in the room")
        axes.set_xlim(size.min() - 0.6, size.max() + 0.6)
        axes.set_ylim(bottom=0)
        axes.margins(y=0.12)
        integer_ticks(axes.xaxis, 8)
        axes.grid(axis="y")
        _legend(axes, [(label, colour) for _, colour, label in kinds])
        return inline_svg(drawn, "Mean days of waiting for people and at the desk, by team size")


def acceptance(table: pd.DataFrame) -> Markup | None:
    """Share of invitations accepted against the invitee's load, with intervals."""
    if not len(table):
        return None
    with figure("acceptance", 4.2, 2.7) as drawn:
        axes = drawn.subplots()
        load, share = _floats(table["load"]), _floats(table["share"])
        axes.vlines(load, _floats(table["low"]), _floats(table["high"]), color=BLUE, linewidth=1.4)
        axes.plot(load, share, "o", color=BLUE, markersize=6, markeredgecolor=PAGE)
        for at, height, count in zip(load, share, table["answered"], strict=True):
            axes.annotate(
                f"n = {count}",
                (at, height),
                xytext=(6, 0),
                textcoords="offset points",
                color=MUTED,
                va="center",
            )
        axes.set_title("Share of invitations accepted")
        axes.set_xlabel("teams the invitee was already in")
        axes.set_xlim(load.min() - 0.4, load.max() + 0.8)
        axes.set_ylim(-0.04, 1.04)
        integer_ticks(axes.xaxis, 8)
        axes.grid(axis="y")
        return inline_svg(drawn, "Share of invitations accepted by the load of the invitee")


def _over_time(axes: Any, title: str) -> None:
    axes.set_title(title)
    axes.set_xlabel("simulated days")
    axes.set_ylim(bottom=0)
    axes.margins(x=0)
    integer_ticks(axes.yaxis)
    axes.grid(axis="y", color=GRID)


def _legend(axes: Any, entries: list[tuple[str, str]]) -> None:
    """A legend of coloured words inside the axes, at the top left."""
    from matplotlib.lines import Line2D

    lines = [Line2D([], [], color=colour, linewidth=2.5, label=label) for label, colour in entries]
    axes.set_ylim(top=axes.get_ylim()[1] * (1 + 0.14 * len(entries)))
    axes.legend(handles=lines, loc="upper left", handlelength=1.0, borderaxespad=0.1)


def _floats(values: pd.Series) -> FloatArray:
    return values.to_numpy(dtype=np.float64, na_value=np.nan)


def _known_floats(values: pd.Series) -> FloatArray:
    return _floats(values.dropna())


WAITING_PARTS = {
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
        return inline_svg(drawn, "Mean days of waiting per round by team size and by memberships")


def _stacked(axes: Any, rows: pd.DataFrame) -> None:
    value = rows["value"].to_numpy(dtype=np.float64)
    floor = np.zeros(len(rows))
    for name, (label, colour) in WAITING_PARTS.items():
        height = rows[name].to_numpy(dtype=np.float64, na_value=0.0)
        axes.bar(value, height, bottom=floor, width=0.62, color=colour, label=label)
        floor += height
    integer_ticks(axes.xaxis, 8)
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
        return inline_svg(drawn, "Shares p and q of team assembly, over simulated time")


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
        return inline_svg(drawn, "Distribution of the number of co-authors, logarithmic axes")
