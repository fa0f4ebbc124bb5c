"""The network of consultations (asker to guest), compared with co-authorship."""

from __future__ import annotations

import numpy as np
import pandas as pd

from virsci_society.metrics.networks.structure import adjacency, network_statistics
from virsci_society.society.results.run import Run

SHARES = ("reciprocity", "tied_before", "tied_after", "clustering", "giant_share", "most_asked")


def consulting(run: Run) -> pd.DataFrame:
    """The network of consultations at the end, beside that of co-authorship (this project).

    Returns:
        One row: ``asked`` (consultations), ``askers``, ``guests`` (people), ``pairs`` (ordered,
        asker and guest); ``reciprocity`` (share of ordered pairs whose guest asked the asker too,
        0..1: Wasserman and Faust 1994); ``tied_before`` and ``tied_after`` (share of unordered
        pairs that had a joint paper before their first consultation, and that had their first
        one after it, 0..1); ``giant_share`` and ``clustering`` of the unordered network (0..1);
        ``most_asked`` (share of all consultations that went to the guest asked most, 0..1).
        Missing without a consultation.
    """
    asked = run.table("consultations").dropna(subset=["asker", "guest"])
    asked = asked[asked["asker"] != asked["guest"]]
    ordered = asked.drop_duplicates(["asker", "guest"])
    shares: dict[str, float | int | None] = dict.fromkeys(SHARES)
    if len(asked):
        shares |= _shares(run, asked, ordered)
    counts = {
        "asked": len(asked),
        "askers": asked["asker"].nunique(),
        "guests": asked["guest"].nunique(),
        "pairs": len(ordered),
    }
    table = pd.DataFrame([{**counts, **shares}])
    return table.astype({**dict.fromkeys(counts, "Int64"), **dict.fromkeys(SHARES, "Float64")})


def _shares(run: Run, asked: pd.DataFrame, ordered: pd.DataFrame) -> dict[str, float]:
    there = set(zip(ordered["asker"], ordered["guest"], strict=True))
    ends = np.sort(asked[["asker", "guest"]].to_numpy(dtype=object), axis=1)
    pairs = pd.DataFrame({"source": ends[:, 0], "target": ends[:, 1], "date": asked["date"]})
    first = pairs.groupby(["source", "target"], as_index=False)["date"].min()
    ties = run.table("ties").groupby(["source", "target"], as_index=False)["date"].min()
    both = first.merge(ties, on=["source", "target"], how="left", suffixes=("", "_tied"))
    known = both["date_tied"].fillna(np.inf)
    network = network_statistics(adjacency(first.assign(papers=1)))
    return {
        "reciprocity": float(np.mean([(guest, asker) in there for asker, guest in there])),
        "tied_before": float((known < both["date"]).mean()),
        "tied_after": float(((known >= both["date"]) & (known < np.inf)).mean()),
        "giant_share": float(network["giant_share"] or 0.0),
        "clustering": float(network["clustering"] or 0.0),
        "most_asked": float(asked["guest"].value_counts().iloc[0] / len(asked)),
    }
