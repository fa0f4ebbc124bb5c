"""What came of published models of search in science (``protocols.classics``)."""

from __future__ import annotations

import pandas as pd

from virsci_society.society.results.run import Run


def consensus(run: Run) -> pd.DataFrame:
    """Which communities settle on the better of two methods, and when (Zollman 2010)."""
    noted = _noted(run, ("community", "better", "since"))
    kinds = {"community": "Int64", "people": "Int64"}
    kinds |= dict.fromkeys(("better", "right", "agreed"), "Float64")
    rows = [
        {
            "community": number,
            "people": len(people),
            "better": people["better"].mean(),
            "right": float(people["better"].all()),
            "agreed": people["since"].max() if people["better"].all() else None,
        }
        for number, people in noted.groupby("community")
    ]
    return pd.DataFrame(rows, columns=list(kinds)).astype(kinds)


def epistemic_progress(run: Run) -> pd.DataFrame:
    """How much of an epistemic landscape was found (Weisberg and Muldoon 2009)."""
    noted = _noted(run, ("found", "peak_1", "peak_2"))
    dates = noted[["peak_1", "peak_2"]].min()
    row = {
        "people": len(noted),
        "progress": noted["found"].sum(),
        "peaks": dates.notna().mean(),
        "both": dates.max(skipna=False),
    }
    kinds = {"people": "Int64", "progress": "Float64", "peaks": "Float64", "both": "Float64"}
    return pd.DataFrame([row] if len(noted) else [], columns=list(kinds)).astype(kinds)


def _noted(run: Run, names: tuple[str, ...]) -> pd.DataFrame:
    """Numbers that teams noted under some names, a row for each team that noted the first."""
    events = (event for event in run.events() if event["kind"] == "notes")
    rows = [[event.get(name) for name in names] for event in events if names[0] in event]
    return pd.DataFrame(rows, columns=list(names)).astype("Float64")
