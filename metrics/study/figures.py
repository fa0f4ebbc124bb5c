"""Figures of a study: means with 95 % t intervals, every replicate behind them as a dot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from metrics.inference.intervals import t_interval
from metrics.inference.shapes import Line, TwoLines
from metrics.report.drawing import BLUE, GREEN, INK, MUTED, ORANGE, PINK, figure, only_whole, svg
from metrics.study.comparing import Compared, along
from metrics.study.study import Study

Floats = NDArray[np.float64]

SERIES = (BLUE, ORANGE, GREEN, PINK)
"""Colours of the lines of a figure; with more settings, the arms are drawn one below another."""
ARMS_SHOWN = 40
WORD = 34
"""Letters of an arm's name that are drawn."""


def of_measure(study: Study, measure: str) -> list[Markup]:
    """A measure against the key that is varied, or arm by arm; nothing without values."""
    if not any(len(study.values(measure, arm)) for arm in study.arms):
        return []
    if by_arms(study):
        return [_by_arm(study, measure)]
    if study.sampled:
        return [_scattered(study, measure, key) for key in study.numeric()]
    key = axis(study)
    return [_against(study, measure, key, series(study, key))]


def by_arms(study: Study) -> bool:
    """Is a figure drawn arm by arm, for want of a key that is a number in all of them?"""
    if not study.numeric():
        return True
    return not study.sampled and len(series(study, axis(study))) > len(SERIES)


def axis(study: Study) -> str:
    """The key against which a figure is drawn: the one that leaves the fewest lines."""
    return min(study.numeric(), key=lambda key: len(series(study, key)))


def series(study: Study, key: str) -> dict[str, list[str]]:
    """The arms by what else they set, each list in the order of the key."""
    groups: dict[str, list[str]] = {}
    for arm in study.told.arms:
        others = [
            f"{name.rsplit('.', 1)[-1]} {value}" for name, value in arm.set.items() if name != key
        ]
        groups.setdefault(", ".join(others), []).append(arm.name)
    return {
        name: sorted(arms, key=lambda arm: study.place(arm, key)) for name, arms in groups.items()
    }


def _against(study: Study, measure: str, key: str, groups: dict[str, list[str]]) -> Markup:
    with figure(f"{measure} against {key}", 4.6, 2.9) as drawn:
        axes = drawn.subplots()
        places = sorted({study.place(arm, key) for arm in study.arms})
        gap = min(np.diff(places), default=1.0)
        for number, arms in enumerate(groups.values()):
            shift = 0.12 * gap * (number - (len(groups) - 1) / 2)
            _line(axes, study, measure, key, arms, SERIES[number], shift)
        axes.set_xlabel(_short(key))
        if all(float(place).is_integer() for place in places) and len(places) <= 12:
            axes.set_xticks(places)
        axes.set_title(_cut(measure))
        axes.grid(axis="y")
        if len(groups) > 1:
            _names(axes, list(groups))
        return svg(drawn, f"{measure} against {key}: means with 95 % intervals, and replicates")


def _line(
    axes: Any, study: Study, measure: str, key: str, arms: list[str], colour: str, shift: float
) -> None:
    """Means joined by a line, their intervals, and the replicates beside them."""
    middles = []
    for arm in arms:
        values = study.numbers(measure, arm)
        if not len(values):
            continue
        at, band = study.place(arm, key) + shift, t_interval(values)
        axes.scatter([at] * len(values), values, s=9, color=colour, alpha=0.3, linewidths=0)
        if np.isfinite(band.low):
            axes.vlines(at, band.low, band.high, color=colour, linewidth=1.8)
        middles.append((at, band.value))
    xs, ys = zip(*middles, strict=True) if middles else ((), ())
    axes.plot(xs, ys, "o-", color=colour, markersize=5, linewidth=1.1)


def _by_arm(study: Study, measure: str) -> Markup:
    """One row per arm, the first on top."""
    arms = study.arms[:ARMS_SHOWN]
    with figure(f"{measure} by arm", 7.0, 0.75 + 0.3 * len(arms)) as drawn:
        axes = drawn.subplots()
        for row, arm in enumerate(arms):
            values = study.numbers(measure, arm)
            if not len(values):
                continue
            band = t_interval(values)
            axes.scatter(
                values, [row + 0.24] * len(values), s=12, color=BLUE, alpha=0.3, linewidths=0
            )
            if np.isfinite(band.low):
                axes.hlines(row, band.low, band.high, color=INK, linewidth=1.6)
            axes.plot([band.value], [row], "o", color=INK, markersize=4.5)
        axes.set_yticks(range(len(arms)), [_cut(arm) for arm in arms])
        axes.set_ylim(len(arms) - 0.5, -0.5)
        axes.set_title(_cut(measure))
        axes.grid(axis="x")
        return svg(drawn, f"{measure} in each arm: means with 95 % intervals, and replicates")


def _scattered(study: Study, measure: str, key: str) -> Markup:
    """The mean of each point of a sampled design against one key."""
    x, y = along(study, measure, key, study.arms)
    with figure(f"{measure} against {key} sampled", 4.2, 2.6) as drawn:
        axes = drawn.subplots()
        axes.scatter(x, y, s=18, color=BLUE, alpha=0.6, linewidths=0)
        axes.set_xlabel(_short(key))
        axes.set_title(_cut(measure))
        axes.grid(axis="y")
        return svg(drawn, f"{measure} against {key}: the mean of each point")


def of_shape(study: Study, one: Compared, arms: Sequence[str]) -> Markup | None:
    """The two lines of a test, over the replicates; None where it could not be estimated."""
    shape = one.result
    if not isinstance(shape, TwoLines) or not np.isfinite(shape.p):
        return None
    key = one.of[0]
    x, y = along(study, one.measure, key, list(arms))
    with figure(f"{one.measure} two lines {key} {len(arms)}", 4.6, 2.9) as drawn:
        axes = drawn.subplots()
        axes.scatter(x, y, s=12, color=MUTED, alpha=0.45, linewidths=0)
        sides = ((shape.first, x <= shape.at, BLUE), (shape.second, x >= shape.at, ORANGE))
        for line, side, colour in sides:
            _fitted(axes, line, x[side], y[side], colour)
        axes.axvline(shape.at, color=MUTED, linewidth=0.8, dashes=(3, 3))
        axes.set_xlabel(_short(key))
        axes.set_title(f"{_cut(one.measure)}: {shape.note}")
        axes.grid(axis="y")
        if len(np.unique(x)) <= 12 and (x == np.round(x)).all():
            only_whole(axes.xaxis, 8)
        return svg(drawn, f"Two lines of {one.measure} over {key}, break at {shape.at:g}")


def _fitted(axes: Any, line: Line, x: Floats, y: Floats, colour: str) -> None:
    """A line through the middle of its own observations."""
    if not len(x) or not np.isfinite(line.slope):
        return
    ends = np.array([x.min(), x.max()])
    axes.plot(ends, y.mean() + line.slope * (ends - x.mean()), color=colour, linewidth=2.2)


def _names(axes: Any, names: list[str]) -> None:
    """A legend of coloured lines above the data."""
    from matplotlib.lines import Line2D

    entries = [
        Line2D([], [], color=colour, linewidth=2.5, label=_cut(name) or "nothing else set")
        for name, colour in zip(names, SERIES, strict=False)
    ]
    low, high = axes.get_ylim()
    axes.set_ylim(top=high + (high - low) * 0.13 * len(names))
    axes.legend(handles=entries, loc="upper left", handlelength=1.0, borderaxespad=0.1)


def _short(key: str) -> str:
    return key.rsplit(".", 1)[-1].replace("_", " ")


def _cut(text: str) -> str:
    return text if len(text) <= WORD else f"{text[: WORD - 1]}…"
