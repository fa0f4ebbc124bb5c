"""A selection policy by ties with any member of the team, by productivity and by time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import cast

import numpy as np
from numpy.random import Generator
from pydantic import Field

from virsci_society.agents.arrays import FloatArray, IntArray
from virsci_society.society.formation.sampling import (
    fading_papers,
    sample_by_rejection,
    sample_uniformly,
)
from virsci_society.society.formation.selection import SelectionPolicy
from virsci_society.society.formation.world_view import PapersView, WorldView, rows_among
from virsci_society.society.kernel.durations import Days
from virsci_society.society.literature.authorships import JointPapers
from virsci_society.society.literature.papers import DAYS_PER_YEAR
from virsci_society.society.population.event_counts import FadingPapers

RECENCY_YEARS = 3.0
"""Years after which the recency of a joint paper has fallen to 1/e (Lerner and Hancean 2022)."""
NOBODY: tuple[IntArray, FloatArray] = np.zeros(0, np.int64), np.zeros(0)


class Relational(SelectionPolicy):
    """Former partners of any member, their partners, or anybody by discounted papers.

    A nested choice. With probability ``q`` a former partner of a member is drawn, by a conditional
    logit in what it has done with the members and alone. Otherwise it is with probability
    ``friends`` a partner of such a partner, in proportion to common partners, and else anybody, in
    proportion to ``fading papers ** exponent``. A group in which nobody is left is passed over;
    where nobody who is left has a paper, everybody is drawn alike.

    Source:
        Guimera et al., Science 308:697 (2005), for q, and Lerner and Hancean, Network Science
        11:4 (2022), for the logit of former ties; the nesting is of this project. With
        ``friends``, ``joint``, ``recency``, ``papers``, ``silence`` and ``exponent`` all 0 and no
        memory the incumbents are drawn as by the policy ``guimera`` with q.
    """

    q: float = Field(default=0.6, ge=0, le=1)
    """Probability of a former partner of a member. Unit: probability. Source: calibrated."""
    friends: float = Field(default=0.1, ge=0, le=1)
    """Otherwise, probability of a partner's partner. Unit: probability. Source: calibrated."""
    joint: float = Field(default=1.5, ge=-10, le=10)
    """Former partners: coefficient of log joint papers. Source: calibrated."""
    recency: float = Field(default=1.3, ge=-10, le=10)
    """Former partners: coefficient of exp(-years since the last joint paper / 3). Source:
    calibrated."""
    papers: float = Field(default=0.0, ge=-10, le=10)
    """Former partners: coefficient of log papers. Source: calibrated."""
    silence: float = Field(default=0.0, ge=-10, le=10)
    """Former partners: coefficient of years since the last paper. Unit: 1 / year. Source:
    calibrated."""
    exponent: float = Field(default=1.0, ge=0, le=5)
    """Strangers: exponent of the discounted number of papers. Source: calibrated."""
    memory: Days | None = Field(default=3 * DAYS_PER_YEAR, gt=30, le=36_500)
    """Strangers: time after which a paper's weight has fallen to 1/e; null: never. Source:
    calibrated."""
    topic: float = Field(default=0.0, ge=0, le=20)
    """Strangers: coefficient of the cosine of interests with the leader. Source: calibrated."""

    def choose(
        self, members: Sequence[int], excluded: AbstractSet[int], world: PapersView, rng: Generator
    ) -> int | None:
        """Draw a partner, a partner's partner or a stranger."""
        if not members:
            return self._draw_stranger(members, excluded, world, rng)
        partners = world.history.joint_papers_of(members)
        if rng.random() < self.q:
            free = partners.only(~rows_among(partners.people, excluded))
            row = _draw(free.people, self._partner_weights(free, world), rng)
            if row is not None:
                return row
        if self.friends > 0 and rng.random() < self.friends:
            people, common = _common_partners(members, partners, world)
            left = ~rows_among(people, excluded)
            row = _draw(people[left], common[left], rng)
            if row is not None:
                return row
        return self._draw_stranger(members, excluded, world, rng)

    def probabilities(
        self, members: Sequence[int], candidates: Sequence[int], world: PapersView
    ) -> np.ndarray:
        """Probabilities of the candidates if nobody else may be drawn."""
        fading, rows = self._fading(world), np.asarray(candidates, dtype=np.int64)
        partners = world.history.joint_papers_of(members)
        common = _common_partners(members, partners, world) if self.friends > 0 else NOBODY
        free = partners.only(np.isin(partners.people, rows))
        groups = [
            _of_candidates(rows, free.people, self._partner_weights(free, world)),
            _of_candidates(rows, *common),
        ]
        papers = fading.weights(rows)
        strangers = papers * self._affinities(members, candidates, world)
        result = _shares(strangers if strangers.any() else np.ones(len(candidates)))
        # From the inside out: an empty group passes its share on.
        for weights, share in reversed(list(zip(groups, (self.q, self.friends), strict=True))):
            if weights.any():
                result = share * _shares(weights) + (1 - share) * result
        return result

    def of_run(self, seed: int) -> Relational:
        """The policy itself, since nothing of it is drawn once per run."""
        return self

    def _partner_weights(self, partners: JointPapers, world: PapersView) -> FloatArray:
        """The logit weights of former partners, relative to the largest."""
        now, history = world.day, world.history
        years = np.maximum(now - partners.last, 0.0) / DAYS_PER_YEAR
        scores = self.joint * np.log(partners.papers)
        scores += self.recency * np.exp(-years / RECENCY_YEARS)
        if self.papers:
            scores += self.papers * np.log(history.numbers_of_papers(partners.people))
        if self.silence:
            latest = [history.last_date(row) or 0.0 for row in partners.people.tolist()]
            scores += self.silence * (now - np.array(latest)) / DAYS_PER_YEAR
        # Relative to the largest: the exponential of a large score is infinite.
        weights: FloatArray = np.exp(scores - scores.max(initial=-np.inf))
        return weights

    def _draw_stranger(
        self, members: Sequence[int], excluded: AbstractSet[int], world: PapersView, rng: Generator
    ) -> int | None:
        fading, people = self._fading(world), len(world.population)
        if fading.total <= 0:
            return sample_uniformly(people, excluded, rng)

        def propose() -> int | None:
            row = fading.person_at(rng.random())
            if self.topic and members:
                # The largest affinity is exp(topic), so this is the chance to keep a proposal.
                kept = float(self._affinities(members, [row], world)[0]) / math.exp(self.topic)
                return row if rng.random() < kept else None
            return row

        def weights(rows: np.ndarray) -> FloatArray:
            return fading.weights(rows) * self._affinities(members, rows.tolist(), world)

        row = sample_by_rejection(propose, weights, people, excluded, rng)
        return sample_uniformly(people, excluded, rng) if row is None else row

    def _affinities(
        self, members: Sequence[int], rows: Sequence[int], world: PapersView
    ) -> FloatArray:
        """exp(topic x cosine of the interests with the leader's)."""
        if not self.topic or not members:
            return np.ones(len(rows))
        # Whoever knows papers only has no interests, and takes this policy without topic.
        whole = cast("WorldView", world)
        names, version = whole.population.names, whole.knowledge.visible(world.day)
        leader = names[members[0]]
        cosines = [whole.knowledge.similarity(leader, names[row], version) for row in rows]
        return np.exp(self.topic * np.array(cosines))

    def _fading(self, world: PapersView) -> FadingPapers:
        return fading_papers(world, self.memory, self.exponent)


def _common_partners(
    members: Sequence[int], partners: JointPapers, world: PapersView
) -> tuple[IntArray, FloatArray]:
    """Partners of former partners who are no partners themselves, with their common partners."""
    history, near = world.history, np.concatenate([partners.people, np.asarray(members, np.int64)])
    each = history.partners_of_each(partners.people.tolist())
    if not each:
        return NOBODY
    rows = np.concatenate(each)
    people, index = history.distinct.find(rows[~np.isin(rows, near)])
    return people, np.bincount(index, minlength=len(people)).astype(np.float64)


def _draw(people: IntArray, weights: FloatArray, rng: Generator) -> int | None:
    """Draw in proportion to weights; None without candidates."""
    if not len(people):
        return None
    sums = np.cumsum(weights)
    # One number decides, so that a draw takes as much of the stream with few as with many.
    position = int(np.searchsorted(sums, rng.random() * sums[-1], side="right"))
    return int(people[min(position, len(people) - 1)])


def _of_candidates(candidates: IntArray, people: IntArray, weights: FloatArray) -> FloatArray:
    """The weights of the candidates, 0 for those who have none."""
    weight_of = dict(zip(people.tolist(), weights.tolist(), strict=True))
    return np.array([weight_of.get(row, 0.0) for row in candidates.tolist()])


def _shares(weights: FloatArray) -> FloatArray:
    """Weights as shares of their sum."""
    shares: FloatArray = weights / weights.sum()
    return shares
