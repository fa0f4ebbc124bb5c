"""Earlier joint papers among the authors of a paper: m-patterns and team assembly.

The pattern ``AB AC BC`` is three authors of whom each pair wrote together and all three never did.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import groupby, permutations

import numpy as np
import pandas as pd

from virsci_society.metrics.impact import (
    AuthorshipTable,
    authorships_of,
    coauthor_links,
    first_paper_dates,
    map_numbers,
)
from virsci_society.metrics.networks.structure import MONTH, sample_dates
from virsci_society.metrics.registry import metric
from virsci_society.society.results.run import Run

SIZES = (2, 3, 4)
"""Team sizes whose patterns are listed: there are 2, 5 and 20 of them (180 for five authors)."""
NONE = "none"
"""The pattern of authors without any earlier joint paper."""
LETTERS = "ABCD"

Group = tuple[int, ...]


def largest_groups(
    papers: Iterable[tuple[float, Group]], earlier: Sequence[Sequence[int]]
) -> Iterator[tuple[int, tuple[Group, ...]]]:
    """For each paper of two to four authors their number, and the largest groups of earlier papers.

    Papers are in order of their periods; papers of one period do not know each other.
    """
    more: dict[int, list[int]] = {}

    def papers_of(author: int) -> Sequence[int]:
        return more.get(author) or (earlier[author] if author < len(earlier) else ())

    number = -1
    for _, of_period in groupby(papers, key=lambda paper: paper[0]):
        teams = [tuple(sorted(set(team))) for _, team in of_period]
        for team in teams:
            if len(team) not in SIZES:
                continue
            # Which authors are on one paper; one bit for each author of the team.
            of_paper: dict[int, int] = defaultdict(int)
            for place, author in enumerate(team):
                for paper in papers_of(author):
                    of_paper[paper] |= 1 << place
            together = {group for group in of_paper.values() if group.bit_count() > 1}
            largest: list[int] = []
            for group in sorted(together, key=lambda one: (-one.bit_count(), one)):
                if not any(group & other == group for other in largest):
                    largest.append(group)
            places = range(len(team))
            groups = (tuple(one for one in places if group >> one & 1) for group in largest)
            yield len(team), tuple(groups)
        for team in teams:
            for author in team:
                more.setdefault(author, [*papers_of(author)]).append(number)
            number -= 1  # below the numbers of earlier papers


def pattern_counts(
    papers: Iterable[tuple[float, Group]], earlier: Sequence[Sequence[int]]
) -> Counter[tuple[int, str]]:
    """How many papers of two, three and four authors have each m-pattern."""
    found = largest_groups(papers, earlier)
    return Counter((size, pattern_name(groups, size)) for size, groups in found)


def pattern_distance(
    counts: Mapping[tuple[int, str], int], reference: Mapping[tuple[int, str], int]
) -> float:
    """Total variation distance of m-patterns, 0 to 1, mean over papers of the reference."""
    whole = sum(reference.values())
    distance = 0.0
    for size in SIZES:
        ours, theirs = (
            {name: n for (authors, name), n in one.items() if authors == size}
            for one in (counts, reference)
        )
        mine, other = sum(ours.values()), sum(theirs.values())
        if not other:
            continue
        gaps = (
            abs(ours.get(name, 0) / max(1, mine) - theirs.get(name, 0) / other)
            for name in sorted({*ours, *theirs})
        )
        distance += (sum(gaps) / 2 if mine else 1.0) * other / whole
    return distance if whole else float("nan")


@cache
def pattern_name(groups: tuple[Group, ...], size: int) -> str:
    """The name of a pattern: its groups in letters, larger ones first; ``none`` without a group."""
    if not groups:
        return NONE
    names = (
        sorted(("".join(sorted(letters[one] for one in group)) for group in groups), key=_by_size)
        for letters in permutations(LETTERS[:size])
    )
    return " ".join(min(names, key=lambda parts: [_by_size(part) for part in parts]))


def _by_size(group: str) -> tuple[int, str]:
    return -len(group), group


@metric("teams")
def assembly(run: Run, every: float = MONTH) -> pd.DataFrame:
    """Shares of team assembly (Guimera et al. 2005), over the papers of the run."""
    return assembly_table(run.once(authorships_of), sample_dates(run.days, every))


def assembly_table(works: AuthorshipTable, days: list[float]) -> pd.DataFrame:
    """The table of ``assembly`` for any authorships."""
    edges = np.array(days)
    written, tied = works.rows, coauthor_links(works)
    wrote_before = map_numbers(written["scientist"], first_paper_dates(works)) < written["date"]
    incumbents = [tied["incumbents"] == number for number in range(3)]
    events = {
        "papers": written.drop_duplicates("paper")["date"],
        "authorships": written["date"],
        "incumbents": written.loc[wrote_before.astype(bool), "date"],
        "links": tied["date"],
        "newcomer_newcomer": tied.loc[incumbents[0], "date"],
        "newcomer_incumbent": tied.loc[incumbents[1], "date"],
        "incumbent_incumbent": tied.loc[incumbents[2], "date"],
        "repeats": tied.loc[tied["repeat"], "date"],
    }
    table = pd.DataFrame({"date": pd.array(edges, dtype="Float64")})
    for name, dates in events.items():
        when = np.sort(dates.to_numpy(dtype=np.float64))
        counts = np.searchsorted(when, edges, side="right")
        table[name] = pd.array(np.diff(counts, prepend=0), dtype="Int64")
    table["p"] = _share(table["incumbents"], table["authorships"])
    table["q"] = _share(table["repeats"], table["incumbent_incumbent"])
    table["repeat_rate"] = _share(table["repeats"], table["links"])
    return table


def _share(part: pd.Series, whole: pd.Series) -> pd.Series:
    parts, wholes = part.astype("Float64"), whole.astype("Float64")
    return parts / wholes.where(wholes > 0)
