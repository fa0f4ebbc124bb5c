"""Papers that the scientists of an ecosystem really wrote, measured as the papers of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agents.errors import InputError
from society.literature.papers import DAYS_PER_YEAR

if TYPE_CHECKING:
    import pandas as pd

    from metrics.impact.authorships import AuthorshipTable
    from metrics.validation.comparison import PaperSample
    from society.ecosystem.ecosystem import Ecosystem
    from society.literature.papers import Papers
    from society.results.run import Run

Pairs = frozenset[tuple[str, str]]


def compared_sides(run: Run, ecosystem: Ecosystem) -> dict[str, PaperSample]:
    """The sides of a comparison: simulated, observed, observed_inside and before.

    ``observed`` has everybody's real papers of the same length of time after the boundary,
    ``observed_inside`` those of the society's own scientists, ``before`` those before the boundary.

    Raises:
        InputError: the ecosystem is not that of the run, or has no papers after its boundary.
    """
    from metrics.validation.comparison import simulated_sample

    _fits(run, ecosystem)
    days = compared_days(run)
    early, late = ecosystem.past, ecosystem.contemporary
    # Not those in the tables of the run: a large society lists only who took part.
    known = set(ecosystem.profiles.names)
    then = late[: int((late.dates < days).sum())]
    start = int((early.dates < -days).sum())
    ours = simulated_sample(run, days)
    return {
        "simulated": ours,
        "observed": _side(then, early, tied=ours.authorships.prior_pairs),
        "observed_inside": _side(then, early, known, tied=ours.authorships.prior_pairs),
        "before": _side(early[start:], early[:start], shift=days),
    }


def compared_days(run: Run) -> float:
    """The whole years of a run, in days; at least one, as real papers are dated by the year."""
    return max(run.days // DAYS_PER_YEAR, 1.0) * DAYS_PER_YEAR


def limitations(run: Run, ecosystem: Ecosystem) -> list[str]:
    """What the comparison cannot show, in sentences."""
    days = compared_days(run)
    early, late = ecosystem.past, ecosystem.contemporary
    people, everybody = len(ecosystem.profiles), _names(late[: int((late.dates < days).sum())])
    inside = len(everybody & set(ecosystem.profiles.names))
    sentences = [
        f"Of {len(everybody)} authors of these papers {inside} are among the society's {people} "
        "scientists; the others are newcomers or below the filters of the ecosystem.",
        "Of its scientists' real papers, sizes count every author; all other quantities only the "
        "society's own, as in the run, where nobody else can be asked.",
        "Newcomers, p and repeats are counted on the past papers that the ecosystem kept: who had "
        "only papers that its filters left out counts as a newcomer.",
        "Real papers are dated by the year, and here those of the run are too: what was written "
        "in one year counts as simultaneous.",
        "Keywords are compared as they are spelt, and word by word; two samples of one community "
        "are apart too, as the column before shows.",
        *_starts(run),
    ]
    if len(late) and float(late.dates.max()) + DAYS_PER_YEAR < days:
        last = float(late.dates.max()) + DAYS_PER_YEAR
        sentences.append(
            f"The real papers end on day {last:g}, what is compared of the run on day {days:g}: "
            "of what came between nothing is known."
        )
    if len(early) and float(early.dates.min()) > -days:
        sentences.append(
            "The past papers do not reach back as far as the run is long: the column before "
            "covers less time."
        )
    return sentences


def _starts(run: Run) -> list[str]:
    """How the run begins and ends, where that makes it unlike the years it is compared with."""
    days, sentences = compared_days(run), []
    published = run.table("papers")["published"]
    if len(published):
        sentences.append(
            "The society begins on day 0 without a team at work: its first paper appeared on day "
            f"{float(published.min()):.0f}. Real papers of those days had been begun before."
        )
    if run.days < days:
        sentences.append(
            f"The run ends on day {run.days:g}, the real papers are those of a year: numbers of "
            "papers and authors are not of the same length of time."
        )
    if run.days > days:
        sentences.append(
            f"Of the run its whole years are compared: papers from day {days:g} on are left out."
        )
    return sentences


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
    papers: Papers,
    before: Papers,
    among: set[str] | None = None,
    tied: Pairs = frozenset(),
    shift: float = 0.0,
) -> PaperSample:
    """Some papers, after what came before them; of some people only, where they are given.

    Args:
        papers: those to measure.
        before: those that came before.
        among: whose part in them counts; None: everybody's.
        tied: pairs known to have written together before, also where the paper was left out of
            the ecosystem: the run counts them as old partners.
        shift: days added to every date.
    """
    import numpy as np

    from metrics.impact.authorships import AuthorshipTable
    from metrics.validation.comparison import paper_sample

    every, rows, earlier = _rows(papers, None), _rows(papers, among), _rows(before, among)
    rows["date"] += shift
    written = set(rows["paper"])
    keywords = zip(
        papers.table["id"].to_pylist(), papers.table["keywords"].to_pylist(), strict=True
    )
    listed = [words or () for paper, words in keywords if paper in written]
    known = AuthorshipTable(
        rows, frozenset(earlier["scientist"]), _pairs(AuthorshipTable(earlier)) | tied
    )
    if among is None:
        return paper_sample(known, listed)
    sizes = every[every["paper"].isin(written)].groupby("paper").size()
    return paper_sample(known, listed, sizes.to_numpy().astype(np.float64), len(among))


def _pairs(works: AuthorshipTable) -> Pairs:
    from metrics.impact.authorships import coauthor_links

    tied = coauthor_links(works)
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
