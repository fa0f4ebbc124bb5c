"""ResearchTown, by which messages on a graph of scientists and papers become a new paper node.

``docs/protocols/research_town.md`` says what is faithful and what is adapted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field

from virsci_society.agents.config import Switch
from virsci_society.agents.prompts.slots import Utterance
from virsci_society.protocols.parts.forms import ChairReview, ReadingNotes
from virsci_society.protocols.parts.research_system import TeamSystem
from virsci_society.protocols.parts.steps import (
    aggregate,
    choose_reviewers,
    join_papers,
    mean_of_reviews,
    papers_of_ideas,
    refine,
    review,
)
from virsci_society.protocols.parts.team_work import FoundPapers, TeamWork

if TYPE_CHECKING:
    from virsci_society.protocols.ideas import CandidateIdea
    from virsci_society.society.kernel.answer import Answer
    from virsci_society.society.kernel.durations import Process


class ResearchTown(TeamSystem):
    """Messages on the graph of scientists and papers: read, write, review (Yu et al., 2024)."""

    citation: ClassVar[str] = (
        'Yu et al. 2024, "ResearchTown: Simulator of Human Research Community", '
        "arXiv:2412.17767, sections 3 and 4."
    )

    system: ClassVar[str] = "research_town"

    published: ClassVar[Mapping[str, Any]] = {
        "references": 5,
        "own_papers": 0,
        "reviewers": 1,
        "temperatures": 0.0,
    }

    own_papers: int = Field(default=3, ge=0, le=50)
    """Papers of its own that each member reads: its neighbours in the graph. Unit: papers. Source:
    Yu et al. 2024 in kind; the value is assumed."""
    reviewers: int = Field(default=2, ge=1, le=20)
    """Scientists near the topic who review the new paper; one more chairs. Unit: people. Source: Yu
    et al. 2024 (1; its benchmark: 5); the value is assumed."""
    revision: Switch = "off"
    """Is the idea revised after the reviews? The original only writes them. Source: this
    project."""

    def find_idea(self, work: TeamWork) -> Process[Answer[CandidateIdea]]:
        """Read, write, aggregate, review."""
        idea = yield from work.lab.stage("ideas", self._write(work))
        yield from work.call_meeting()
        # The chair is the one of them who is farthest from the topic.
        *reviewers, chair = choose_reviewers(work, self.reviewers + 1)
        steps = self._review(work, idea, tuple(reviewers) or (chair,), chair)
        return (yield from work.lab.stage("novelty", steps))

    def _write(self, work: TeamWork) -> Process[Answer[CandidateIdea]]:
        """Messages to every author from its papers; then from all authors to the new paper."""
        stage = "reading and writing"
        with (yield from work.hold_round(stage, 1, 3)):
            notes = yield from self._read(work)
        with (yield from work.hold_round(stage, 2, 3)):
            ideas = yield from work.propose(tuple(work.team.members), summaries=notes)
        with (yield from work.hold_round(stage, 3, 3)):
            return (yield from aggregate(work, ideas))

    def _read(self, work: TeamWork) -> Process[tuple[Utterance, ...]]:
        """Every member reads its neighbours: its own papers and those near topic and interests."""
        members = tuple(work.team.members)
        papers = [self._neighbours(work, who) for who in members]
        said = yield from work.lab.ask_each(
            members,
            lambda seat, who: work.pose(
                who, "reading", ReadingNotes, seat=seat, references=papers[seat]
            ),
        )
        return tuple(Utterance(who, one) for who, one in zip(members, said, strict=True))

    def _neighbours(self, work: TeamWork, who: str) -> FoundPapers:
        lab, count = work.lab, self.references
        own = lab.library.papers_by(who, work.topic, self.own_papers) if self.own_papers else ()
        interests = "; ".join(lab.people.profile(who).interests) or who
        near = lab.library.search_diverse((work.topic, interests), count, diversity=0.0)
        papers = lab.later(join_papers, own, near)
        work.found += (papers,)
        return papers

    def _review(
        self, work: TeamWork, idea: Answer[CandidateIdea], reviewers: tuple[str, ...], chair: str
    ) -> Process[Answer[CandidateIdea]]:
        """Messages from the new paper to its reviewers and chair, and, if switched on, back."""
        rounds = 2 if self.revision == "on" else 1
        with (yield from work.hold_round("review", 1, rounds)):
            cited = work.lab.later(papers_of_ideas, idea)
            said = yield from review(work, reviewers, idea, cited)
            joined: Answer[ChairReview] = yield from work.ask(
                chair,
                "meta_review",
                ChairReview,
                "review",
                seat=len(reviewers),
                text=idea,
                reviews=said,
            )
        if self.revision == "on":
            with (yield from work.hold_round("review", 2, rounds)):
                feedback = (*said, Utterance(chair, joined))
                idea, _ = yield from refine(work, work.team.leader, idea, feedback=feedback)
        scores = work.lab.later(mean_of_reviews, *(one.reply for one in said))
        work.team.notes["review_score"] = scores
        work.team.notes["review_decision"] = work.lab.later(decision_of, joined)
        return idea


def decision_of(review: ChairReview) -> str:
    """What the chair decides."""
    return review.decision
