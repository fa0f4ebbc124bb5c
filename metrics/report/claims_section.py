"""The section of a run's page about claims without support and about who takes part."""

from __future__ import annotations

from typing import Any

import pandas as pd

from virsci_society.metrics.novelty.training_leaks import LONG_RUN
from virsci_society.metrics.registry import measure
from virsci_society.society.results.run import Run

ROWS_SHOWN = 10


def claims_section(run: Run) -> dict[str, Any]:
    """What the abstracts claim, and which groups take part more or less than they are there.

    Returns:
        ``papers``; ``with_figures`` (papers with figures stated as results) and ``figures`` (such
        sentences); ``references`` named in texts and ``unknown`` of them (None where the
        literature is not at hand); ``compared`` (papers compared with what they cite), ``long``
        (of those, with a shared run of ``least`` words or more) and ``longest``; ``rows`` (the
        papers to look at first) and ``groups`` (rows of ``representation`` whose interval does
        not hold the share of the population, the farthest first).
    """
    table = measure(run, "claims")
    titles = run.table("papers").set_index("paper")["title"]
    copied = table["copied"].dropna()
    found = (table["figures"] > 0) | (table["unknown_references"].fillna(0) > 0)
    found |= table["copied"].fillna(0) >= LONG_RUN
    order = ["figures", "unknown_references", "copied", "paper"]
    shown = table[found].sort_values(order, ascending=[False, False, False, True])
    known = bool(len(table)) and bool(table["unknown_references"].notna().all())
    return {
        "papers": len(table),
        "with_figures": int((table["figures"] > 0).sum()),
        "figures": int(table["figures"].sum()),
        "references": int(table["references"].sum()),
        "unknown": int(table["unknown_references"].sum()) if known else None,
        "compared": len(copied),
        "least": LONG_RUN,
        "long": int((copied >= LONG_RUN).sum()),
        "longest": int(copied.max()) if len(copied) else 0,
        "rows": shown.head(ROWS_SHOWN)
        .assign(title=lambda rows: rows["paper"].map(titles))
        .to_dict("records"),
        "groups": _uneven(measure(run, "representation")).head(ROWS_SHOWN).to_dict("records"),
    }


def _uneven(table: pd.DataFrame) -> pd.DataFrame:
    """Groups whose interval does not hold the share of the population, the farthest first."""
    expected = table["population_share"]
    away = table[(table["low"] > expected) | (table["high"] < expected)]
    farness = (away["share"] - away["population_share"]).abs()
    return away.loc[farness.sort_values(ascending=False, kind="stable").index]
