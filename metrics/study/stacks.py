"""Stacks: measures that add up, as columns over varied keys, in one figure of several panels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup

from metrics.inference.intervals import t_interval
from metrics.report.drawing import BLUE, GREEN, INK, MUTED, ORANGE, PINK, figure, svg
from metrics.study.study import Stack, Study

COLOURS = (MUTED, BLUE, GREEN, PINK, ORANGE)
"""From the foot of a column upwards."""
AS_BASE = "as the base"


def heights(study: Study, stack: Stack) -> pd.DataFrame:
    """The columns of a figure in numbers.

    Arms that are alike in both keys are averaged within each replicate, so that a column shows
    the marginal mean of a grid; a replicate without some part is left out.

    Returns:
        One row per column: ``over`` (the key), ``place`` (its value), ``beside`` (value of the
        other key; empty without one), ``n`` (replicates), the mean of every part by its label,
        and ``total``, their sum, with its 95 % t interval ``low`` and ``high``.
    """
    rows = []
    for key, beside, place, arms in _columns(study, stack):
        parts = _parts(study, stack, arms)
        total = t_interval(parts.sum(axis=1).to_numpy(dtype=np.float64))
        means = {str(label): float(mean) for label, mean in parts.mean().items()}
        head = {"over": key, "place": place, "beside": beside, "n": len(parts)}
        band = {"total": total.value, "low": total.low, "high": total.high}
        rows.append({**head, **means, **band})
    table = pd.DataFrame(rows)
    return table[table["n"] > 0].reset_index(drop=True) if len(table) else table


def of_stack(study: Study, stack: Stack) -> Markup | None:
    """The figure: a row of panels per key, a panel per value of ``beside``; None without values."""
    table = heights(study, stack)
    if not len(table):
        return None
    keys, sides = table["over"].unique(), table["beside"].unique()
    size = (0.6 + 3.3 * len(sides), 0.5 + 2.3 * len(keys))
    with figure(f"stack {stack.title}", *size) as drawn:
        panels = drawn.subplots(len(keys), len(sides), sharey=True, squeeze=False)
        for row, key in zip(panels, keys, strict=True):
            for axes, side in zip(row, sides, strict=True):
                rows = table[(table["over"] == key) & (table["beside"] == side)]
                _panel(axes, study, stack, arms_of(study, stack, key, side), rows)
                axes.set_xlabel(_short(key))
                axes.set_title(f"{_short(stack.beside)}: {side}" if stack.beside else "")
        first = panels[0][0]
        first.set_title(", ".join(filter(None, (stack.title, first.get_title("left")))))
        handles, labels = first.get_legend_handles_labels()
        # The first label is that of the foot: a legend reads as the columns do, from the top.
        drawn.legend(
            handles[::-1], labels[::-1], loc="outside upper left", ncols=3, handlelength=1.0
        )
        return svg(drawn, f"{stack.title}: {', '.join(stack.parts)}, part upon part")


def arms_of(study: Study, stack: Stack, key: str, side: str) -> list[str]:
    """Arms that set the key to a number, and the other key to that value."""
    return [
        arm
        for arm in study.arms
        if np.isfinite(study.place(arm, key)) and _side(study, stack, arm) == side
    ]


def _columns(study: Study, stack: Stack) -> Iterator[tuple[str, str, float, list[str]]]:
    sides = dict.fromkeys(_side(study, stack, arm) for arm in study.arms)
    for key in stack.over:
        for side in sides:
            arms = arms_of(study, stack, key, side)
            for place in sorted({study.place(arm, key) for arm in arms}):
                yield key, side, place, [arm for arm in arms if study.place(arm, key) == place]


def _parts(study: Study, stack: Stack, arms: list[str]) -> pd.DataFrame:
    """One row per replicate, one column per part; the mean over these arms."""
    told = [
        pd.DataFrame({label: study.values(one, arm) for label, one in stack.parts.items()})
        for arm in arms
    ]
    return pd.concat(told).dropna().groupby(level=0).mean()


def _side(study: Study, stack: Stack, arm: str) -> str:
    if stack.beside is None:
        return ""
    given = next(one.set for one in study.told.arms if one.name == arm)
    return str(given[stack.beside]) if stack.beside in given else AS_BASE


def _panel(axes: Any, study: Study, stack: Stack, arms: list[str], rows: pd.DataFrame) -> None:
    """Columns side by side, the interval of each sum, and a dot for each run behind it."""
    floor, at = np.zeros(len(rows)), np.arange(len(rows))
    for label, colour in zip(stack.parts, COLOURS, strict=False):
        height = rows[label].to_numpy(dtype=np.float64)
        axes.bar(at, height, bottom=floor, width=0.66, color=colour, label=label)
        floor += height
    low, high = (rows[end].to_numpy(dtype=np.float64) for end in ("low", "high"))
    axes.vlines(at, low, high, color=INK, linewidth=1.4)
    key = rows["over"].iloc[0] if len(rows) else ""
    for spot, place in enumerate(rows["place"]):
        here = [arm for arm in arms if study.place(arm, key) == place]
        totals = _parts(study, stack, here).sum(axis=1)
        axes.scatter([spot + 0.22] * len(totals), totals, s=6, color=INK, alpha=0.45, linewidths=0)
    axes.set_xticks(at, [f"{place:g}" for place in rows["place"]])
    axes.grid(axis="y")


def _short(key: str) -> str:
    return key.rsplit(".", 1)[-1].replace("_", " ")
