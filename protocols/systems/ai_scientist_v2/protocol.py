"""AI Scientist-v2, by which one scientist searches a tree of ideas, the best leaf first.

``docs/protocols/ai_scientist_v2.md`` says what is faithful and what is adapted.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, ClassVar

from pydantic import Field, model_validator

from virsci_society.agents.prompts.dialogue import Utterance
from virsci_society.agents.prompts.prompt import Prompts
from virsci_society.protocols.ideas import CandidateIdea, Idea
from virsci_society.protocols.parts.forms import IdeaScore, RefinedIdea
from virsci_society.protocols.parts.research_system import ResearchSystem, pages_beside
from virsci_society.protocols.parts.steps import idea_slots, refinement_slots
from virsci_society.protocols.parts.team_work import TeamWork
from virsci_society.society.kernel.answer import Answer

if TYPE_CHECKING:
    from virsci_society.society.kernel.durations import Process


@dataclass
class IdeaNode:
    """One node of the tree.

    Attributes:
        idea: with its references, unread.
        score: unread; read on the date of the next round.
        expanded: has it children?
    """

    idea: Answer[CandidateIdea]
    score: Answer[IdeaScore]
    expanded: bool = False


class AIScientistV2(ResearchSystem):
    """A best-first tree search over ideas with a breadth and a budget (Yamada et al., 2025)."""

    citation: ClassVar[str] = (
        'Yamada et al. 2025, "The AI Scientist-v2: Workshop-Level Automated Scientific '
        'Discovery via Agentic Tree Search", arXiv:2504.08066.'
    )

    system: ClassVar[str] = "ai_scientist_v2"
    pages: ClassVar[Prompts] = pages_beside(__file__)

    roots: int = Field(default=2, ge=1, le=20)
    """Ideas that the search begins with. Unit: ideas. Source: Yamada et al. 2025 in kind; the value
    is assumed."""
    breadth: int = Field(default=2, ge=1, le=20)
    """New versions of an idea when it is expanded. Unit: ideas. Source: Yamada et al. 2025 in kind;
    the value is assumed."""
    budget: int = Field(default=6, ge=1, le=500)
    """Ideas in the whole tree, the first ones included. Unit: ideas. Source: Yamada et al. 2025 in
    kind; the value is assumed."""

    @model_validator(mode="after")
    def _roots_fit(self) -> AIScientistV2:
        if self.roots > self.budget:
            raise ValueError("budget is smaller than roots")
        return self

    def find_idea(self, work: TeamWork) -> Process[Answer[CandidateIdea]]:
        """Grow the tree until the budget is spent, and take its best idea."""
        return (yield from work.lab.stage("ideas", self._search(work)))

    def _search(self, work: TeamWork) -> Process[Answer[CandidateIdea]]:
        nodes: list[IdeaNode] = []
        rounds = 1 + ceil((self.budget - self.roots) / self.breadth)
        for number in range(1, rounds + 1):
            with (yield from work.hold_round("search in a tree of ideas", number, rounds)):
                grow = self._expand(work, nodes) if nodes else self._plant(work)
                ideas = yield from grow
                nodes += yield from self._score(work, ideas)
        scores = tuple(node.score for node in nodes)
        return work.lab.later(best_scored, scores, tuple(node.idea for node in nodes))

    def _plant(self, work: TeamWork) -> Process[list[Answer[CandidateIdea]]]:
        """The first ideas, side by side."""
        leader, shown = work.team.leader, work.search(work.topic)
        slots = idea_slots(shown)
        said = yield from work.lab.ask_each(
            [leader] * self.roots,
            lambda seat, who: work.pose(who, "idea", Idea, seat=seat, **slots),
        )
        return [work.candidate(leader, idea, shown) for idea in said]

    def _expand(
        self, work: TeamWork, nodes: list[IdeaNode]
    ) -> Process[list[Answer[CandidateIdea]]]:
        """New versions of the best idea that has none yet, side by side."""
        best = best_leaf(nodes)
        best.expanded = True
        leader, near = work.team.leader, work.search(best.idea)
        feedback = (Utterance(leader, best.score),)
        slots = refinement_slots(best.idea, near, feedback=feedback)
        children = min(self.breadth, self.budget - len(nodes))
        said = yield from work.lab.ask_each(
            [leader] * children,
            lambda seat, who: work.pose(who, "refinement", RefinedIdea, seat=seat, **slots),
        )
        return [work.candidate(leader, idea, near, best.idea) for idea in said]

    @staticmethod
    def _score(work: TeamWork, ideas: list[Answer[CandidateIdea]]) -> Process[list[IdeaNode]]:
        """A score for each new idea, side by side."""
        said = yield from work.lab.ask_each(
            [work.team.leader] * len(ideas),
            lambda seat, who: work.pose(
                who, "score", IdeaScore, "vote", seat=seat, idea=ideas[seat]
            ),
        )
        return [IdeaNode(idea, score) for idea, score in zip(ideas, said, strict=True)]


def best_leaf(nodes: list[IdeaNode]) -> IdeaNode:
    """The node without children that has the highest score; of equal ones the earliest.

    Args:
        nodes: of the tree; their scores are read.
    """
    return max((node for node in nodes if not node.expanded), key=lambda n: n.score.read().score)


def best_scored(scores: tuple[IdeaScore, ...], ideas: tuple[CandidateIdea, ...]) -> CandidateIdea:
    """The idea with the highest score; of equal ones the earliest."""
    return ideas[max(range(len(ideas)), key=lambda place: (scores[place].score, -place))]
