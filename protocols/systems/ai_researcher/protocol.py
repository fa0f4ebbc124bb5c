"""AI-Researcher, by which one scientist writes many seed ideas and expands the best of them.

``docs/protocols/ai_researcher.md`` says what is faithful and what is adapted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from virsci_society.agents.prompts.prompt import Prompts
from virsci_society.protocols.ideas import CandidateIdea, Idea
from virsci_society.protocols.parts.deduplication import distinct_places
from virsci_society.protocols.parts.research_system import ResearchSystem
from virsci_society.protocols.parts.retrieval_rounds import retrieve
from virsci_society.protocols.parts.team_work import FoundPapers, TeamWork
from virsci_society.protocols.parts.tournament import hold_tournament
from virsci_society.protocols.systems.ai_researcher.prompts import PROMPTS

if TYPE_CHECKING:
    from virsci_society.society.kernel.answer import Answer
    from virsci_society.society.kernel.process import Process


class AIResearcher(ResearchSystem):
    """Retrieval, many seed ideas, deduplication, a tournament (Si et al., 2024)."""

    citation: ClassVar[str] = (
        'Si et al. 2024, "Can LLMs Generate Novel Research Ideas? A Large-Scale Human Study '
        'with 100+ NLP Researchers", arXiv:2409.04109 (ICLR 2025), section 3.'
    )

    system: ClassVar[str] = "ai_researcher"
    pages: ClassVar[Prompts] = PROMPTS

    output: Literal["abstract", "proposal"] = "proposal"
    """What the paper holds: the expanded proposal, or an abstract as VirSci's."""
    papers: int = Field(default=20, ge=1, le=200)
    """Papers that retrieval keeps."""
    seeds: int = Field(default=6, ge=1, le=500)
    """Seed ideas that are generated; a part of them is removed as duplicates."""
    batch: int = Field(default=3, ge=1, le=100)
    """Seed ideas of one round, side by side; later rounds are shown the titles of earlier ones."""
    grounded: float = Field(default=0.5, ge=0, le=1)
    """Share of the seed ideas whose prompt shows the retrieved papers."""
    similarity: float = Field(default=0.8, gt=0, le=1)
    """Cosine of two ideas from which the later one is a duplicate."""
    rounds: int = Field(default=3, ge=1, le=20)
    """Rounds of the tournament."""

    def find_idea(self, work: TeamWork) -> Process[Answer[CandidateIdea]]:
        """Retrieve, generate, deduplicate, and rank by pairs."""
        seeds = yield from work.lab.stage("ideas", self._generate(work))
        distinct = yield from self._deduplicate(work, seeds)
        judge = work.team.leader
        ranking = hold_tournament(work, judge, distinct, self.rounds)
        return (yield from work.lab.stage("novelty", ranking))

    def _generate(self, work: TeamWork) -> Process[tuple[Answer[CandidateIdea], ...]]:
        seeds: tuple[Answer[CandidateIdea], ...] = ()
        papers: FoundPapers | None = None
        rounds = -(-self.seeds // self.batch)

        def speak(_: int) -> Process[None]:
            nonlocal seeds, papers
            if papers is None:
                papers = yield from retrieve(work, work.team.leader, self.papers, seat=self.batch)
            size = min(self.batch, self.seeds - len(seeds))
            seeds += yield from self._seed(work, papers, seeds, size)

        yield from work.hold_rounds("generation of seed ideas", rounds, speak)
        return seeds

    def _seed(
        self,
        work: TeamWork,
        papers: FoundPapers,
        earlier: tuple[Answer[CandidateIdea], ...],
        size: int,
    ) -> Process[tuple[Answer[CandidateIdea], ...]]:
        """Some seed ideas, side by side; those whose turn it is are shown the papers."""
        shown = [papers if self.is_grounded(len(earlier) + seat) else () for seat in range(size)]
        said = yield from work.lab.ask_each(
            [work.team.leader] * size,
            lambda seat, who: work.pose(
                who,
                "seed",
                Idea,
                seat=seat,
                archive=earlier,
                summaries=(),
                previous=None,
                references=shown[seat],
            ),
        )
        return tuple(
            work.candidate(work.team.leader, idea, shown[seat]) for seat, idea in enumerate(said)
        )

    def is_grounded(self, place: int) -> bool:
        """Is the seed idea at a place shown the papers? They are spread evenly over the ideas.

        Args:
            place: of the idea, from 0.
        """
        return int((place + 1) * self.grounded) > int(place * self.grounded)

    def _deduplicate(
        self, work: TeamWork, seeds: tuple[Answer[CandidateIdea], ...]
    ) -> Process[tuple[Answer[CandidateIdea], ...]]:
        """The seed ideas that are like no earlier one, known on the date of the next meeting."""
        vectors = [work.lab.library.embed(seed) for seed in seeds]
        yield from work.lab.prepare()
        yield from work.lab.notice()
        places = distinct_places([vector.read() for vector in vectors], self.similarity)
        work.team.notes["duplicates_removed"] = len(seeds) - len(places)
        return tuple(seeds[place] for place in places)
