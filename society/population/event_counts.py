"""Events per person and papers by date, counted strictly before a simulated date (rule 16)."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from virsci_society.agents.arrays import FloatArray, IntArray
from virsci_society.society.literature.authorships import (
    FIRST,
    LAST,
    Authorships,
    Distinct,
    JointPapers,
)


class EventWindow(NamedTuple):
    """A range of the events since day 0, as indices into the order of their dates."""

    start: int
    end: int


class DatedCounts:
    """How often one kind of event has happened to each person, by row of the population."""

    def __init__(self, totals: Callable[[], IntArray], now: Callable[[], float]) -> None:
        self._totals_of, self._now = totals, now
        self._dates: list[float] = []
        self._rows: list[int] = []
        # Of each person the indices of its events.
        self._events: dict[int, list[int]] = {}

    def record(self, rows: Iterable[int]) -> None:
        """Add one event, dated now, for each of these rows, which may repeat."""
        date = self._now()
        for row in rows:
            self._dates.append(date)
            self._rows.append(row)
            # Last, because another thread may read the events of a person.
            self._events.setdefault(row, []).append(len(self._rows) - 1)

    def window(self, span: float | None = None) -> EventWindow:
        """The events of the last ``span`` days before now; None: since day 0."""
        dates, now = self._dates, self._now()
        end = len(dates)
        # Today's events do not count yet (rule 16); usually there are none, and no bisection.
        if end and not dates[-1] < now:
            end = bisect_left(dates, now)
        return EventWindow(0 if span is None else bisect_left(dates, now - span, 0, end), end)

    def total(self) -> int:
        """The number of events before now, those before day 0 included, of all people."""
        return self._before + self.window().end

    def person_at(self, index: int) -> int:
        """The row of the person of an event, those before day 0 first and by row."""
        if index >= self._before:
            return self._rows[index - self._before]
        return int(np.searchsorted(self._totals, index, side="right")) - 1

    def event_at(self, index: int, window: EventWindow) -> tuple[int, bool]:
        """The row of an event since day 0, and whether it is that person's first in a window."""
        row = self._rows[index]
        own = self._events[row]
        return row, own[bisect_left(own, window.start)] == index

    def has_event_in(self, row: int, window: EventWindow) -> bool:
        """Whether this person has an event in the window."""
        own = self._events.get(row, ())
        position = bisect_left(own, window.end)
        return position > 0 and own[position - 1] >= window.start

    def count_since_day_0(self, row: int, before: float) -> int:
        """The number of this person's events since day 0 and before a date."""
        own = self._events.get(row)
        return bisect_left(own, before, key=self._dates.__getitem__) if own else 0

    def last_date(self, row: int) -> float | None:
        """The date of this person's last event since day 0, or None."""
        own = self._events.get(row)
        return self._dates[own[-1]] if own else None

    def count_before_day_0(self, row: int) -> int:
        """The number of this person's events before day 0; 0 for newcomers."""
        totals = self._totals
        return int(totals[row + 1] - totals[row]) if row + 1 < len(totals) else 0

    @cached_property
    def rows_before_day_0(self) -> IntArray:
        """Rows of the people with an event before day 0, ascending."""
        return np.flatnonzero(np.diff(self._totals))

    def counts(self, people: int) -> IntArray:
        """The number of events before now of each person: integers of shape (people,)."""
        counts = np.zeros(people, dtype=np.int64)
        before = np.diff(self._totals)[:people]
        counts[: len(before)] = before
        since = np.array(self._rows[: self.window().end], dtype=np.int64)
        return counts + np.bincount(since, minlength=people)[:people]

    @cached_property
    def _totals(self) -> IntArray:
        return np.asarray(self._totals_of(), dtype=np.int64)

    @cached_property
    def _before(self) -> int:
        return int(self._totals[-1])


def cumulative_counts(counts: IntArray | FloatArray) -> IntArray:
    """Cumulative sums of counts with a leading 0, of shape (people + 1,); NaN counts as 0."""
    filled = np.nan_to_num(counts).astype(np.int64)
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(filled)])


NOBODY = JointPapers.on(0, ())
FadingKey = tuple[float | None, float, float | None, float, int, float | None]


class PaperHistory:
    """Everybody's papers as of now, numbered by date."""

    def __init__(self, past: Callable[[], Authorships], now: Callable[[], float]) -> None:
        self._past_of, self._now = past, now
        self._dates: list[float] = []
        self._authors: list[tuple[int, ...]] = []
        self._visible = 0
        self.fading: dict[FadingKey, FadingPapers] = {}
        self._own: dict[int, list[int]] = {}
        # With the number of the person's papers that are counted in them.
        self._joint: dict[int, tuple[int, JointPapers]] = {}
        # The co-authors of those who have not written since they were last asked for.
        self._partners: dict[int, IntArray] = {}
        self._merged: tuple[tuple[int, ...], JointPapers] = (), NOBODY
        self.distinct = Distinct()
        self._numbers: IntArray | None = None
        self._numbered = 0

    @property
    def now(self) -> float:
        """The simulated date in days."""
        return self._now()

    @cached_property
    def past(self) -> Authorships:
        """The papers from before day 0."""
        return self._past_of()

    def record(self, authors: Sequence[int]) -> None:
        """Add a paper of these authors (rows, in author order), dated now."""
        self._dates.append(self._now())
        self._authors.append(tuple(authors))

    def __len__(self) -> int:
        """The number of papers before now."""
        self._catch_up()
        return len(self.past) + self._visible

    def papers_of(self, row: int) -> Sequence[int]:
        """The numbers of the papers of a person, in order of date."""
        self._catch_up()
        return self._papers_of(row)

    def authors_of(self, paper: int) -> tuple[int, ...]:
        """The authors of a paper, in author order."""
        index = paper - len(self.past)
        return self._authors[index] if index >= 0 else self.past.teams[paper]

    def date_of(self, paper: int) -> float:
        """The date of a paper in days."""
        index = paper - len(self.past)
        return self._dates[index] if index >= 0 else float(self.past.dates[paper])

    def last_date(self, row: int) -> float | None:
        """The date of the last paper of a person, or None."""
        papers = self.papers_of(row)
        return self.date_of(papers[-1]) if papers else None

    def joint_papers(self, row: int) -> JointPapers:
        """The co-authors of a person, with joint papers and the date of the last one."""
        self._catch_up()
        own = self._papers_of(row)
        counted, joint = self._joint.get(row, (0, NOBODY))
        if counted < len(own):
            if not counted and row < self.past.people:
                joint, counted = self.past.joint_papers(row), len(self.past.papers_by_person[row])
            if counted < len(own):
                dated = ((self.date_of(paper), self.authors_of(paper)) for paper in own[counted:])
                joint = self.distinct.merge([joint, JointPapers.on(row, dated)])
            self._joint[row] = len(own), joint
        self._partners[row] = joint.people
        return joint

    def partners_of_each(self, rows: Iterable[int]) -> list[IntArray]:
        """The co-authors of each of several people."""
        self._catch_up()
        partners = self._partners
        # The loop is long, and nearly all of them have been asked for before.
        return [partners[row] if row in partners else self.joint_papers(row).people for row in rows]

    def joint_papers_of(self, rows: Sequence[int]) -> JointPapers:
        """The co-authors of several people but for themselves; it extends the last answer."""
        if len(rows) == 1:
            return self.joint_papers(rows[0])
        self._catch_up()
        people, joint = self._merged
        if people != tuple(rows[: len(people)]):
            people, joint = (), NOBODY
        if len(people) < len(rows):
            joint = self.distinct.merge([joint, *map(self.joint_papers, rows[len(people) :])])
            self._merged = tuple(rows), joint
        return joint.without(rows)

    def numbers_of_papers(self, rows: IntArray) -> IntArray:
        """How many papers each of some people has, who all have one."""
        if self._numbers is None:
            past = self.past
            self._numbers = np.bincount(past.authors, minlength=past.people)
        for _, authors in self.since(self._numbered):
            missing = max(authors) + 1 - len(self._numbers)
            if missing > 0:
                # Room for an eighth more, so that many newcomers copy the array a few times only.
                room = np.zeros(missing + len(self._numbers) // 8, np.int64)
                self._numbers = np.concatenate([self._numbers, room])
            self._numbers[list(authors)] += 1
        self._numbered = self._visible
        return self._numbers[rows]

    def since(self, first: int) -> list[tuple[float, tuple[int, ...]]]:
        """Date and authors of the papers since day 0 and before now, but for the ``first`` ones."""
        self._catch_up()
        if first == self._visible:
            return []
        chosen = slice(first, self._visible)
        return list(zip(self._dates[chosen], self._authors[chosen], strict=True))

    def _papers_of(self, row: int) -> list[int]:
        papers = self._own.get(row)
        if papers is None:
            from_past = row < self.past.people
            papers = self._own[row] = list(self.past.papers_by_person[row]) if from_past else []
        return papers

    def _catch_up(self) -> None:
        """Let the papers that have become visible since the last look count (rule 16)."""
        if self._visible == len(self._dates):
            return
        now = self._now()
        if self._dates[self._visible] < now:
            self._merged = (), NOBODY
        while self._visible < len(self._dates) and self._dates[self._visible] < now:
            paper = len(self.past) + self._visible
            for row in self._authors[self._visible]:
                self._papers_of(row).append(paper)
                self._partners.pop(row, None)
            self._visible += 1


class FadingPapers:
    """Weights ``factor * (n / (1 + n / limit)) ** exponent``, with n the fading number of papers.

    A paper counts exp(-age / memory), in days, times ``coauthored`` for those who did not lead it;
    without memory nothing fades, without a limit nothing saturates. All sums fade alike, so a tree
    of partial sums (Fenwick 1994) changes with a paper only.
    """

    def __init__(
        self,
        history: PaperHistory,
        memory: float | None,
        exponent: float,
        factors: Callable[[int, int], FloatArray] | None = None,
        *,
        coauthored: float = 1.0,
        leader: int = 0,
        limit: float | None = None,
    ) -> None:
        self._limit = limit
        self._history, self._memory, self._exponent = history, memory, exponent
        self._factors_of = factors or (lambda first, last: np.ones(last - first))
        self._coauthored, self._leader = coauthored, leader
        past = history.past
        weights = np.repeat(self._growth(past.dates), past.sizes)
        if coauthored != 1:
            leads = past.led(FIRST if leader == 0 else LAST)
            weights *= np.where(leads, 1.0, coauthored)
        papers = np.bincount(past.authors, weights=weights, minlength=past.people)
        self._sums: list[float] = papers.tolist()
        self._factors: list[float] = self._factors_of(0, past.people).tolist()
        # Weights that a draw has needed, or a paper changed; None: not yet computed.
        self._weights: list[float | None] = [None] * past.people
        self._seen = 0
        self._build()

    @property
    def total(self) -> float:
        """The sum of all weights without the limit; its unit changes only when a paper appears."""
        self._catch_up()
        return self._total

    def weight(self, row: int) -> float:
        """The weight of a person, in the same unit."""
        self._catch_up()
        return self._weight(row) * self._kept(row) if row < len(self._sums) else 0.0

    def weights(self, rows: IntArray) -> FloatArray:
        """The weights of some people, an array of the length of ``rows``."""
        return np.array([self.weight(row) for row in rows.tolist()])

    def person_at(self, share: float) -> int:
        """The person at a share (0..1, exclusive) of ``total``, in order of row."""
        left, position = share * self.total, 0
        tree, size = self._tree, len(self._tree) - 1
        step = 1 << size.bit_length() - 1
        while step:
            following = position + step
            if following <= size and tree[following] <= left:
                position, left = following, left - tree[following]
            step >>= 1
        # Rounding may lead past the last weight; the last person with one is meant then.
        row = min(position, len(self._sums) - 1)
        while row and not self._weight(row):
            row -= 1
        return row

    def propose(self, rng: np.random.Generator) -> int | None:
        """A person drawn in proportion to its weight; None is a proposal that the limit rejects."""
        row = self.person_at(rng.random())
        return row if self._limit is None or rng.random() < self._kept(row) else None

    def _kept(self, row: int) -> float:
        """What the limit leaves of a person's weight as of now, 0..1."""
        if self._limit is None:
            return 1.0
        faded = 1.0 if self._memory is None else math.exp(-self._history.now / self._memory)
        return float((1 + self._sums[row] * faded / self._limit) ** -self._exponent)

    def _growth(self, dates: FloatArray) -> FloatArray:
        """exp(date / memory), the weight of a paper relative to one of day 0."""
        return np.ones(len(dates)) if self._memory is None else np.exp(dates / self._memory)

    def _weight(self, row: int) -> float:
        weight = self._weights[row]
        if weight is None:
            sums = self._sums[row]
            weight = self._factors[row] * sums**self._exponent if sums > 0 else 0.0
            self._weights[row] = weight
        return weight

    def _build(self) -> None:
        """Rebuild the tree with twice the capacity."""
        room = max(16, 2 * len(self._sums))
        weights = np.zeros(room + 1)
        sums = np.array(self._sums)
        some = sums > 0
        powers = np.zeros(len(sums))
        powers[some] = sums[some] ** self._exponent
        weights[1 : len(sums) + 1] = powers * np.array(self._factors)
        totals, positions = np.cumsum(weights), np.arange(room + 1)
        self._tree: list[float] = (totals - totals[positions - (positions & -positions)]).tolist()
        self._tree[0] = 0.0
        self._total = float(totals[-1])

    def _catch_up(self) -> None:
        for date, authors in self._history.since(self._seen):
            rate = 1.0 if self._memory is None else math.exp(date / self._memory)
            leader = authors[self._leader]
            for row in authors:
                self._add(row, rate if row == leader else rate * self._coauthored)
            self._seen += 1

    def _add(self, row: int, amount: float) -> None:
        if row >= len(self._sums):
            self._factors += self._factors_of(len(self._sums), row + 1).tolist()
            more_people = row + 1 - len(self._sums)
            self._sums += [0.0] * more_people
            self._weights += [None] * more_people
            if row + 1 >= len(self._tree):
                self._build()
        before = self._weight(row)
        self._sums[row] += amount
        self._weights[row] = None
        more = self._weight(row) - before
        self._total += more
        tree = self._tree
        position, size = row + 1, len(tree) - 1
        while position <= size:
            tree[position] += more
            position += position & -position
