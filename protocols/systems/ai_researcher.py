"""AI-Researcher, by which one scientist writes many seed ideas and expands the best of them.

``docs/protocols/ai_researcher.md`` says what is faithful and what is adapted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field

from virsci_society.protocols.ideas import CandidateIdea, Idea, looks_of
from virsci_society.protocols.parts.forms import Seeds
from virsci_society.protocols.parts.research_system import ResearchSystem
from virsci_society.protocols.parts.steps import distinct_places, retrieve
from virsci_society.protocols.parts.team_work import FoundPapers, TeamWork
from virsci_society.protocols.parts.tournament_forms import PairChoice

if TYPE_CHECKING:
    import numpy as np

    from virsci_society.agents.prompts.slots import Reference
    from virsci_society.society.kernel.answer import Answer
    from virsci_society.society.kernel.durations import Process


class AIResearcher(ResearchSystem):
    """Retrieval, many seed ideas, deduplication, a tournament (Si et al., 2024)."""

    citation: ClassVar[str] = (
        'Si et al. 2024, "Can LLMs Generate Novel Research Ideas? A Large-Scale Human Study '
        'with 100+ NLP Researchers", arXiv:2409.04109 (ICLR 2025), section 3.'
    )

    system: ClassVar[str] = "ai_researcher"
    published: ClassVar[Mapping[str, Any]] = {
        "papers": 120,
        "seeds": 4000,
        "batch": 5,
        "rounds": 5,
        "profiles": "off",
        "temperatures": {"seeds": 0.9, "pair": 0.0},
    }

    output: Literal["abstract", "proposal"] = "proposal"
    """What the paper holds: the expanded proposal, or an abstract as VirSci's. Source: Si et al.
    2024."""
    papers: int = Field(default=20, ge=1, le=200)
    """Papers that retrieval keeps. Unit: papers. Source: Si et al. 2024 (120); the value is
    assumed."""
    shown: int = Field(default=10, ge=1, le=100)
    """Papers that stand on one page, drawn from the twice as many that are nearest. Unit: papers.
    Source: Si et al. 2024."""
    seeds: int = Field(default=6, ge=1, le=10_000)
    """Seed ideas that are generated; a part of them is removed as duplicates. Unit: ideas. Source:
    Si et al. 2024 (4,000); the value is assumed."""
    batch: int = Field(default=3, ge=1, le=100)
    """Seed ideas of one reply; later ones are shown the titles of all earlier ones. Unit: ideas.
    Source: Si et al. 2024 (5); the value is assumed."""
    grounded: float = Field(default=0.5, ge=0, le=1)
    """Share of the pages that show retrieved papers. Unit: share. Source: Si et
    al. 2024."""
    similarity: float = Field(default=0.8, gt=0, le=1)
    """Cosine of two ideas from which the later one is a duplicate. Unit: cosine. Source: Si et al.
    2024."""
    rounds: int = Field(default=3, ge=1, le=20)
    """Rounds of the tournament. Unit: rounds. Source: Si et al. 2024 (5); the value is assumed."""

    def find_idea(self, work: TeamWork) -> Process[Answer[CandidateIdea]]:
        """Retrieve, generate, deduplicate, and rank by pairs."""
        seeds = yield from work.lab.stage("ideas", self._generate(work))
        distinct = yield from self._deduplicate(work, seeds)
        judge = work.team.leader
        ranking = hold_tournament(work, judge, distinct, self.rounds)
        return (yield from work.lab.stage("novelty", ranking))

    def _generate(self, work: TeamWork) -> Process[tuple[Answer[CandidateIdea], ...]]:
        """Replies with several seeds each; those whose turn it is are shown papers."""
        lab, leader = work.lab, work.team.leader
        seeds: tuple[Answer[CandidateIdea], ...] = ()
        papers: FoundPapers | None = None
        rounds = -(-self.seeds // self.batch)
        for number in range(1, rounds + 1):
            with (yield from work.hold_round("generation of seed ideas", number, rounds)):
                if papers is None:
                    papers = yield from retrieve(work, leader, self.papers, seat=1)
                order = lab.rng("papers", number).permutation(2 * self.shown)
                drawn = lab.later(partial(draw_papers, self.shown, tuple(map(int, order))), papers)
                shown: Any = drawn if self.is_grounded(number - 1) else ()
                size = min(self.batch, self.seeds - len(seeds))
                said: Answer[Seeds] = yield from work.ask(
                    leader, "seeds", Seeds, references=shown, archive=seeds, count=size
                )
                new = [lab.later(partial(seed_at, place), said) for place in range(size)]
                seeds += tuple(work.candidate(leader, one, shown) for one in new)
        return seeds

    def is_grounded(self, place: int) -> bool:
        """Is the page at a place shown papers? These pages are spread evenly over all."""
        return int((place + 1) * self.grounded) > int(place * self.grounded)

    def _deduplicate(
        self, work: TeamWork, seeds: tuple[Answer[CandidateIdea], ...]
    ) -> Process[tuple[Answer[CandidateIdea], ...]]:
        """The seed ideas that are like no earlier one, known on the date of the next meeting."""
        vectors = [work.lab.library.embed(seed) for seed in seeds]
        yield from work.call_meeting()
        places = distinct_places([vector.read() for vector in vectors], self.similarity)
        work.team.notes["duplicates_removed"] = len(seeds) - len(places)
        return tuple(seeds[place] for place in places)


def draw_papers(
    count: int, order: tuple[int, ...], papers: tuple[Reference, ...]
) -> tuple[Reference, ...]:
    """Some of the nearest papers, by a drawn order of places; places without a paper fall out."""
    return tuple(papers[place] for place in order if place < len(papers))[:count]


def seed_at(place: int, said: Seeds) -> Idea:
    """The seed at a place of a reply, as an idea whose ratings are the middle of the scale.

    Where the reply has fewer, its last one once more, which is then removed as a duplicate.
    """
    seed = said.seeds[min(place, len(said.seeds) - 1)]
    return Idea(
        title=seed.title,
        idea=seed.idea,
        experiment=seed.experiment,
        clarity=5.0,
        feasibility=5.0,
        novelty=5.0,
    )


def pair_by_points(points: Sequence[float], rng: np.random.Generator) -> list[tuple[int, int]]:
    """Pairs of neighbours in the order of points; ties are ordered at random."""
    drawn = rng.random(len(points))
    order = sorted(range(len(points)), key=lambda place: (-points[place], drawn[place]))
    pairs = [(order[at], order[at + 1]) for at in range(0, len(order) - 1, 2)]
    return [pair if rng.random() < 0.5 else (pair[1], pair[0]) for pair in pairs]


def award_points(
    points: Sequence[float], pairs: Sequence[tuple[int, int]], choices: Sequence[PairChoice]
) -> list[float]:
    """The points after a round: 1 for the better idea of a pair and for a pause, half for a tie."""
    met = [place for pair in pairs for place in pair]
    after = [float(point) + (place not in met) for place, point in enumerate(points)]
    for (first, second), choice in zip(pairs, choices, strict=True):
        won = {"A": 1.0, "B": 0.0}.get(choice.better, 0.5)
        after[first] += won
        after[second] += 1.0 - won
    return after


def hold_tournament(
    work: TeamWork, judge: str, ideas: Sequence[Answer[Any]], rounds: int
) -> Process[Answer[Any]]:
    """Rank ideas by pairs; the choices of one round are read on the date of the next.

    Args:
        ideas: at least one.
    """
    if len(ideas) < 2:
        return ideas[0]
    looks = looks_of(work.lab, ideas, work.lab.visit)
    points = [0.0] * len(ideas)
    pairs: list[tuple[int, int]] = []
    choices: list[Answer[PairChoice]] = []
    for number in range(1, rounds + 1):
        yield from work.call_meeting()
        if number > 1:
            # The choices of one round are read on the date of the next.
            points = award_points(points, pairs, [choice.read() for choice in choices])
        with (yield from work.convene("ranking by pairs", number, rounds)):
            pairs = pair_by_points(points, work.lab.rng("tournament", work.lab.visit, number))
            pose = partial(_pose_pair, work, ideas, looks, pairs)
            choices = yield from work.lab.ask_each([judge] * len(pairs), pose)
    return work.lab.later(
        partial(best_of_pairs, tuple(points), tuple(pairs)), tuple(choices), tuple(ideas)
    )


def _pose_pair(
    work: TeamWork,
    ideas: Sequence[Answer[Any]],
    looks: Sequence[Answer[float]],
    pairs: Sequence[tuple[int, int]],
    seat: int,
    judge: str,
) -> Answer[PairChoice]:
    first, second = (ideas[place] for place in pairs[seat])
    shown = tuple(looks[place] for place in pairs[seat]) if looks else None
    slots = {"first": first, "second": second, "looks": shown}
    return work.pose(judge, "pair", PairChoice, "vote", seat=seat, **slots)


def best_of_pairs(
    points: tuple[float, ...],
    pairs: tuple[tuple[int, int], ...],
    choices: tuple[PairChoice, ...],
    ideas: tuple[Any, ...],
) -> Any:
    """The idea with most points after the last round; ``points`` are those before it.

    Of equal ones the earliest.
    """
    after = award_points(points, pairs, choices)
    return ideas[max(range(len(ideas)), key=lambda place: (after[place], -place))]
