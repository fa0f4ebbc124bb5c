"""Productivity of scientists, and the inequality of papers and citations."""

from __future__ import annotations

import numpy as np
import pandas as pd

from virsci_society.metrics.impact.authorships import authorships_of, coauthor_links, map_numbers
from virsci_society.metrics.impact.inequality import gini
from virsci_society.society.results.run import Run


def productivity(run: Run) -> pd.DataFrame:
    """Papers of each scientist who wrote any (Lotka 1926).

    Returns:
        One row per ``scientist``: ``papers`` (published in the run), ``led`` (as first author),
        ``fractional`` (papers, each divided by its number of authors: Lindsey 1980), ``before``
        (papers before day 0), ``first`` (date of the first in the run) and ``coauthors``
        (different ones in the run).
    """
    works = authorships_of(run)
    rows = works.rows
    by = run.table("authorships")
    led = by.loc[by["position"] == 0, "scientist"].value_counts()
    share = 1.0 / rows.groupby("paper")["scientist"].transform("size")
    grouped = rows.assign(share=share).groupby("scientist", sort=True)
    table = grouped.agg(
        papers=("paper", "size"), fractional=("share", "sum"), first=("date", "min")
    )
    pairs = coauthor_links(works).drop_duplicates(["source", "target"])
    partners = pd.concat([pairs["source"], pairs["target"]]).value_counts()
    before = run.table("scientists").set_index("scientist")["papers"]
    table = table.reset_index()
    who = table["scientist"]
    table["led"] = map_numbers(who, led).fillna(0)
    table["before"] = map_numbers(who, before)
    table["coauthors"] = map_numbers(who, partners).fillna(0)
    kinds = {"scientist": "string", "fractional": "Float64", "first": "Float64"}
    kinds |= dict.fromkeys(("papers", "led", "before", "coauthors"), "Int64")
    order = ["scientist", "papers", "led", "fractional", "before", "first", "coauthors"]
    return table.astype(kinds)[order]


def inequality(run: Run) -> pd.DataFrame:
    """How unevenly papers and citations are spread (Gini 1912); Allison and Stewart 1974.

    Returns:
        One row per ``quantity``: papers per author, fractional papers per author, papers per
        scientist (those without any too), citations per paper and citations per author (from
        the society's own papers, those without any too). ``n`` (authors, scientists or papers),
        ``total``, ``gini`` (0: equal, towards 1: one has all) and ``top_tenth`` (share of the
        total held by the first tenth, rounded up, 0..1); missing where the total is zero.
    """
    table = run.measure(productivity)
    papers = table["papers"].to_numpy(dtype=np.float64)
    idle = set(run.table("scientists")["scientist"]) - set(table["scientist"])
    cites = run.table("citations")
    inside = cites[cites["inside"].fillna(False).astype(bool)]
    received = map_numbers(run.table("papers")["paper"], inside["cited"].value_counts()).fillna(0)
    by = run.table("authorships")
    cited = map_numbers(by["paper"], inside["cited"].value_counts()).fillna(0)
    of_author = cited.groupby(by["scientist"]).sum()
    quantities = {
        "papers per author": papers,
        "fractional papers per author": table["fractional"].to_numpy(dtype=np.float64),
        "papers per scientist": np.concatenate([papers, np.zeros(len(idle))]),
        "citations per paper": received.to_numpy(dtype=np.float64),
        "citations per author": of_author.to_numpy(dtype=np.float64),
    }
    rows = [{"quantity": name, **_spread(values)} for name, values in quantities.items()]
    kinds = {"quantity": "string", "n": "Int64"}
    kinds |= dict.fromkeys(("total", "gini", "top_tenth"), "Float64")
    return pd.DataFrame(rows).astype(kinds)


def _spread(values: np.ndarray) -> dict[str, float | int | None]:
    total = float(values.sum())
    columns: dict[str, float | int | None] = {"n": len(values), "total": total}
    if total == 0:
        return {**columns, "gini": None, "top_tenth": None}
    first = np.sort(values)[::-1][: int(np.ceil(len(values) / 10))]
    return {**columns, "gini": gini(values), "top_tenth": float(first.sum() / total)}
