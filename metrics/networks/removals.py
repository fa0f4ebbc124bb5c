"""Co-authorship networks before and after an intervention removes scientists.

Groups are formed before the removal, so they equal the groups of the same run without it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from virsci_society.agents.lazy_imports import sparse
from virsci_society.metrics.networks.communities import detect_communities
from virsci_society.metrics.networks.structure import (
    largest_component,
    mean_path,
    network_statistics,
    network_ties,
)
from virsci_society.metrics.population import LEFT, initial_population
from virsci_society.metrics.registry import metric
from virsci_society.society.kernel.streams import Streams
from virsci_society.society.literature.papers import DAYS_PER_YEAR
from virsci_society.society.results.dataframes import typed_table
from virsci_society.society.results.run import Run

SPAN = DAYS_PER_YEAR / 2
"""Days after a removal at which the network is looked at again, and over which papers count."""
NETWORKS = ("recent", "all")
SHARES = ("mean_degree", "giant_share", "clustering", "path", "modularity", "papers_each")
COUNTS = (
    *("removed", "people", "nodes", "edges", "isolated", "components", "communities", "papers"),
)


@dataclass(frozen=True)
class Snapshot:
    """The date at which a network is looked at, and the scientists who have left by then."""

    name: str
    date: float
    inclusive: bool
    gone: frozenset[str]

    def includes(self, dates: pd.Series) -> pd.Series:
        """For each date, whether it is before the snapshot, or on its day if inclusive."""
        return dates <= self.date if self.inclusive else dates < self.date

    def ties(self, run: Run, network: str) -> pd.DataFrame:
        """Rows of ``ties`` of everybody: ``all`` by then, or ``recent``, of the last 365 days."""
        ties = network_ties(run.table("ties"), "all")
        start = max(self.date - DAYS_PER_YEAR, 0.0) if network == "recent" else -np.inf
        return ties.loc[self.includes(ties["date"]) & (ties["date"] >= start)]

    def pairs(self, run: Run, network: str) -> pd.DataFrame:
        """One row per pair of those who have not left: ``source``, ``target``, ``papers``."""
        ties = self.ties(run, network)
        ties = ties[~(ties["source"].isin(self.gone) | ties["target"].isin(self.gone))]
        counted = ties.assign(papers=ties["papers"].fillna(1))
        return counted.groupby(["source", "target"], sort=True)[["papers"]].sum().reset_index()


@metric("structure")
def removals(run: Run) -> pd.DataFrame:
    """The co-authorship of those in the society, around each removal (Albert et al. 2000)."""
    rows = []
    streams = Streams(run.seed, "metrics", "removals")
    for date, removed in removed_by_date(run):
        for snapshot in snapshots(run, date, removed):
            productivity = _productivity(run, snapshot)
            for network in NETWORKS:
                # A stream per row: what one removal draws must not shift another (rule 9).
                streamed = streams.stream(date, snapshot.name, network)
                columns = _network_columns(run, network, snapshot, streamed)
                head = {"removal": date, "moment": snapshot.name, "network": network}
                rows.append({**head, "removed": len(removed), **columns, **productivity})
    kinds = {"removal": "Float64", "moment": "string", "network": "string", "date": "Float64"}
    kinds |= {**dict.fromkeys(COUNTS, "Int64"), **dict.fromkeys(SHARES, "Float64")}
    return pd.DataFrame(rows, columns=list(kinds)).astype(kinds)


def removed_by_date(run: Run) -> list[tuple[float, list[str]]]:
    """Dates of removals with the names of the scientists that they took out."""
    left = run.table("careers").dropna(subset=["date", "scientist"])
    gone = left[left["change"] == "removed"].groupby("date", sort=True)["scientist"]
    return [(float(str(date)), sorted(names)) for date, names in gone]


def snapshots(run: Run, date: float, removed: list[str]) -> Iterator[Snapshot]:
    """The snapshots around a removal: before, without, later (if before the end) and end."""
    careers = run.table("careers").dropna(subset=["date", "scientist"])
    left = careers[careers["change"].isin(LEFT)]

    def gone(dates: pd.Series) -> frozenset[str]:
        return frozenset(left.loc[dates, "scientist"])

    # Who left on the day itself was still there before.
    before = gone(left["date"] < date)
    yield Snapshot("before", date, False, before)
    yield Snapshot("without", date, False, before | frozenset(removed))
    if date + SPAN < run.days:
        yield Snapshot("later", date + SPAN, True, gone(left["date"] <= date + SPAN))
    yield Snapshot("end", run.days, True, gone(left["date"] <= run.days))


def _network_columns(
    run: Run, network: str, snapshot: Snapshot, rng: np.random.Generator
) -> dict[str, object]:
    """The columns on one network at a moment."""
    ties = snapshot.ties(run, network)
    codes, names = pd.factorize(pd.concat([ties["source"], ties["target"]]).to_numpy(dtype=object))
    rows, columns = np.split(codes, 2)
    papers, size = ties["papers"].fillna(1).to_numpy(dtype=np.float64), len(names)
    half = sparse.coo_array((papers, (rows, columns)), shape=(size, size)).tocsr()
    # Who has no co-author left stays, without a tie.
    here = np.flatnonzero([name not in snapshot.gone for name in names])
    matrix = (half + half.T).tocsr()[here][:, here].tocsr()
    tied = np.flatnonzero(np.diff(matrix.indptr))
    # The isolated would each count as a community of one.
    communities = detect_communities(matrix[tied][:, tied].tocsr(), int(rng.integers(2**31)))
    statistics = network_statistics(matrix)
    path = mean_path(largest_component(matrix), rng) if matrix.nnz else float("nan")
    taken = ("nodes", "edges", "mean_degree", "giant_share", "components", "clustering")
    return {
        "date": snapshot.date,
        **{key: statistics[key] for key in taken},
        "isolated": matrix.shape[0] - len(tied),
        "path": None if np.isnan(path) else path,
        "communities": communities["communities"],
        "modularity": communities["modularity"],
    }


def _productivity(run: Run, snapshot: Snapshot) -> dict[str, float | int | None]:
    """People at a snapshot, and their papers in the half year before it."""
    # The initial population and arrivals, minus departures.
    come = run.table("careers").dropna(subset=["date", "scientist"])
    come = come[(come["change"] == "arrived") & snapshot.includes(come["date"])]
    people = initial_population(run) + len(come) - len(snapshot.gone)
    start = max(snapshot.date - SPAN, 0.0)
    dated = run.table("papers")
    recent = dated[snapshot.includes(dated["published"]) & (dated["published"] >= start)]
    by = run.table("authorships")
    by = by[by["paper"].isin(recent["paper"]) & ~by["scientist"].isin(snapshot.gone)]
    years = (snapshot.date - start) / DAYS_PER_YEAR
    # By authorships, since a joint paper is one of each of its authors.
    each = len(by) / people / years if people and years else None
    return {"people": people, "papers": by["paper"].nunique(), "papers_each": each}


STARS = 10
"""Scientists who count as stars."""
GROUPS = ("stars", "collaborators", "others")


@metric("structure")
def around_stars(run: Run) -> pd.DataFrame:
    """Papers by stars, their collaborators and others, before and after a date (Azoulay 2019)."""
    removals = removed_by_date(run)
    date = removals[0][0] if removals else run.days / 2
    partners: dict[str, set[str]] = defaultdict(set)
    for one, other, tied in run.rows("ties", "source", "target", "date"):
        if tied < date:
            partners[one].add(other)
            partners[other].add(one)
    careers = run.rows("careers", "scientist", "date", "change")
    gone = {who for who, left, change in careers if change in LEFT and left < date}
    # Names are numbered, so that the shorter of two names comes first.
    ranked = sorted(set(partners) - gone, key=lambda who: (-len(partners[who]), len(who), who))
    stars = set(ranked[:STARS])
    collaborators = {other for star in stars for other in partners[star]} - stars
    near = {"stars": stars, "collaborators": collaborators}
    span = min(date, run.days - date)
    counts: dict[str, int] = defaultdict(int)
    cited = {paper for (paper,) in run.rows("citations", "cited")}
    authors: dict[str, set[str]] = defaultdict(set)
    for paper, who in run.rows("authorships", "paper", "scientist"):
        authors[paper].add(who)
    for paper, published in run.rows("papers", "paper", "published"):
        team = authors[paper]
        # The first group with an author of the paper.
        group = next((name for name, people in near.items() if team & people), "others")
        if date - span <= published < date:
            counts[f"{group}_before"] += 1
        elif date <= published <= date + span:
            counts[f"{group}_after"] += 1
            if group == "others" and paper in cited:
                counts["others_cited"] += 1
    names = [f"{group}_{when}" for group in GROUPS for when in ("before", "after")]
    written = [counts[name] for name in names]
    others_cited = counts["others_cited"] if cited else None
    row = (date, span, len(stars), len(collaborators), *written, others_cited)
    columns = ("stars", "collaborators", *names, "others_cited")
    kinds = {"date": "Float64", "span": "Float64", **dict.fromkeys(columns, "Int64")}
    return typed_table([row] if stars else [], kinds)
