"""Removals: the network of those who are there, before and after some are taken out of it.

Only scientists who are in the society count, and the ties between them. So a removal takes its
people and all their ties away at once, and what is tied afterwards was tied by those who stayed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import sparse

from metrics.network.communities import grouped
from metrics.network.paths import giant, mean_path
from metrics.presence import LEFT, on_day_0
from metrics.structure import describe, ties_of
from society.run import Run
from society.streams import Streams

YEAR = 365.0
SPAN = YEAR / 2
"""Days after a removal at which the network is looked at again, and over which papers count."""
NETWORKS = ("recent", "all")
SHARES = ("mean_degree", "giant_share", "clustering", "path", "modularity", "papers_each")
COUNTS = (
    *("removed", "people", "nodes", "edges", "isolated", "components", "communities", "papers"),
)


@dataclass(frozen=True)
class Moment:
    """When a network is looked at, and who is gone by then.

    Attributes:
        name: before, without, later or end.
        date: in days.
        after: what is dated on the day itself counts too.
        gone: names of those who have left.
    """

    name: str
    date: float
    after: bool
    gone: frozenset[str]

    def has(self, dates: pd.Series) -> pd.Series:
        """Which of these dates lie before the moment."""
        return dates <= self.date if self.after else dates < self.date

    def dated(self, run: Run, network: str) -> pd.DataFrame:
        """Rows of the table ``ties`` that belong to a network by then, of whomever."""
        ties = ties_of(run.table("ties"), "all")
        start = max(self.date - YEAR, 0.0) if network == "recent" else -np.inf
        return ties.loc[self.has(ties["date"]) & (ties["date"] >= start)]

    def pairs(self, run: Run, network: str) -> pd.DataFrame:
        """One row per pair of those who are there: ``source``, ``target``, ``papers``."""
        ties = self.dated(run, network)
        ties = ties[~(ties["source"].isin(self.gone) | ties["target"].isin(self.gone))]
        counted = ties.assign(papers=ties["papers"].fillna(1))
        return counted.groupby(["source", "target"], sort=True)[["papers"]].sum().reset_index()


def removals(run: Run) -> pd.DataFrame:
    """The co-authorship of those in the society, around each removal (Albert et al. 2000).

    Removals of one date are one. A moment is ``before`` it, ``without`` the removed (the same
    network less these people), ``later`` (half a year after; only where the run goes on for
    longer) and the ``end`` of the run.

    Returns:
        One row per ``removal`` (its date), ``moment`` and ``network`` (recent: joint papers of the
        year up to the date, from day 0 at the earliest; all: every joint paper so far): ``date``,
        ``removed`` (people taken out), ``people`` (in the society), ``nodes`` (of them, those
        who had a tie), ``edges``, ``mean_degree``, ``isolated`` (nodes without a tie to anybody
        who is there), ``giant_share`` (of the nodes in the largest component, 0..1),
        ``components`` (an isolated node is one), ``clustering`` (mean local coefficient, 0..1),
        ``path`` (mean steps between two of the largest component, of a seeded sample above 1,024
        nodes), ``communities`` (of nodes with a tie) and ``modularity`` as in ``communities``;
        ``papers`` (visible in the half year up to the date, by anybody who is there) and
        ``papers_each`` (papers of that time per person who is there, and year; those without
        any too).
    """
    rows = []
    streams = Streams(run.seed, "metrics", "removals")
    for date, removed in removed_at(run):
        for moment in moments(run, date, removed):
            work = _work(run, moment)
            for network in NETWORKS:
                streamed = streams.stream(date, moment.name, network)
                told = _network(run, network, moment, streamed)
                head = {"removal": date, "moment": moment.name, "network": network}
                rows.append({**head, "removed": len(removed), **told, **work})
    kinds = {"removal": "Float64", "moment": "string", "network": "string", "date": "Float64"}
    kinds |= {**dict.fromkeys(COUNTS, "Int64"), **dict.fromkeys(SHARES, "Float64")}
    return pd.DataFrame(rows, columns=list(kinds)).astype(kinds)


def removed_at(run: Run) -> list[tuple[float, list[str]]]:
    """Dates on which interventions took scientists out, and who they were."""
    left = run.table("careers").dropna(subset=["date", "scientist"])
    gone = left[left["change"] == "removed"].groupby("date", sort=True)["scientist"]
    return [(float(str(date)), sorted(names)) for date, names in gone]


def moments(run: Run, date: float, removed: list[str]) -> Iterator[Moment]:
    """The moments around a removal."""
    before = _gone(run, date, after=False)
    yield Moment("before", date, False, before)
    yield Moment("without", date, False, before | frozenset(removed))
    if date + SPAN < run.days:
        yield Moment("later", date + SPAN, True, _gone(run, date + SPAN, after=True))
    yield Moment("end", run.days, True, _gone(run, run.days, after=True))


def _people(run: Run, moment: Moment) -> int:
    """How many are in the society: those of day 0 and those who have come since, less the gone."""
    come = run.table("careers").dropna(subset=["date", "scientist"])
    come = come[(come["change"] == "arrived") & moment.has(come["date"])]
    return on_day_0(run) + len(come) - len(moment.gone)


def _gone(run: Run, date: float, after: bool) -> frozenset[str]:
    left = run.table("careers").dropna(subset=["date", "scientist"])
    left = left[left["change"].isin(LEFT)]
    return frozenset(left.loc[Moment("", date, after, frozenset()).has(left["date"]), "scientist"])


def _network(run: Run, network: str, moment: Moment, rng: np.random.Generator) -> dict[str, object]:
    """The columns on one network at a moment."""
    matrix = matrix_of(moment.dated(run, network), moment.gone)
    tied = np.flatnonzero(np.diff(matrix.indptr))
    parted = grouped(matrix[tied][:, tied].tocsr(), int(rng.integers(2**31)))
    told = describe(matrix)
    path = mean_path(giant(matrix), rng) if matrix.nnz else float("nan")
    return {
        "date": moment.date,
        **{key: told[key] for key in ("nodes", "edges", "mean_degree", "giant_share")},
        **{key: told[key] for key in ("components", "clustering")},
        "isolated": matrix.shape[0] - len(tied),
        "path": None if np.isnan(path) else path,
        "communities": parted["communities"],
        "modularity": parted["modularity"],
    }


def matrix_of(ties: pd.DataFrame, gone: frozenset[str]) -> sparse.csr_array:
    """Symmetric joint papers of those who are not gone, also of who has a tie to the gone alone.

    Rows stand in the order in which the ties name them.
    """
    ends = pd.concat([ties["source"], ties["target"]]).to_numpy(dtype=object)
    codes, names = pd.factorize(ends)
    rows, columns = np.split(codes, 2)
    papers, size = ties["papers"].fillna(1).to_numpy(dtype=np.float64), len(names)
    half = sparse.coo_array((papers, (rows, columns)), shape=(size, size)).tocsr()
    here = np.flatnonzero([name not in gone for name in names])
    return (half + half.T).tocsr()[here][:, here].tocsr()


def _work(run: Run, moment: Moment) -> dict[str, float | int | None]:
    """What those who are there published in the half year up to a moment."""
    start = max(moment.date - SPAN, 0.0)
    dated = run.table("papers")
    recent = dated[moment.has(dated["published"]) & (dated["published"] >= start)]
    by = run.table("authorships")
    by = by[by["paper"].isin(recent["paper"]) & ~by["scientist"].isin(moment.gone)]
    people = _people(run, moment)
    years = (moment.date - start) / YEAR
    each = len(by) / people / years if people and years else None
    return {"people": people, "papers": by["paper"].nunique(), "papers_each": each}
