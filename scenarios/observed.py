"""Observed: what the scientists of an ecosystem really wrote, as the measures of a run need it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agents.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from metrics.compare import Side
    from metrics.works import Works
    from society.ecosystem.ecosystem import Ecosystem
    from society.literature.papers import Papers
    from society.run import Run


def sides_of(run: Run, ecosystem: Ecosystem) -> dict[str, Side]:
    """The sides to compare: simulated, observed, observed_inside and before.

    Raises:
        InputError: the ecosystem is not that of the run, or tells nothing of what came after.
    """
    from metrics.compare import simulated

    _fits(run, ecosystem)
    early, late = ecosystem.past, ecosystem.contemporary
    known = set(run.table("scientists")["scientist"])
    then = late[: int((late.dates < run.days).sum())]
    start = int((early.dates < -run.days).sum())
    return {
        "simulated": simulated(run),
        "observed": _side(then, early),
        "observed_inside": _side(then, early, known),
        "before": _side(early[start:], early[:start], shift=run.days),
    }


def unknowns(run: Run, ecosystem: Ecosystem) -> list[str]:
    """What the table cannot tell, in sentences."""
    early, late = ecosystem.past, ecosystem.contemporary
    people, everybody = len(ecosystem.profiles), _names(late[: int((late.dates < run.days).sum())])
    inside = len(everybody & set(ecosystem.profiles.names))
    told = [
        f"Of {len(everybody)} authors of these papers {inside} are among the society's {people} "
        "scientists; the others are newcomers or below the filters of the ecosystem.",
        "Newcomers, p and repeats are counted on the past papers that the ecosystem kept: who had "
        "only papers that its filters left out counts as a newcomer.",
        "Papers of the run are dated to the day, real ones mostly to the year: what was written "
        "in one year counts as simultaneous.",
        "The topic mix compares keywords as they are spelt; two samples of one community are "
        "apart too, as the column before shows.",
    ]
    if len(late) and float(late.dates.max()) + 365.0 < run.days:
        last = float(late.dates.max()) + 365.0
        told.append(
            f"The real papers end on day {last:g}, the run on day {run.days:g}: of what came "
            "between nothing is known."
        )
    if len(early) and float(early.dates.min()) > -run.days:
        told.append(
            "The past papers do not reach back as far as the run is long: the column before "
            "covers less time."
        )
    return told


def _fits(run: Run, ecosystem: Ecosystem) -> None:
    if run.boundary != ecosystem.boundary:
        raise InputError(
            f"the run begins in {run.boundary}, the ecosystem in {ecosystem.boundary}: compare a "
            "run with the ecosystem that it started from"
        )
    counts = (run.manifest.get("ecosystem") or {}).get("counts")
    if counts is not None and counts != ecosystem.counts:
        raise InputError(
            f"the run started from another ecosystem ({counts}) than this one ({ecosystem.counts})"
        )
    if not len(ecosystem.contemporary):
        raise InputError("the ecosystem has no papers after its boundary to compare with")
    if not any(ecosystem.contemporary[row].authors for row in range(len(ecosystem.contemporary))):
        raise InputError("the papers after the boundary have no authors: nothing to compare with")


def _names(papers: Papers) -> set[str]:
    import pyarrow.compute as pc

    return set(pc.unique(pc.list_flatten(papers.table["authors"])).to_pylist())


def _side(
    papers: Papers, before: Papers, among: set[str] | None = None, shift: float = 0.0
) -> Side:
    """Some papers, after what came before them; of some people only, where they are given."""
    from metrics.compare import Side, topics_of
    from metrics.works import Works

    rows, earlier = _rows(papers, among), _rows(before, among)
    rows["date"] += shift
    written = set(rows["paper"])
    keywords = zip(
        papers.table["id"].to_pylist(), papers.table["keywords"].to_pylist(), strict=True
    )
    topics = topics_of([words or () for paper, words in keywords if paper in written])
    pairs = _pairs(Works(earlier))
    return Side(Works(rows, frozenset(earlier["scientist"]), pairs), *topics)


def _pairs(works: Works) -> frozenset[tuple[str, str]]:
    from metrics.works import links

    tied = links(works)
    return frozenset(zip(tied["source"], tied["target"], strict=True))


def _rows(papers: Papers, among: set[str] | None) -> pd.DataFrame:
    import numpy as np
    import pandas as pd
    import pyarrow.compute as pc

    table = papers.table
    lengths = np.asarray(pc.list_value_length(table["authors"]).to_numpy(), dtype=np.int64)
    rows = pd.DataFrame(
        {
            "paper": np.repeat(np.array(table["id"].to_pylist(), dtype=object), lengths),
            "scientist": np.array(pc.list_flatten(table["authors"]).to_pylist(), dtype=object),
            "date": np.repeat(papers.dates, lengths),
        }
    ).drop_duplicates(["paper", "scientist"])
    return rows if among is None else rows[rows["scientist"].isin(among)]
