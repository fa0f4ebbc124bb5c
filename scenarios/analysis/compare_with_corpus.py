"""Comparison of runs with real papers after the boundary of their ecosystem."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.compute as pc

from virsci_society.agents.errors import InputError
from virsci_society.metrics.validation.comparison import (
    Community,
    CommunityComparison,
    compare_with_real,
    compared_windows,
)
from virsci_society.metrics.validation.dated_papers import history_of, real_papers, simulated_papers
from virsci_society.metrics.validation.people_predictions import predict_people
from virsci_society.scenarios.study.lock import LOCK, done_runs, folder_of
from virsci_society.society.ecosystem.ecosystem import Ecosystem
from virsci_society.society.literature.papers import DAYS_PER_YEAR
from virsci_society.society.results.run import Run

MOST_LEFT_OUT = 0.05
"""Largest share of papers that the filters may leave out without a note."""


@dataclass(frozen=True)
class ComparedRuns:
    """Runs of one scenario, which differ by their seeds alone."""

    name: str
    runs: tuple[Run, ...]


@dataclass(frozen=True)
class ObservedComparison:
    """The tables of a comparison, with its limitations in ``notes``."""

    name: str
    reach: str
    tables: CommunityComparison
    notes: tuple[str, ...]


def open_compared(paths: Sequence[Path]) -> list[ComparedRuns]:
    """Open folders of runs, which are compared together, and of studies, arm by arm."""
    if len({path.resolve() for path in paths}) < len(paths):
        raise InputError("a folder is given twice; give each run once")
    single = [Run.open(path) for path in paths if not (path / LOCK).is_file()]
    found = []
    if single:
        names = list(dict.fromkeys(run.name for run in single))
        found.append(ComparedRuns(", ".join(names), tuple(single)))
    for path in paths:
        if (path / LOCK).is_file():
            arms: dict[str, list[Run]] = {}
            for status in done_runs(path):
                arms.setdefault(status.arm, []).append(Run.open(folder_of(path, status.index)))
            found += [ComparedRuns(f"{path.name}, {arm}", (*of,)) for arm, of in arms.items()]
    return found


def compare_with_ecosystem(compared: ComparedRuns, ecosystem: Ecosystem) -> ObservedComparison:
    """Compare runs with the real papers of the ecosystem that they started from."""
    for run in compared.runs:
        require_fit(run, ecosystem)
    windows = windows_of(compared, ecosystem)
    # A large society lists in its tables only those who took part: all are in the profiles.
    past, names = real_papers(ecosystem.past), ecosystem.profiles.names
    wrote = ecosystem.profiles.papers > 0
    authors = [name for name, one in zip(names, wrote, strict=True) if one]
    tied = ecosystem.coauthors.tocoo()
    # Ties of people without a counted paper are left out, so that pairs and people agree.
    place = np.cumsum(wrote) - 1
    both = wrote[tied.coords[0]] & wrote[tied.coords[1]]
    ends = [place[rows[both]].astype(np.int64) for rows in tied.coords]
    history = history_of(past).with_ties(authors, *ends)
    later = real_papers(ecosystem.contemporary)
    community = Community(past, later, frozenset(names), history)
    written = [simulated_papers(run) for run in compared.runs]
    tables = compare_with_real(written, community, windows)
    outside = any(paper.outside for one in written for paper in one)
    inside = {name for run in compared.runs for name in run.table("authorships")["scientist"]}
    arrived = sum(int(run.table("scientists")["arrived"].notna().sum()) for run in compared.runs)
    nobody_came = not arrived and inside <= community.scientists
    return ObservedComparison(
        compared.name,
        reach(tables, nobody_came, len(community.scientists), outside),
        tables,
        tuple(limitations(compared, ecosystem)),
    )


def predicted_people(compared: ComparedRuns, ecosystem: Ecosystem) -> pd.DataFrame:
    """Who published and wrote with whom in the longest window, by the runs and by predictors."""
    for run in compared.runs:
        require_fit(run, ecosystem)
    return predict_people(
        real_papers(ecosystem.past),
        real_papers(ecosystem.contemporary),
        [simulated_papers(run) for run in compared.runs],
        frozenset(ecosystem.profiles.names),
        windows_of(compared, ecosystem)[-1],
    )


def windows_of(compared: ComparedRuns, ecosystem: Ecosystem) -> list[int]:
    """The lengths of time that are compared, in years from the boundary."""
    lengths = sorted({whole_years(run) for run in compared.runs})
    if len(lengths) > 1:
        raise InputError(
            f"the runs of {compared.name} are of different length ({lengths[0]} to {lengths[-1]} "
            "years): compare runs of equal length"
        )
    real_years = int(float(ecosystem.contemporary.dates.max()) // DAYS_PER_YEAR) + 1
    return compared_windows(min(lengths[0], real_years))


def whole_years(run: Run) -> int:
    """The whole years of a run; at least one, as real papers are dated by the year."""
    return max(int(run.days // DAYS_PER_YEAR), 1)


def reach(tables: CommunityComparison, closed: bool, people: int, external_authors: bool) -> str:
    """Say which columns a society of ``people`` can reach: not what its own real papers miss."""
    if not closed:
        return (
            "Use columns own and all: the society includes newcomers beside its "
            f"{people:,} scientists of day 0."
        )
    if external_authors:
        return (
            "Use column own, and of column all only authors_per_own_paper: of authors outside the "
            f"{people:,} scientists of day 0 only the number is simulated."
        )
    last = last_scores(tables, "all")
    missed = int(last["judged"]) - int(last["within_closed"])
    if not missed:
        return f"Use columns own and all: a closed society of {people:,} scientists can match both."
    return (
        "Use column own. Column all includes outside co-authors, whom this society cannot have: "
        f"its {people:,} scientists' own real papers miss {missed} of {int(last['judged'])} "
        f"measures (score {float(last['score_closed']):.3g})."
    )


def last_scores(tables: CommunityComparison, side: str) -> dict[Hashable, Any]:
    """The scores of the longest window in one column."""
    scores = tables.scores
    chosen = scores[(scores["window"] == scores["window"].max()) & (scores["side"] == side)]
    found: dict[Hashable, Any] = chosen.to_dict("records")[0]
    return found


def headline(name: str, tables: CommunityComparison) -> str:
    """The comparison in one sentence, in the column that every society can reach."""
    own = last_scores(tables, "own")
    before = ""
    if not pd.isna(own["score_before"]):
        before = (
            f"; for the years before the boundary {int(own['within_before'])} are "
            f"(score {float(own['score_before']):.3g})"
        )
    years = f"{int(own['window'])} year{'s' if own['window'] > 1 else ''}"
    return (
        f"{name}: {int(own['within'])} of {int(own['judged'])} measures of its own scientists are "
        f"within tolerance of the real values over {years} "
        f"(score {float(own['score']):.3g}, 0 is best){before}."
    )


def limitations(compared: ComparedRuns, ecosystem: Ecosystem) -> list[str]:
    """What the comparison cannot show, in sentences."""
    years = windows_of(compared, ecosystem)[-1]
    late = ecosystem.contemporary
    everybody = _names(late[: int((late.dates < years * DAYS_PER_YEAR).sum())].table)
    inside = len(everybody & set(ecosystem.profiles.names))
    sentences = [
        f"Of {len(everybody):,} authors of these papers {inside:,} are among the society's "
        f"{len(ecosystem.profiles):,} scientists; the others are newcomers or were excluded by the "
        "filters of the ecosystem.",
        "Newcomers and repeats are counted on the past papers and joint papers in the ecosystem, "
        "so authors with only excluded papers count as newcomers.",
        "Papers are dated by year, in the run as in the real data; papers of one year count as "
        "simultaneous.",
        "Topics are compared on equally large samples of papers and on topics that occur before "
        "the boundary; halves is the distance between two such samples of real papers.",
    ]
    steps = ecosystem.manifest.get("steps") or []
    for side, what in (("past", "past papers"), ("contemporary", "papers after the boundary")):
        counted = [one for one in steps if str(one.get("filter", "")).startswith(f"{side}:")]
        there = int(counted[0]["in"]) if counted else 0
        removed = sum(int(one["removed"]) for one in counted)
        if removed > MOST_LEFT_OUT * there:
            sentences.append(
                f"The filters of the ecosystem excluded {removed / there:.0%} of the {what}; "
                "newcomers, repeats and numbers of papers refer to the rest, not to the field."
            )
    days = compared.runs[0].days
    if days < years * DAYS_PER_YEAR:
        sentences.append(
            f"The run ends on day {days:g}, but the real papers cover a full year, so numbers of "
            "papers and authors are not comparable."
        )
    if days > years * DAYS_PER_YEAR:
        sentences.append(
            "Only full years with real papers are compared: papers of the run from day "
            f"{years * DAYS_PER_YEAR:g} on are excluded."
        )
    if not len(ecosystem.past) or float(ecosystem.past.dates.min()) > -years * DAYS_PER_YEAR:
        sentences.append(
            f"The past papers begin less than {years} years before the boundary, so that window "
            "has no column before."
        )
    if len(compared.runs) == 1:
        sentences.append(
            "One run has no variance over seeds; z uses the standard error of the real data."
        )
    digests = [run.digest for run in compared.runs if run.digest is not None]
    if len(set(digests)) < len(digests):
        sentences.append("Some runs have the same digest, so the standard deviation is too small.")
    return sentences


def _names(papers: pd.DataFrame) -> set[str]:
    return set(pc.unique(pc.list_flatten(papers["authors"])).to_pylist())


def require_fit(run: Run, ecosystem: Ecosystem) -> None:
    """Check that the people of a run can be compared with later papers of an ecosystem."""
    require_later_papers(run, ecosystem)
    if not _names(ecosystem.contemporary.table):
        raise InputError(
            "the papers after the boundary have no authors, so they cannot be compared"
        )


def require_later_papers(run: Run, ecosystem: Ecosystem) -> None:
    """Check that a run started from an ecosystem (if recorded) that has later papers."""
    where = run.folder or run.name
    if run.boundary != ecosystem.boundary:
        raise InputError(
            f"{where}: the run begins in {run.boundary}, the ecosystem in {ecosystem.boundary}: "
            "give the ecosystem of the run"
        )
    counts = (run.manifest.get("ecosystem") or {}).get("counts")
    if counts is not None and counts != ecosystem.counts:
        raise InputError(
            f"{where}: the run started from another ecosystem ({counts}) than this one "
            f"({ecosystem.counts})"
        )
    if not len(ecosystem.contemporary):
        raise InputError("the ecosystem has no papers after its boundary to compare with")
