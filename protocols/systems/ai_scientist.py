"""AI Scientist, by which one scientist fills an archive of ideas and checks each for novelty.

``docs/protocols/ai_scientist.md`` says what is faithful and what is adapted.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field

from virsci_society.agents.config import Switch
from virsci_society.protocols.ideas import CandidateIdea, confidence
from virsci_society.protocols.parts.forms import NoveltyVerdict
from virsci_society.protocols.parts.research_system import ResearchSystem
from virsci_society.protocols.parts.steps import join_papers, reflect
from virsci_society.protocols.parts.team_work import FoundPapers, TeamWork

if TYPE_CHECKING:
    from virsci_society.society.kernel.answer import Answer
    from virsci_society.society.kernel.durations import Process

EQUAL = (1.0, 1.0, 1.0)
"""Weights of clarity, feasibility and novelty in the choice between novel ideas."""


class AIScientist(ResearchSystem):
    """One scientist, an archive of ideas, reflection, checks of novelty (Lu et al., 2024)."""

    citation: ClassVar[str] = (
        'Lu et al. 2024, "The AI Scientist: Towards Fully Automated Open-Ended Scientific '
        'Discovery", arXiv:2408.06292, section 3 (idea generation).'
    )

    system: ClassVar[str] = "ai_scientist"
    published: ClassVar[Mapping[str, Any]] = {
        "ideas": 50,
        "searches": 10,
        "references": 10,
        "literature": "off",
        "profiles": "off",
        "temperatures": 0.75,
    }
    matched: ClassVar[Mapping[str, Any]] = {"early_end": "off"}

    ideas: int = Field(default=2, ge=1, le=50)
    """Ideas in the archive, one after another. Unit: ideas. Source: Lu et al. 2024 (50); the value
    is assumed."""
    reflections: int = Field(default=2, ge=0, le=100)
    """Most rounds of reflection on each idea; it ends earlier when the idea is called done. Unit:
    rounds. Source: Lu et al. 2024."""
    early_end: Switch = "on"
    """Does the reflection on an idea end when its author calls it done? Off: all rounds are held,
    which studies that match systems by calls need. Source: this project."""
    searches: int = Field(default=3, ge=2, le=20)
    """Most rounds in the check of one idea's novelty: each words a search or decides, the last one
    decides. Unit: rounds. Source: Lu et al. 2024 (10); the value is assumed."""
    literature: Switch = "on"
    """Are papers shown while an idea is written and refined? Source: Lu et al. 2024 (off); on: this
    project."""

    def find_idea(self, work: TeamWork) -> Process[Answer[CandidateIdea]]:
        """Fill the archive, check every idea, and take the best of those that are novel."""
        archive: tuple[Answer[CandidateIdea], ...] = ()
        # One after another: each is to be unlike those that are in the archive by then.
        for _ in range(self.ideas):
            idea = yield from work.lab.stage("ideas", self._generate(work, archive))
            archive += (idea,)
        verdicts = []
        for idea in archive:
            verdict = yield from work.lab.stage("novelty", self._check(work, idea))
            verdicts.append(verdict)
        return work.lab.later(best_novel, tuple(verdicts), archive)

    def _generate(
        self, work: TeamWork, archive: tuple[Answer[CandidateIdea], ...]
    ) -> Process[Answer[CandidateIdea]]:
        """One idea unlike those of the archive, and the reflection on it."""
        leader = work.team.leader
        near = None if self.literature == "on" else ()
        with (yield from work.hold_round("idea generation")):
            (idea,) = yield from work.propose([leader], near, archive=archive)
        early = self.early_end == "on"
        steps = reflect(work, leader, idea, self.reflections, before=1, early_end=early, near=near)
        return (yield from steps)

    def _check(
        self, work: TeamWork, idea: Answer[CandidateIdea]
    ) -> Process[Answer[NoveltyVerdict]]:
        """Search and judge until it is decided whether the idea is new; all searches are kept."""
        verdicts: list[Answer[NoveltyVerdict]] = []
        found: list[FoundPapers] = []
        for number in range(1, self.searches + 1):
            yield from work.call_meeting()
            if verdicts and verdicts[-1].read().decision != "search again":
                break
            with (yield from work.convene("check of novelty", number, self.searches)):
                if verdicts:
                    found.append(work.search(work.lab.later(next_query, verdicts[-1], idea)))
                verdict: Answer[NoveltyVerdict] = yield from work.ask(
                    work.team.leader,
                    "novelty",
                    NoveltyVerdict,
                    "vote",
                    idea=idea,
                    earlier=tuple(verdicts),
                    found=tuple(found),
                    references=work.lab.later(join_papers, *found),
                    final=number == self.searches,
                )
                verdicts.append(verdict)
        return verdicts[-1]


def next_query(verdict: NoveltyVerdict, idea: CandidateIdea) -> str:
    """The query of a verdict; the text of the idea where it gives none."""
    return verdict.query.strip() or idea.query


def best_novel(
    verdicts: tuple[NoveltyVerdict, ...], ideas: tuple[CandidateIdea, ...]
) -> CandidateIdea:
    """The idea with the highest ratings of its own among those judged novel, else among all.

    Args:
        verdicts: one per idea; what was never decided is not novel.
        ideas: at least one; of equal ones the earliest is taken.
    """
    novel = [
        idea for verdict, idea in zip(verdicts, ideas, strict=True) if verdict.decision == "novel"
    ]
    return max(novel or ideas, key=partial(_rated, EQUAL))


def _rated(weights: tuple[float, float, float], idea: CandidateIdea) -> float:
    return confidence(idea, weights)
