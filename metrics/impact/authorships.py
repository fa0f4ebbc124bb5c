"""Works: who wrote which paper when, in one table, of a run or of any other source."""

from __future__ import annotations

from dataclasses import dataclass, field

import pandas as pd

from society.run import Run

Pair = tuple[str, str]


@dataclass(frozen=True)
class Works:
    """Papers by date, and what was known before the first of them.

    Attributes:
        rows: ``paper``, ``scientist``, ``date`` (days); one row per authorship.
        veterans: scientists with a paper before.
        pairs: pairs (smaller name first) with a joint paper before.
    """

    rows: pd.DataFrame
    veterans: frozenset[str] = frozenset()
    pairs: frozenset[Pair] = field(default=frozenset(), repr=False)


def works_of(run: Run) -> Works:
    """The papers of a run, and the scientists and ties of day 0."""
    papers, by = run.table("papers"), run.table("authorships")
    rows = by[["paper", "scientist"]].merge(
        papers[["paper", "published"]].rename(columns={"published": "date"}), on="paper"
    )
    people, ties = run.table("scientists"), run.table("ties")
    early = ties[ties["date"] < 0]
    known = people.loc[people["papers"].fillna(0) > 0, "scientist"]
    return Works(
        rows[["paper", "scientist", "date"]],
        frozenset(known),
        frozenset(zip(early["source"], early["target"], strict=True)),
    )


def links(works: Works) -> pd.DataFrame:
    """Every pair of authors of every paper.

    Returns:
        ``paper``, ``date``, ``source`` < ``target``, ``incumbents`` (0, 1 or 2 of them had a paper
        before that date) and ``repeat`` (the pair had a joint paper before).
    """
    rows = works.rows[["paper", "scientist", "date"]]
    both = rows.merge(rows[["paper", "scientist"]], on="paper", suffixes=("", "_other"))
    both = both[both["scientist"] < both["scientist_other"]]
    both = both.rename(columns={"scientist": "source", "scientist_other": "target"})
    first = incumbency(works)
    early = [pair in works.pairs for pair in zip(both["source"], both["target"], strict=True)]
    met = both.groupby(["source", "target"])["date"].transform("min")
    started = [looked_up(both[end], first) < both["date"] for end in ("source", "target")]
    both["incumbents"] = started[0].astype("Int64") + started[1].astype("Int64")
    both["repeat"] = (met < both["date"]).astype(bool) | pd.Series(early, both.index, dtype=bool)
    return both[["paper", "date", "source", "target", "incumbents", "repeat"]]


def incumbency(works: Works) -> pd.Series:
    """Date of the first paper of every author; minus infinity for veterans."""
    first = works.rows.groupby("scientist")["date"].min().astype("Float64")
    first[first.index.isin(list(works.veterans))] = float("-inf")
    return first


def looked_up(keys: pd.Series, values: pd.Series) -> pd.Series:
    """The number of each key, missing where there is none; numbers also where there are no keys."""
    return keys.map(values).astype("Float64")
