"""Papers by those who wrote with the best-connected scientists and by those who never did.

After the death of a star, papers by its former collaborators fall and papers by others rise
(Azoulay, Fons-Rosen and Graff Zivin 2019). Who is a star, a collaborator or another is settled
before the removal, so that it is the same in a run with it and in the same run without it.
"""

from __future__ import annotations

from collections import defaultdict

import pandas as pd

from virsci_society.metrics.networks.removals import removed_by_date
from virsci_society.metrics.population import LEFT
from virsci_society.society.results.dataframes import typed_table
from virsci_society.society.results.run import Run

STARS = 10
"""Scientists who count as stars."""
GROUPS = ("stars", "collaborators", "others")


def around_stars(run: Run) -> pd.DataFrame:
    """Papers by stars, their collaborators and others, before and after a date (Azoulay 2019).

    The date is that of the first removal; without one, half of the run. Stars are the ten
    scientists with most co-authors then, removed or not; collaborators have a joint paper with one
    of them before it. A paper belongs to the first of the groups that any author is of; newcomers
    are others.

    Returns:
        One row: ``date``, ``span`` (days before it, and after it, in which papers are counted),
        ``stars`` and ``collaborators`` (people); ``stars_before``, ``stars_after``,
        ``collaborators_before``, ``collaborators_after``, ``others_before``, ``others_after``
        (papers) and ``others_cited`` (of the last, those that the society cites; missing where it
        cites nothing). No row where nobody has a tie before the date.
    """
    removals = removed_by_date(run)
    date = removals[0][0] if removals else run.days / 2
    partners = _partners(run, date)
    stars = _best_connected(run, date, partners)
    known = {other for star in stars for other in partners[star]} - set(stars)
    span = min(date, run.days - date)
    counts: dict[str, int] = defaultdict(int)
    cited = set(run.table("citations")["cited"])
    for paper, published, authors in _papers(run):
        group = (
            "stars" if authors & set(stars) else "collaborators" if authors & known else "others"
        )
        if date - span <= published < date:
            counts[f"{group}_before"] += 1
        elif date <= published <= date + span:
            counts[f"{group}_after"] += 1
            counts["others_cited"] += group == "others" and paper in cited
    names = [f"{group}_{when}" for group in GROUPS for when in ("before", "after")]
    told = [counts[name] for name in names]
    row = (date, span, len(stars), len(known), *told, counts["others_cited"] if cited else None)
    columns = ("stars", "collaborators", *names, "others_cited")
    kinds = {"date": "Float64", "span": "Float64", **dict.fromkeys(columns, "Int64")}
    return typed_table([row] if stars else [], kinds)


def _partners(run: Run, date: float) -> dict[str, set[str]]:
    """The co-authors of each scientist before a date, those of before day 0 included."""
    ties = run.table("ties")
    ties = ties[ties["date"] < date]
    partners: dict[str, set[str]] = defaultdict(set)
    for one, other in zip(ties["source"], ties["target"], strict=True):
        partners[one].add(other)
        partners[other].add(one)
    return partners


def _best_connected(run: Run, date: float, partners: dict[str, set[str]]) -> list[str]:
    """The ten with most co-authors of those who are there before a date, ties by their numbers."""
    careers = run.table("careers")
    gone = set(careers.loc[careers["change"].isin(LEFT) & (careers["date"] < date), "scientist"])
    # Names are numbered, so that the shorter of two names comes first.
    ranked = sorted(set(partners) - gone, key=lambda who: (-len(partners[who]), len(who), who))
    return ranked[:STARS]


def _papers(run: Run) -> list[tuple[str, float, set[str]]]:
    """Each paper with its date and its authors."""
    authors: dict[str, set[str]] = defaultdict(set)
    table = run.table("authorships")
    for paper, who in zip(table["paper"], table["scientist"], strict=True):
        authors[paper].add(who)
    papers = run.table("papers")
    return [
        (paper, date, authors[paper])
        for paper, date in zip(papers["paper"], papers["published"], strict=True)
    ]
