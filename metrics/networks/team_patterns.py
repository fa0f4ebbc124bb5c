"""Who of a paper's authors wrote together before: pairs, triples, whole teams, and m-patterns.

A team of m authors is described by its m-pattern: the largest groups among them, of two at least,
who were together on one earlier paper (Juul, Benson and Kleinberg 2024). The authors are called A,
B, C, ...; two teams have the same pattern if one becomes the other by renaming. ``AB AC BC`` is
three authors of whom each pair wrote together and all three never did; in a network of pairs it
looks the same as ``ABC``, which is why pairs alone do not describe teams. ``assembly`` counts
newcomers, incumbents and repeated collaborations (Guimera et al. 2005).

Source:
    Juul, J. L., Benson, A. R. and Kleinberg, J. (2024). Hypergraph patterns and collaboration
    structure. Frontiers in Physics 11.
"""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, groupby, permutations
from math import comb

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
from virsci_society.society.results.run import Run

SIZES = (2, 3, 4)
"""Team sizes whose patterns are listed: there are 2, 5 and 20 of them (180 for five authors)."""
LARGEST = 25
"""Papers of more authors are not described. They still count as earlier papers of others."""
MANY = 300
"""From so many papers of a team on, arrays take less time than a dictionary."""
NONE = "none"
"""The pattern of authors of whom no two wrote together before."""
LETTERS = "ABCD"

Group = tuple[int, ...]


@dataclass(frozen=True)
class TeamHistory:
    """What the authors of one paper had written together before it.

    Attributes:
        groups: largest groups of authors, of two at least, who were together on an earlier paper;
            an author is its number within the paper, 0 to size - 1.
    """

    size: int
    groups: tuple[Group, ...]
    same: bool

    @property
    def whole(self) -> bool:
        """Whether all authors were together on one earlier paper, possibly with others."""
        return self.size > 1 and any(len(group) == self.size for group in self.groups)

    def repeated(self, order: int) -> int:
        """The number of sets of ``order`` authors who were together on one earlier paper."""
        if len(self.groups) == 1:
            # One group is the common case, and its sets need not be listed.
            return comb(len(self.groups[0]), order)
        return len({part for group in self.groups for part in combinations(group, order)})


def patterns(run: Run) -> pd.DataFrame:
    """The m-patterns of papers with two, three and four authors (Juul et al. 2024).

    Earlier papers are those of this run, since the authors of papers before day 0 are not in its
    tables; papers of one date know nothing of each other. The null model of the source is not
    computed: patterns are meant to be compared between runs, or with the real papers.
    """
    return pattern_table(team_histories(authorships_of(run).rows))


def repeated_groups(run: Run) -> pd.DataFrame:
    """Repeated pairs, triples and whole teams, by number of authors (Juul et al. 2024).

    Earlier papers are those of this run (see ``patterns``).
    """
    return repetition_table(team_histories(authorships_of(run).rows))


def team_histories(rows: pd.DataFrame, since: float = 0.0) -> list[TeamHistory]:
    """The history of every team of at most 25 authors, in order of date and paper.

    Args:
        rows: ``paper``, ``scientist``, ``date`` (days); one row per authorship.
    """
    written = rows.dropna(subset=["paper", "scientist", "date"])
    # By name within a date, so that the order of rows decides nothing (rule 12).
    written = written.sort_values(["date", "paper", "scientist"], kind="stable")
    names = pd.factorize(written["scientist"])[0].tolist()
    papers = zip(written["date"].tolist(), written["paper"].tolist(), names, strict=True)
    return list(_histories(papers, since))


def _histories(rows: Iterable[tuple[float, str, int]], since: float) -> Iterator[TeamHistory]:
    """Histories from (date, paper, number of the author), sorted."""
    papers_of: dict[int, array[int]] = defaultdict(lambda: array("q"))
    teams: set[Group] = set()
    number = 0
    for date, of_date in groupby(rows, key=lambda row: row[0]):
        listed = [
            tuple(sorted({row[2] for row in of_paper}))
            for _, of_paper in groupby(of_date, key=lambda row: row[1])
        ]
        if date >= since:
            for team in listed:
                if len(team) <= LARGEST:
                    yield TeamHistory(len(team), _largest_groups(team, papers_of), team in teams)
        # Added after all papers of the date: they know nothing of each other.
        for team in listed:
            teams.add(team)
            for author in team:
                papers_of[author].append(number)
            number += 1


def _largest_groups(
    team: Group, papers_of: Mapping[int, Sequence[int]] | _PapersOf
) -> tuple[Group, ...]:
    """The largest groups of a team who were together on an earlier paper."""
    largest: list[int] = []
    together = _together([papers_of.get(author, ()) for author in team])
    for group in sorted(together, key=lambda one: (-one.bit_count(), one)):
        if not any(group & other == group for other in largest):
            largest.append(group)
    return tuple(
        tuple(place for place in range(len(team)) if group >> place & 1) for group in largest
    )


def _together(papers: Sequence[Sequence[int]]) -> set[int]:
    """Which authors, of two at least, are on one paper; one bit for each author of the team."""
    if sum(map(len, papers)) < MANY:
        groups: dict[int, int] = defaultdict(int)
        for place, own in enumerate(papers):
            for paper in own:
                groups[paper] |= 1 << place
        return {group for group in groups.values() if group.bit_count() > 1}
    # A prolific team has thousands of papers, on most of which one of its authors is alone.
    arrays = [np.asarray(own, dtype=np.int64) for own in papers]
    bits = np.repeat(1 << np.arange(len(arrays)), [len(own) for own in arrays])
    numbers = np.concatenate(arrays)
    # Papers of a window that is counted have negative numbers.
    sums = np.bincount(numbers - numbers.min(), bits).astype(np.int64)
    # A number with more than one bit is no power of two.
    return set(sums[(sums & (sums - 1)) > 0].tolist())


class _PapersOf:
    """The numbers of everybody's papers, where some are added to those that are known."""

    def __init__(self, earlier: Sequence[Sequence[int]]) -> None:
        self._earlier = earlier
        self._more: dict[int, list[int]] = {}

    def get(self, author: int, default: Sequence[int] = ()) -> Sequence[int]:
        """The papers of an author."""
        known = self._more.get(author)
        if known is not None:
            return known
        return self._earlier[author] if author < len(self._earlier) else default

    def add(self, author: int, paper: int) -> None:
        """Let an author have one paper more."""
        if author not in self._more:
            self._more[author] = list(self.get(author))
        self._more[author].append(paper)


def pattern_counts(
    papers: Iterable[tuple[int, Group]], earlier: Sequence[Sequence[int]]
) -> Counter[tuple[int, str]]:
    """How many papers of two, three and four authors have each m-pattern."""
    papers_of, number = _PapersOf(earlier), -1
    counts: Counter[tuple[int, str]] = Counter()
    for _, of_period in groupby(papers, key=lambda paper: paper[0]):
        teams = [tuple(sorted(set(team))) for _, team in of_period]
        for team in teams:
            if len(team) in SIZES:
                groups = _largest_groups(team, papers_of)
                counts[len(team), pattern_name(groups, len(team))] += 1
        for team in teams:
            for author in team:
                papers_of.add(author, number)
            number -= 1  # below the numbers of earlier papers
    return counts


def pattern_distance(
    counts: Mapping[tuple[int, str], int], reference: Mapping[tuple[int, str], int]
) -> float:
    """How far the m-patterns of some papers are from those of others.

    Returns:
        Total variation distance of the patterns among papers of one number of authors, 0 (alike)
        to 1, mean over the papers of the reference; 1 for a number of authors that ``counts``
        lacks. NaN where the reference has no paper.
    """
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
    """The name of a pattern: its groups in letters, larger ones first; ``none`` without a group.

    Of all ways to give the letters to the authors, the one whose name comes first is taken, so
    that the name does not depend on the order of the authors.
    """
    if not groups:
        return NONE
    names = (
        sorted(("".join(sorted(letters[one] for one in group)) for group in groups), key=_by_size)
        for letters in permutations(LETTERS[:size])
    )
    return " ".join(min(names, key=lambda parts: [_by_size(part) for part in parts]))


def _by_size(group: str) -> tuple[int, str]:
    return -len(group), group


@cache
def pattern_names(size: int) -> tuple[str, ...]:
    """All patterns of so many authors, those with fewer and smaller groups first."""
    groups = [one for order in range(2, size + 1) for one in combinations(range(size), order)]
    found = {
        pattern_name(chosen, size)
        for count in range(len(groups) + 1)
        for chosen in combinations(groups, count)
        if not any(set(one) < set(other) for one in chosen for other in chosen)
    }
    return NONE, *sorted(found - {NONE}, key=_by_extent)


def _by_extent(name: str) -> tuple[int, int, str]:
    """Size of the largest group, number of groups, name."""
    parts = name.split()
    return len(parts[0]), len(parts), name


def pattern_table(histories: Sequence[TeamHistory]) -> pd.DataFrame:
    """The table of ``patterns`` for any histories."""
    counts = Counter(
        (one.size, pattern_name(one.groups, one.size)) for one in histories if one.size in SIZES
    )
    rows = [(size, name, counts[size, name]) for size in SIZES for name in pattern_names(size)]
    table = pd.DataFrame(rows, columns=["authors", "pattern", "papers"])
    table = table.astype({"authors": "Int64", "pattern": "string", "papers": "Int64"})
    # Shares are within a number of authors: patterns of other sizes are other patterns.
    of_size = table.groupby("authors")["papers"].transform("sum").astype("Float64")
    table["share"] = table["papers"].astype("Float64") / of_size.where(of_size > 0)
    return table


def repetition_table(histories: Sequence[TeamHistory]) -> pd.DataFrame:
    """The table of ``repeated_groups`` for any histories."""
    counted = pd.DataFrame(
        [
            (
                *(one.size, 1, comb(one.size, 2), one.repeated(2)),
                *(comb(one.size, 3), one.repeated(3), one.whole, one.same),
            )
            for one in histories
            if one.size > 1
        ],
        columns=[
            *("authors", "papers", "pairs", "repeated_pairs"),
            *("triples", "repeated_triples", "whole", "same"),
        ],
    ).astype("Int64")
    table = counted.groupby("authors", sort=True).sum().reset_index()
    for share, part, whole in (
        ("pair_share", "repeated_pairs", "pairs"),
        ("triple_share", "repeated_triples", "triples"),
        ("whole_share", "whole", "papers"),
        ("same_share", "same", "papers"),
    ):
        of = table[whole].astype("Float64")
        table[share] = table[part].astype("Float64") / of.where(of > 0)
    return table


COUNTS = (
    *("papers", "authorships", "incumbents", "links"),
    *("newcomer_newcomer", "newcomer_incumbent", "incumbent_incumbent", "repeats"),
)


def assembly(run: Run, every: float = MONTH) -> pd.DataFrame:
    """Shares of team assembly (Guimera et al. 2005), over the papers of the run.

    An incumbent has a paper dated before; a link is a pair of authors of one paper. p and q are
    counted here, from the links there are; in the model of 2005 the same letters are the
    chances by which teams are made, and q of the model is more than the share counted, since an
    incumbent may have no old partner to choose, or meet one by chance.
    """
    return assembly_table(authorships_of(run), sample_dates(run.days, every))


def assembly_table(works: AuthorshipTable, days: list[float]) -> pd.DataFrame:
    """The table of ``assembly`` for any authorships."""
    edges = np.array(days)
    written, tied = works.rows, coauthor_links(works)
    known = map_numbers(written["scientist"], first_paper_dates(works)) < written["date"]
    kinds = [tied["incumbents"] == number for number in range(3)]
    events = {
        "papers": written.drop_duplicates("paper")["date"],
        "authorships": written["date"],
        "incumbents": written.loc[known.astype(bool), "date"],
        "links": tied["date"],
        "newcomer_newcomer": tied.loc[kinds[0], "date"],
        "newcomer_incumbent": tied.loc[kinds[1], "date"],
        "incumbent_incumbent": tied.loc[kinds[2], "date"],
        "repeats": tied.loc[tied["repeat"], "date"],
    }
    table = pd.DataFrame({"date": pd.array(edges, dtype="Float64")})
    so_far = pd.DataFrame(index=table.index)
    for name in COUNTS:
        # Counts so far first, then their differences: both agree to the last paper.
        when = np.sort(events[name].to_numpy(dtype=np.float64))
        so_far[name] = np.searchsorted(when, edges, side="right")
        table[name] = pd.array(np.diff(so_far[name], prepend=0), dtype="Int64")
    for end, counted in (("", table), ("_so_far", so_far)):
        table[f"p{end}"] = _share(counted["incumbents"], counted["authorships"])
        table[f"q{end}"] = _share(counted["repeats"], counted["incumbent_incumbent"])
        table[f"repeat_rate{end}"] = _share(counted["repeats"], counted["links"])
    return table


def _share(part: pd.Series, whole: pd.Series) -> pd.Series:
    parts, wholes = part.astype("Float64"), whole.astype("Float64")
    return parts / wholes.where(wholes > 0)
