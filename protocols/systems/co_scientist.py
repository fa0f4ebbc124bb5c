"""The AI co-scientist, by which hypotheses are generated, reviewed, ranked by matches and evolved.

``docs/protocols/co_scientist.md`` says what is faithful and what is adapted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import cycle
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field

from virsci_society.protocols.ideas import looks_of
from virsci_society.protocols.parts.forms import ReadingNotes
from virsci_society.protocols.parts.research_system import ResearchSystem
from virsci_society.protocols.parts.steps import (
    distinct_places,
    papers_of_ideas,
    retrieve,
    unit_vector,
)
from virsci_society.protocols.parts.team_work import TeamWork
from virsci_society.protocols.parts.tournament_forms import (
    START,
    DeepReview,
    Lessons,
    Match,
    PairChoice,
    elo_ratings,
    likeness_of,
    pair_by_rating,
    rank,
)

if TYPE_CHECKING:
    from virsci_society.agents.arrays import FloatArray
    from virsci_society.protocols.ideas import CandidateIdea
    from virsci_society.society.kernel.answer import Answer
    from virsci_society.society.kernel.durations import Process

GENERATION = ("literature", "debate", "assumptions")
"""Ways to a first hypothesis, taken in turn."""
EVOLUTION = (
    "grounding",
    "combination",
    "feasibility",
    "divergence",
    "simplification",
    "inspiration",
)
"""Ways to a further hypothesis from the best ones, taken in turn over all rounds."""
MOST_PARENTS = {"combination": 3, "divergence": 3, "inspiration": 3}
"""Hypotheses from which a way starts; the best one alone where nothing is said."""


@dataclass(slots=True)
class Pool:
    """The hypotheses of one team, in the order of being put forward, and their matches."""

    k: float
    ideas: list[Answer[CandidateIdea]] = field(default_factory=list)
    looks: list[Answer[float]] = field(default_factory=list)
    units: list[FloatArray] = field(default_factory=list)
    reviews: list[Answer[DeepReview]] = field(default_factory=list)
    matches: list[Match] = field(default_factory=list)
    pairs: list[tuple[int, int]] = field(default_factory=list)
    verdicts: list[Answer[PairChoice]] = field(default_factory=list)
    heard: list[tuple[tuple[int, int], Answer[PairChoice]]] = field(default_factory=list)
    lessons: Answer[Lessons] | tuple[()] = ()
    removed: int = 0

    def settle(self) -> None:
        """Read the verdicts of the last matches; called on the date of the next meeting."""
        self.matches += scored(self.pairs, [verdict.read() for verdict in self.verdicts])
        self.pairs, self.verdicts = [], []

    def rate(self, *verdicts: PairChoice) -> list[float]:
        """Elo ratings by all matches that are decided, and by verdicts of the last pairs."""
        matches = [*self.matches, *scored(self.pairs, verdicts)]
        return elo_ratings(len(self.ideas), matches, self.k)


class CoScientist(ResearchSystem):
    """Hypotheses are generated, reviewed, ranked by Elo and evolved (Gottweis et al., 2026)."""

    citation: ClassVar[str] = (
        'Gottweis et al. 2026, "Accelerating scientific discovery with Co-Scientist", Nature, '
        'doi:10.1038/s41586-026-10644-y; 2025, "Towards an AI co-scientist", arXiv:2502.18864.'
    )

    system: ClassVar[str] = "co_scientist"
    published: ClassVar[Mapping[str, Any]] = {"debate_turns": 10, "profiles": "off"}
    matched: ClassVar[Mapping[str, Any]] = {"similarity": 1.0}

    hypotheses: int = Field(default=4, ge=1, le=1000)
    """Hypotheses of the first round. Unit: hypotheses. Source: Gottweis et al. 2026 in kind; the
    value is assumed."""
    rounds: int = Field(default=2, ge=1, le=50)
    """Rounds of new hypotheses, their reviews and a tournament of all. Unit: rounds. Source:
    Gottweis et al. 2026 in kind; the value is assumed."""
    evolved: int = Field(default=2, ge=1, le=100)
    """Hypotheses that each later round makes of the best ones. Unit: hypotheses. Source: Gottweis
    et al. 2026 in kind; the value is assumed."""
    matches: int = Field(default=3, ge=1, le=50)
    """Matches of each hypothesis in the round that it enters: the first ones meet each other, later
    ones the best rated. Unit: matches. Source: Gottweis et al. 2026 in kind; the value is
    assumed."""
    elo_k: float = Field(default=128.0, gt=0, le=1000)
    """Largest change of an Elo rating by one match: the larger, the sooner a late hypothesis can
    overtake. Unit: rating points. Source: assumed; chess has 10 to 40, for many more matches."""
    debate_turns: int = Field(default=5, ge=1, le=50)
    """Most turns of a debate between hypotheses that both have a rating above the first one; 1:
    single comparisons. Unit: turns. Source: Gottweis et al. 2025 (3 to 5 as a rule, at most 10)."""
    similarity: float = Field(default=0.95, gt=0, le=1)
    """Cosine of two hypotheses from which the later one is removed. Unit: cosine. Source: Gottweis
    et al. 2026 in kind; the value is assumed."""

    def find_idea(self, work: TeamWork) -> Process[Answer[CandidateIdea]]:
        """Hold rounds of new hypotheses, reviews, matches, meta-review; take the best rated."""
        pool = Pool(self.elo_k)
        for number in range(1, self.rounds + 1):
            steps = self._evolve(work, pool, number) if pool.ideas else self._generate(work)
            known = len(pool.ideas)
            new = yield from work.lab.stage("ideas", steps)
            yield from work.lab.stage("novelty", self._review(work, pool, new, number))
            yield from work.lab.stage("novelty", self._compete(work, pool, known))
            if number < self.rounds:
                yield from work.lab.stage("novelty", self._learn(work, pool, number))
        ratings = work.lab.later(pool.rate, *pool.verdicts)
        work.team.notes["duplicates_removed"] = pool.removed
        work.team.notes["elo_ratings"] = ratings
        return work.lab.later(best_rated, ratings, tuple(pool.ideas))

    def _generate(self, work: TeamWork) -> Process[list[Answer[CandidateIdea]]]:
        """First hypotheses from the literature, each in one of several ways."""
        leader = work.team.leader
        with (yield from work.hold_round("literature")):
            papers = yield from retrieve(work, leader, self.references)
            notes: Answer[ReadingNotes] = yield from work.ask(
                leader, "reading", ReadingNotes, seat=1, references=papers
            )
        yield from work.call_meeting()
        with (yield from work.convene("generation of hypotheses", before=1)):
            slots: dict[str, Any] = {
                "page": "generation",
                "notes": notes,
                "turns": self.debate_turns,
            }
            made = (
                work.propose([leader], papers, seat=seat, way=way, **slots)
                for seat, way in zip(range(self.hypotheses), cycle(GENERATION))
            )
            return [idea for (idea,) in (yield from work.lab.together(*made))]

    def _evolve(
        self, work: TeamWork, pool: Pool, number: int
    ) -> Process[list[Answer[CandidateIdea]]]:
        """Further hypotheses from the best rated ones, which stay as they are."""
        lab, leader = work.lab, work.team.leader
        yield from work.call_meeting()
        pool.settle()
        best = rank(pool.rate())
        first = (number - 2) * self.evolved
        with (yield from work.convene("evolution of hypotheses", number, self.rounds)):
            made = []
            for seat in range(self.evolved):
                way = EVOLUTION[(first + seat) % len(EVOLUTION)]
                parents = best[: MOST_PARENTS.get(way, 1)]
                ideas = tuple(pool.ideas[place] for place in parents)
                made.append(
                    work.propose(
                        [leader],
                        lab.later(papers_of_ideas, *ideas),
                        page="evolution",
                        seat=seat,
                        way=way,
                        previous=ideas[0],
                        others=ideas,
                        reviews=tuple(pool.reviews[place] for place in parents),
                        lessons=pool.lessons,
                    )
                )
            return [idea for (idea,) in (yield from lab.together(*made))]

    def _review(
        self, work: TeamWork, pool: Pool, new: Sequence[Answer[CandidateIdea]], number: int
    ) -> Process[None]:
        """Take in the hypotheses that are like no earlier one, and review them."""
        lab = work.lab
        vectors = [lab.library.embed(idea) for idea in new]
        yield from work.call_meeting()
        units = [*pool.units, *(unit_vector(vector.read()) for vector in vectors)]
        old = len(pool.ideas)
        kept = [place for place in distinct_places(units, self.similarity) if place >= old]
        pool.removed += len(new) - len(kept)
        pool.units += [units[place] for place in kept]
        pool.ideas += [new[place - old] for place in kept]
        pool.looks += looks_of(lab, pool.ideas[old:], old)
        with (yield from work.convene("review of hypotheses", number, self.rounds)):

            def pose(seat: int, who: str) -> Answer[DeepReview]:
                slots = {"idea": pool.ideas[old + seat], "lessons": pool.lessons}
                return work.pose(who, "reflection", DeepReview, "critique", seat=seat, **slots)

            pool.reviews += yield from lab.ask_each([work.team.leader] * len(kept), pose)

    def _compete(self, work: TeamWork, pool: Pool, known: int) -> Process[None]:
        """Rounds of matches, in which each hypothesis after those that were known plays once."""
        lab = work.lab
        pool.heard = []
        for number in range(1, self.matches + 1):
            yield from work.call_meeting()
            pool.settle()
            with (yield from work.convene("tournament", number, self.matches)):
                new, likeness = range(known, len(pool.ideas)), likeness_of(pool.units)
                ratings = pool.rate()
                pairs = pair_by_rating(ratings, pool.matches, likeness, new)
                drawn = lab.rng("tournament", lab.visit, number).random(len(pairs)) < 0.5
                # Who stands first is drawn: a judge may prefer a place.
                pool.pairs = [
                    pair[::-1] if turned else pair
                    for pair, turned in zip(pairs, drawn, strict=True)
                ]
                pose = partial(self._pose_match, work, pool, ratings)
                pool.verdicts = yield from lab.ask_each([work.team.leader] * len(pairs), pose)
                pool.heard += zip(pool.pairs, pool.verdicts, strict=True)

    def _pose_match(
        self, work: TeamWork, pool: Pool, ratings: list[float], seat: int, judge: str
    ) -> Answer[PairChoice]:
        """Ask which of two is better: after a debate if both have won more than they lost."""
        first, second = pool.pairs[seat]
        top = min(ratings[first], ratings[second]) > START
        return work.pose(
            judge,
            "match",
            PairChoice,
            "vote",
            seat=seat,
            first=pool.ideas[first],
            second=pool.ideas[second],
            reviews=(pool.reviews[first], pool.reviews[second]),
            turns=self.debate_turns if top else 1,
            lessons=pool.lessons,
            looks=(pool.looks[first], pool.looks[second]) if pool.looks else None,
        )

    def _learn(self, work: TeamWork, pool: Pool, number: int) -> Process[None]:
        """The meta-review: what recurs in all reviews and in the verdicts of this round."""
        with (yield from work.hold_round("meta-review", number, self.rounds - 1)):
            pool.lessons = yield from work.ask(
                work.team.leader,
                "lessons",
                Lessons,
                reviews=tuple(pool.reviews),
                verdicts=tuple(verdict for _, verdict in pool.heard),
                firsts=tuple(pool.ideas[first] for (first, _), _ in pool.heard),
                seconds=tuple(pool.ideas[second] for (_, second), _ in pool.heard),
            )


def scored(pairs: Sequence[tuple[int, int]], verdicts: Sequence[PairChoice]) -> list[Match]:
    """The matches of some pairs: one without a readable verdict is drawn."""
    score = {"A": 1.0, "B": 0.0}
    return [
        (first, second, score.get(verdict.better, 0.5))
        for (first, second), verdict in zip(pairs, verdicts, strict=True)
    ]


def best_rated(ratings: list[float], ideas: tuple[CandidateIdea, ...]) -> CandidateIdea:
    """The hypothesis with the highest rating; of equal ones the earliest."""
    return ideas[rank(ratings)[0]]
