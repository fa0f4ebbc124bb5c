"""Structure of the network of the scientists who have written a paper in the last years.

The grown network only grows: who has stopped writing stays in it. What is compared with a real
community of a few years is the network of those who are active.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from virsci_society.agents.arrays import FloatArray
from virsci_society.metrics.impact.authorships import authorships_of
from virsci_society.metrics.networks.structure import (
    MONTH,
    WHOLE,
    adjacency,
    network_statistics,
    network_ties,
    sample_dates,
)
from virsci_society.society.literature.papers import DAYS_PER_YEAR
from virsci_society.society.results.run import Run

WINDOWS = (1.0, 2.0, 4.0)
"""Years without a paper after which somebody is not active any more."""
TIES = ("recent", "all")


def active_structure(
    run: Run, windows: tuple[float, ...] = WINDOWS, every: float = 3 * MONTH
) -> pd.DataFrame:
    """Structure of the network of active scientists, at regular dates and the end (Newman 2003).

    A scientist is active for so many years after a paper of this run. Papers before day 0 have no
    dates in the tables and make nobody active, so the first rows hold few people, and windows
    longer than the time since day 0 are alike.

    Args:
        run: the run.
        windows: lengths of the window in years, > 0.
        every: days between two dates, > 0.

    Returns:
        One row per ``date`` (days), window (``years``) and kind of ``ties`` (``recent``: joint
        papers of the window; ``all``: every joint paper so far, those before day 0 too, between
        two active scientists): the columns of ``structure``, where every active scientist is a
        node, also one who wrote alone: ``nodes``, ``edges``, ``weight``, ``mean_degree``,
        ``giant_share``, ``components``, ``clustering``, ``transitivity``, ``assortativity``.
    """
    works = authorships_of(run).rows.sort_values("date", kind="stable")
    written, authors = works["date"].to_numpy(dtype=np.float64), works["scientist"].astype(object)
    ties = network_ties(run.table("ties"), "all").sort_values("date", kind="stable")
    tied = ties["date"].to_numpy(dtype=np.float64)
    rows: list[dict[str, object]] = []
    known: dict[tuple[object, ...], dict[str, float | int | None]] = {}
    for date in sample_dates(run.days, every):
        for years in windows:
            start = max(date - years * DAYS_PER_YEAR, 0.0)
            inside = _between(written, start, date)
            for kind in TIES:
                among = _between(tied, start if kind == "recent" else -np.inf, date)
                # Longer windows are equal while the run is shorter than they are.
                key = (kind, inside.start, inside.stop, among.start, among.stop)
                if key not in known:
                    active = sorted(set(authors.iloc[inside]))
                    known[key] = network_statistics(adjacency(ties.iloc[among], active))
                rows.append({"date": date, "years": years, "ties": kind, **known[key]})
    table = pd.DataFrame(rows).astype({"ties": "string", **dict.fromkeys(WHOLE, "Int64")})
    parts = [name for name in table.columns if name not in (*WHOLE, "ties")]
    return table.astype(dict.fromkeys(parts, "Float64"))


def _between(dates: FloatArray, start: float, end: float) -> slice:
    """Places of sorted dates in (start, end]; from day 0 on, the day itself counts too."""
    after = np.nextafter(start, -np.inf) if start <= 0.0 else start
    first, last = np.searchsorted(dates, [after, end], side="right")
    return slice(int(first), int(last))
