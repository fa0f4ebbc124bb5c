"""Random draws from tables: null models, which randomise one thing, and bootstrap samples."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from virsci_society.agents.arrays import FloatArray, IntArray
from virsci_society.metrics.facts.tables import FactTables
from virsci_society.society.literature.authorships import Authorships

ROUNDS = 50
"""Attempts to exchange authors who appear twice on a paper; after them they stay."""


Null = Callable[[FactTables, np.random.Generator], FactTables]
"""A null model: a draw from it."""


def rewired_authors(tables: FactTables, rng: np.random.Generator) -> FactTables:
    """Within each year people exchange their seats.

    Papers, their sizes and everybody's number of papers a year stay.
    """
    authors = _shuffled(tables.works.authors, tables.year_of_seat, rng)
    return _seated(tables, authors, tables.year_of_seat, rng)


def random_authors(tables: FactTables, rng: np.random.Generator) -> FactTables:
    """Every seat is taken by any of the people, each with the same chance.

    Papers, years and sizes stay.
    """
    there = np.flatnonzero(tables.written)
    authors = there[rng.integers(0, len(there), len(tables.works.authors))]
    return _seated(tables, authors, np.zeros_like(authors), rng)


def geometric_papers(tables: FactTables, rng: np.random.Generator) -> FactTables:
    """Numbers of papers are geometric, as where everybody writes again with the same chance.

    Papers, years, sizes and the number of people stay.
    """
    there, seats = np.flatnonzero(tables.written), len(tables.works.authors)
    # Cutting the seats at random places gives geometric numbers of that sum.
    cuts = np.sort(rng.choice(seats - 1, len(there) - 1, replace=False)) + 1
    authors = rng.permutation(np.repeat(there, np.diff(cuts, prepend=0, append=seats)))
    return _seated(tables, authors, np.zeros_like(authors), rng)


def random_sizes(tables: FactTables, rng: np.random.Generator) -> FactTables:
    """Within each year authors are spread evenly at random over the papers.

    Each paper has at least one; the numbers of papers and of seats stay.
    """
    sizes = np.ones(len(tables.works), dtype=np.int64)
    for year in np.unique(tables.year):
        papers = np.flatnonzero(tables.year == year)
        more = int(tables.works.sizes[papers].sum()) - len(papers)
        sizes[papers] += rng.multinomial(more, np.full(len(papers), 1 / len(papers)))
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    spread = replace(tables, works=replace(tables.works, starts=starts))
    authors = _shuffled(tables.works.authors, tables.year_of_seat, rng)
    return _seated(spread, authors, spread.year_of_seat, rng)


def shuffled_dates(tables: FactTables, rng: np.random.Generator) -> FactTables:
    """Papers exchange their years.

    Who wrote with whom stays, and so do papers a year.
    """
    return _with_papers(tables, rng.permutation(len(tables.works)), tables.works.dates)


def strangers(tables: FactTables, rng: np.random.Generator) -> FactTables:
    """Nobody writes twice, and papers exchange their years.

    Papers a year and all sizes stay.
    """
    shuffled = shuffled_dates(tables, rng)
    seats = len(shuffled.works.authors)
    works = replace(shuffled.works, authors=np.arange(seats, dtype=np.int64), people=seats)
    return replace(shuffled, works=works, wrote_before=np.zeros(seats, dtype=bool))


def exchanged_places(tables: FactTables, rng: np.random.Generator) -> FactTables:
    """Within each year papers exchange what they cite and who cites them.

    Authors and topics stay, and so does the citation network.
    """
    if tables.references is None:
        return tables
    place = np.arange(max(len(tables.works), int(tables.references.max()) + 1))
    place[: len(tables.works)] = _shuffled(np.arange(len(tables.works)), tables.year, rng)
    moved = place[tables.references]
    return replace(tables, references=moved[np.argsort(moved[:, 0], kind="stable")])


def random_citations(tables: FactTables, rng: np.random.Generator) -> FactTables:
    """A reference to a paper of some year goes to any paper of that year.

    Numbers of references stay, and so do citations of each year from each.
    """
    if tables.references is None:
        return tables
    references, count = tables.references.copy(), len(tables.works)
    for year in range(tables.years):
        first, end = np.searchsorted(tables.year, [year, year + 1])
        cited = (references[:, 1] >= first) & (references[:, 1] < min(end, count))
        references[cited, 1] = rng.integers(first, max(end, first + 1), int(cited.sum()))
    return replace(tables, references=references)


def exchanged_panels(tables: FactTables, rng: np.random.Generator) -> FactTables:
    """Second panels exchange their manuscripts.

    What each panel accepts of all stays.
    """
    panels = tables.further["panels"].copy()
    second = (panels["panel"] == "second").to_numpy()
    decided = panels.loc[second, "decision"].to_numpy()
    panels.loc[second, "decision"] = decided[rng.permutation(len(decided))]
    return replace(tables, further={**tables.further, "panels": panels})


def sampled_papers(tables: FactTables, rng: np.random.Generator) -> FactTables:
    """A bootstrap sample of the papers of each year."""
    counts = np.bincount(tables.year)
    first = np.repeat(np.cumsum(counts) - counts, counts)
    rows = np.sort(first + rng.integers(0, np.repeat(counts, counts)))
    return _with_papers(tables, rows, tables.works.dates[rows])


def sampled_authors(tables: FactTables, rng: np.random.Generator) -> FactTables:
    """A bootstrap sample of the authors, each with all papers; without references and topics."""
    works, there = tables.works, np.flatnonzero(tables.written)
    copies = np.bincount(rng.choice(there, len(there)), minlength=works.people)
    first, times = np.cumsum(copies) - copies, copies[works.authors]
    seats = np.repeat(np.arange(len(times)), times)
    turn = np.arange(len(seats)) - np.repeat(np.cumsum(times) - times, times)
    sizes = np.bincount(tables.paper_of_seat[seats], minlength=len(works))
    starts = np.append(0, np.cumsum(sizes[sizes > 0]))
    authors = first[works.authors[seats]] + turn
    made = Authorships(works.dates[sizes > 0], starts, authors, int(copies.sum()))
    return FactTables(tables.name, tables.years, made, np.repeat(tables.wrote_before, copies))


def sampled_manuscripts(tables: FactTables, rng: np.random.Generator) -> FactTables:
    """A bootstrap sample of the manuscripts that panels judged."""
    panels = tables.further["panels"]
    numbers = panels.groupby(["team", "submission"]).ngroup()
    count = int(numbers.max()) + 1
    drawn = pd.DataFrame({"number": rng.integers(0, count, count), "submission": range(count)})
    sample = drawn.merge(panels.drop(columns="submission").assign(number=numbers), on="number")
    return replace(tables, further={"panels": sample})


NULLS: Mapping[str, Null] = {
    null.__name__.replace("_", " "): null
    for null in (
        rewired_authors,
        random_authors,
        geometric_papers,
        random_sizes,
        shuffled_dates,
        strangers,
        exchanged_places,
        random_citations,
        exchanged_panels,
    )
}
"""Null models by name; each docstring states what is preserved."""
SAMPLES: Mapping[str, Null] = {
    "papers": sampled_papers,
    "authors": sampled_authors,
    "manuscripts": sampled_manuscripts,
}
"""What a bootstrap sample of a run or field draws."""


def _with_papers(tables: FactTables, rows: IntArray, dates: FloatArray) -> FactTables:
    """The papers of some rows, which may repeat, at other dates, with what they cite."""
    works, count = tables.works, len(tables.works)
    sizes = works.sizes[rows]
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    seats = np.repeat(works.starts[:-1][rows] - starts[:-1], sizes) + np.arange(int(starts[-1]))
    references = tables.references
    if references is not None:
        # Each copy of a paper cites each copy of what the paper cites.
        citing, cited = references.T
        copies = np.bincount(rows, minlength=count)
        place, first = np.append(np.argsort(rows, kind="stable"), -1), np.cumsum(copies) - copies
        inside, known = cited < count, np.minimum(cited, count - 1)
        width = np.where(inside, copies[known], 1)
        times = copies[citing] * width
        of = np.repeat(np.arange(len(references)), times)
        turn = np.arange(len(of)) - np.repeat(np.cumsum(times) - times, times)
        ones = place[first[citing[of]] + turn // width[of]]
        others = place[np.where(inside[of], first[known[of]] + turn % width[of], count)]
        others = np.where(inside[of], others, cited[of] - count + len(rows))
        references = np.stack([ones, others], axis=1)[np.argsort(ones, kind="stable")]
    topics = tables.topics if tables.topics is None else tuple(tables.topics[i] for i in rows)
    cited_names = (*(tables.cited[i] for i in rows), *tables.cited[count:])
    changed = Authorships(dates, starts, works.authors[seats], works.people)
    return replace(tables, works=changed, references=references, topics=topics, cited=cited_names)


def _shuffled(values: IntArray, groups: IntArray, rng: np.random.Generator) -> IntArray:
    """The values in another order, each within its group."""
    order = rng.permutation(len(values))
    order = order[np.argsort(groups[order], kind="stable")]
    made = np.empty_like(values)
    made[np.argsort(groups, kind="stable")] = values[order]
    return made


def _seated(
    tables: FactTables, authors: IntArray, groups: IntArray, rng: np.random.Generator
) -> FactTables:
    """The papers with new authors, swapped within groups until nobody is on a paper twice."""
    made = authors.copy()
    seats = {group: np.flatnonzero(groups == group) for group in np.unique(groups).tolist()}
    for _ in range(ROUNDS):
        held = (tables.paper_of_seat << 32) | made
        _, first = np.unique(held, return_index=True)
        twice = np.ones(len(made), dtype=bool)
        twice[first] = False
        if not twice.any():
            break
        for seat in np.flatnonzero(twice).tolist():
            there = seats[int(groups[seat])]
            other = int(there[rng.integers(len(there))])
            made[seat], made[other] = made[other], made[seat]
    return replace(tables, works=replace(tables.works, authors=made))
