"""The table of authorships (paper, scientist, date) of a run or of another source.

Measures of team assembly and productivity share it, so that a simulated and a real community are
measured by the same code.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import pandas as pd

from virsci_society.society.results.run import Run

Pair = tuple[str, str]


@dataclass(frozen=True)
class AuthorshipTable:
    """Authorships by date, and what was known before the first of them.

    Attributes:
        rows: ``paper``, ``scientist``, ``date`` (days); one row per authorship.
        prior_authors: scientists with a paper before.
        prior_pairs: pairs (smaller name first) with a joint paper before.
    """

    rows: pd.DataFrame
    prior_authors: frozenset[str] = frozenset()
    prior_pairs: frozenset[Pair] = field(default=frozenset(), repr=False)


def authorships_of(run: Run) -> AuthorshipTable:
    """The authorships of a run's papers, with the scientists and ties of day 0."""
    papers, by = run.table("papers"), run.table("authorships")
    rows = by[["paper", "scientist"]].merge(
        papers[["paper", "published"]].rename(columns={"published": "date"}), on="paper"
    )
    people, ties = run.table("scientists"), run.table("ties")
    early = ties[ties["date"] < 0]
    known = people.loc[people["papers"].fillna(0) > 0, "scientist"]
    return AuthorshipTable(
        rows[["paper", "scientist", "date"]],
        frozenset(known),
        frozenset(zip(early["source"], early["target"], strict=True)),
    )


def inside_citations(run: Run) -> pd.DataFrame:
    """The citations of the society's papers by its own papers: rows of ``citations``."""
    cites = run.table("citations")
    return cites[cites["inside"].fillna(False).astype(bool)]


def coauthor_links(works: AuthorshipTable) -> pd.DataFrame:
    """Every pair of authors of every paper.

    Returns:
        ``paper``, ``date``, ``source`` < ``target``, ``incumbents`` (0, 1 or 2 of them had a paper
        before that date) and ``repeat`` (the pair had a joint paper before).
    """
    rows = works.rows[["paper", "scientist", "date"]]
    both = rows.merge(rows[["paper", "scientist"]], on="paper", suffixes=("", "_other"))
    both = both[both["scientist"] < both["scientist_other"]]
    both = both.rename(columns={"scientist": "source", "scientist_other": "target"})
    first = first_paper_dates(works)
    early = [pair in works.prior_pairs for pair in zip(both["source"], both["target"], strict=True)]
    met = both.groupby(["source", "target"])["date"].transform("min")
    started = [map_numbers(both[end], first) < both["date"] for end in ("source", "target")]
    both["incumbents"] = started[0].astype("Int64") + started[1].astype("Int64")
    both["repeat"] = (met < both["date"]).astype(bool) | pd.Series(early, both.index, dtype=bool)
    return both[["paper", "date", "source", "target", "incumbents", "repeat"]]


def first_paper_dates(works: AuthorshipTable) -> pd.Series:
    """Date of the first paper of every author; minus infinity for prior authors."""
    first = works.rows.groupby("scientist")["date"].min().astype("Float64")
    first[first.index.isin(list(works.prior_authors))] = float("-inf")
    return first


def map_numbers(keys: pd.Series, values: pd.Series) -> pd.Series:
    """The number of each key, as nullable floats also where there are no keys.

    Returns:
        One number per key; missing where the key has none.
    """
    return keys.map(values).astype("Float64")
