"""Presence: how many scientists were in the society, and who came, left and moved by when."""

from __future__ import annotations

import numpy as np
import pandas as pd

from metrics.structure import MONTH, dates
from society.run import Run

LEFT = ("retired", "inactive", "removed")
"""Changes of the table ``careers`` after which somebody is not in the society any more."""
CHANGES = ("arrived", *LEFT, "moved")


def presence(run: Run, every: float = MONTH) -> pd.DataFrame:
    """Who is there, at regular dates and at the end (this project).

    Args:
        run: the run.
        every: days between two dates, > 0.

    Returns:
        One row per date: ``date`` (days), ``present`` (scientists who have come by then and not
        left), and how many have by then ``arrived``, ``retired``, become ``inactive`` or been
        ``removed``, and how often somebody has ``moved``. No rows where nobody comes, leaves or
        moves.
    """
    careers = run.table("careers").dropna(subset=["date", "change"])
    days = np.array(dates(run.days, every) if len(careers) else [], dtype=np.float64)
    table = pd.DataFrame({"date": pd.array(days, dtype="Float64")})
    for change in CHANGES:
        dated = careers.loc[careers["change"] == change, "date"].to_numpy(dtype=np.float64)
        counts = np.searchsorted(np.sort(dated), days, side="right")
        table[change] = pd.array(counts, dtype="Int64")
    gone = sum((table[change] for change in LEFT), start=0)
    table.insert(1, "present", on_day_0(run) + table["arrived"] - gone)
    return table


def on_day_0(run: Run) -> int:
    """Scientists on day 0; a large society says how many there were and does not list them."""
    counts = (run.manifest.get("ecosystem") or {}).get("counts") or {}
    listed = int(run.table("scientists")["arrived"].isna().sum())
    return int(counts.get("scientists", listed))
