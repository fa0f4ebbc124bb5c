"""AI Scientist-v2, by which one scientist searches a tree of ideas, the best leaf first.

``docs/protocols/ai_scientist_v2.md`` says what is faithful and what is adapted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any, ClassVar, cast

from pydantic import Field, model_validator

from virsci_society.agents.config import Switch
from virsci_society.agents.prompts.slots import Utterance
from virsci_society.protocols.ideas import CandidateIdea
from virsci_society.protocols.parts.forms import IdeaScore, SearchedIdea
from virsci_society.protocols.parts.research_system import ResearchSystem
from virsci_society.protocols.parts.steps import best_of, join_papers, pose_refinement
from virsci_society.protocols.parts.team_work import FoundPapers, TeamWork
from virsci_society.society.kernel.answer import Answer

if TYPE_CHECKING:
    from virsci_society.society.kernel.durations import Process


@dataclass
class IdeaNode:
    """One node of the tree."""

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
    published: ClassVar[Mapping[str, Any]] = {
        "roots": 20,
        "rounds": 5,
        "breadth": 4,
        "budget": 62,
        "references": 10,
        "profiles": "off",
    }
    matched: ClassVar[Mapping[str, Any]] = {"early_end": "off"}

    roots: int = Field(default=2, ge=1, le=20)
    """Ideas that the tree begins with, worked out one after another. Unit: ideas. Source: Yamada et
    al. 2025 (20); the value is assumed."""
    rounds: int = Field(default=3, ge=1, le=20)
    """Most rounds in which one of them is worked out: each asks for a search or ends the work.
    Unit: rounds. Source: Yamada et al. 2025 (5); the value is assumed."""
    early_end: Switch = "on"
    """Does the work on one of them end when its author calls it done? Off: all rounds are held,
    which studies that match systems by calls need. Source: Yamada et al. 2025."""
    breadth: int = Field(default=2, ge=1, le=20)
    """New versions of an idea when it is expanded. Unit: ideas. Source: Yamada et al. 2025 in kind
    (4 workers); the value is assumed."""
    budget: int = Field(default=6, ge=1, le=500)
    """Ideas in the whole tree, the first ones included. Unit: ideas. Source: Yamada et al. 2025 in
    kind (62 nodes of experiments in four stages); the value is assumed."""

    @model_validator(mode="after")
    def _roots_fit(self) -> AIScientistV2:
        if self.roots > self.budget:
            raise ValueError("budget is smaller than roots")
        return self

    def find_idea(self, work: TeamWork) -> Process[Answer[CandidateIdea]]:
        """Work out the first ideas, grow the tree until the budget is spent, take its best."""
        roots: tuple[Answer[CandidateIdea], ...] = ()
        # One after another: each is to be unlike those that are in the archive by then.
        for _ in range(self.roots):
            roots += ((yield from work.lab.stage("ideas", self._work_out(work, roots))),)
        return (yield from work.lab.stage("ideas", self._search(work, roots)))

    def _work_out(
        self, work: TeamWork, archive: tuple[Answer[CandidateIdea], ...]
    ) -> Process[Answer[CandidateIdea]]:
        """One idea in rounds, of which each asks for a search or says that the idea is done."""
        leader, early = work.team.leader, self.early_end == "on"
        versions: tuple[Answer[SearchedIdea], ...] = ()
        found: tuple[FoundPapers, ...] = ()
        idea: Answer[CandidateIdea] | None = None
        for number in range(1, self.rounds + 1):
            yield from work.call_meeting()
            # On the date of the next round, whose meeting is not held if the idea is done.
            if early and versions and versions[-1].read().done:
                break
            with (yield from work.convene("working out of an idea", number, self.rounds)):
                if versions:
                    found += (work.search(work.lab.later(next_search, versions[-1])),)
                papers = work.lab.later(join_papers, *found)
                said: Answer[SearchedIdea] = yield from work.ask(
                    leader,
                    "ideation",
                    SearchedIdea,
                    archive=archive,
                    previous=idea,
                    earlier=versions,
                    found=found,
                    references=papers,
                    searching=number < self.rounds,
                    ends=early and number < self.rounds,
                )
                idea = work.candidate(leader, said, papers, () if idea is None else idea)
                versions += (said,)
        # There is at least one round, and each leaves an idea.
        return cast("Answer[CandidateIdea]", idea)

    def _search(
        self, work: TeamWork, roots: tuple[Answer[CandidateIdea], ...]
    ) -> Process[Answer[CandidateIdea]]:
        nodes: list[IdeaNode] = []
        rounds = 1 + ceil((self.budget - self.roots) / self.breadth)
        for number in range(1, rounds + 1):
            with (yield from work.hold_round("search in a tree of ideas", number, rounds)):
                ideas = (yield from self._expand(work, nodes)) if nodes else list(roots)
                nodes += yield from self._score(work, ideas)
        scores = tuple(node.score for node in nodes)
        return work.lab.later(best_scored, scores, tuple(node.idea for node in nodes))

    def _expand(
        self, work: TeamWork, nodes: list[IdeaNode]
    ) -> Process[list[Answer[CandidateIdea]]]:
        """New versions of the best idea that has none yet, side by side."""
        best = best_leaf(nodes)
        best.expanded = True
        leader, near = work.team.leader, work.search(best.idea)
        feedback = (Utterance(leader, best.score),)
        children = min(self.breadth, self.budget - len(nodes))
        said = yield from work.lab.ask_each(
            [leader] * children,
            lambda seat, who: pose_refinement(work, who, best.idea, near, seat, feedback=feedback),
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


def next_search(said: SearchedIdea) -> str:
    """The query of one round; the idea itself where it gives none."""
    return said.query_words.strip() or said.query


def best_leaf(nodes: list[IdeaNode]) -> IdeaNode:
    """The node without children that has the highest score; of equal ones the earliest."""
    return max((node for node in nodes if not node.expanded), key=lambda n: n.score.read().score)


def best_scored(scores: tuple[IdeaScore, ...], ideas: tuple[CandidateIdea, ...]) -> CandidateIdea:
    """The idea with the highest score; of equal ones the earliest."""
    chosen: CandidateIdea = best_of(ideas, [one.score for one in scores])
    return chosen
