"""Who an ecosystem's scientists are, and what may be known of them at the boundary.

Everything here is computed from papers before the boundary and nothing else: who counts as a
scientist, masked names, profiles, career starts and co-author counts.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from agents.profile import Profile
from society.ecosystem.records import RawRecord

if TYPE_CHECKING:
    from scipy.sparse import csr_array

AFFILIATIONS = 3
INTERESTS = 10
COLLABORATORS = 10

Terms = Callable[[RawRecord], Sequence[str]]
"""What a paper is about: its keywords, or terms of its text where it has none."""


class Careers:
    """The papers of everybody before the boundary, by author."""

    def __init__(self, known: Sequence[RawRecord]) -> None:
        self.papers: dict[str, list[RawRecord]] = defaultdict(list)
        for record in known:
            for author in record.authors:
                self.papers[author.id].append(record)

    def coauthors(self, author_id: str) -> Counter[str]:
        """Joint papers with each co-author."""
        together = Counter(a.id for record in self.papers[author_id] for a in record.authors)
        del together[author_id]
        return together


def choose(
    careers: Careers, past: Sequence[RawRecord], min_papers: int, min_coauthors: int
) -> tuple[list[str], list[dict[str, int | str]]]:
    """The source ids of the scientists, sorted, and what each filter removed.

    Papers and co-authors are counted on all the source's papers before the boundary; a
    scientist also has at least one paper among those kept.
    """
    kept_authors = {author.id for record in past for author in record.authors}
    rules: list[tuple[str, Callable[[str], bool]]] = [
        ("at least one kept past paper", lambda a: a in kept_authors),
        (f"at least {min_papers} papers", lambda a: len(careers.papers[a]) >= min_papers),
        (
            f"at least {min_coauthors} co-authors",
            lambda a: min_coauthors <= 0 or len(careers.coauthors(a)) >= min_coauthors,
        ),
    ]
    chosen = sorted(careers.papers)
    steps: list[dict[str, int | str]] = []
    for name, keeps in rules:
        before = len(chosen)
        chosen = [author for author in chosen if keeps(author)]
        steps.append({"filter": f"people: {name}", "in": before, "removed": before - len(chosen)})
    return chosen, steps


def mask(chosen: Sequence[str], records: Iterable[RawRecord], seed: int) -> dict[str, str]:
    """Source id to masked name: ``Scientist0..`` for the chosen, ``Author0..`` for the rest.

    The order of the scientists is shuffled, so that a number tells nothing of a name.
    """
    order = np.random.default_rng([seed % 2**64, len(chosen)]).permutation(len(chosen))
    names = {chosen[place]: f"Scientist{number}" for number, place in enumerate(order)}
    others = 0
    for record in records:
        for author in record.authors:
            if author.id not in names:
                names[author.id] = f"Author{others}"
                others += 1
    return names


def profile(
    author_id: str, careers: Careers, names: dict[str, str], scientists: set[str], terms: Terms
) -> Profile:
    """The profile of a scientist at the boundary.

    Collaborators are named where they are scientists of this population: the name of anybody
    else would lead nowhere.
    """
    papers = careers.papers[author_id]
    interests = Counter(term for record in papers for term in dict.fromkeys(terms(record)))
    places = Counter(
        author.affiliation
        for record in reversed(papers)
        for author in record.authors
        if author.id == author_id and author.affiliation
    )
    together = careers.coauthors(author_id)
    ranked = sorted(together, key=lambda other: (-together[other], names.get(other, "")))
    counts = [record.citations for record in papers if record.citations is not None]
    return Profile(
        id=names[author_id],
        affiliations=tuple(place for place, _ in places.most_common(AFFILIATIONS)),
        interests=tuple(term for term, _ in interests.most_common(INTERESTS)),
        papers=len(papers),
        citations=sum(counts) if counts else None,
        collaborators=tuple(names[o] for o in ranked if o in scientists)[:COLLABORATORS],
    )


def joint_papers(
    chosen: Sequence[str], names: dict[str, str], known: Sequence[RawRecord]
) -> csr_array:
    """Papers that each two scientists wrote together, in the order of their masked names."""
    from scipy.sparse import coo_array

    row_of = {author: int(names[author].removeprefix("Scientist")) for author in chosen}
    pairs = [
        pair
        for record in known
        for pair in combinations([row_of[a.id] for a in record.authors if a.id in row_of], 2)
    ]
    ends = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    rows = np.concatenate([ends[:, 0], ends[:, 1]])
    columns = np.concatenate([ends[:, 1], ends[:, 0]])
    ones = np.ones(len(rows), dtype=np.int64)
    counts = coo_array((ones, (rows, columns)), shape=(len(chosen), len(chosen))).tocsr()
    counts.sum_duplicates()
    counts.sort_indices()
    return counts
