"""CycleResearcher, by which several papers are written and the one that scores best is taken.

``docs/protocols/cycle_researcher.md`` says what is faithful and what is adapted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field

from virsci_society.agents.prompts.slots import Utterance
from virsci_society.protocols.parts.forms import PaperReview, ReadingNotes
from virsci_society.protocols.parts.research_system import STAGES, ResearchSystem
from virsci_society.protocols.parts.steps import (
    best_of,
    choose_reviewers,
    mean_of_reviews,
    papers_of_ideas,
    retrieve,
    review,
)
from virsci_society.protocols.parts.team_work import TeamWork
from virsci_society.protocols.peer_review.forms import Report, Rewrite

if TYPE_CHECKING:
    from virsci_society.protocols.ideas import CandidateIdea
    from virsci_society.society.kernel.answer import Answer
    from virsci_society.society.kernel.durations import Process

CRITERIA = ("Soundness", "Presentation", "Contribution")
"""What is scored beside the paper as a whole."""


class CycleResearcher(ResearchSystem):
    """The best of several papers by the scores of reviewers (Weng et al., 2025)."""

    citation: ClassVar[str] = (
        'Weng et al. 2025, "CycleResearcher: Improving Automated Research via Automated '
        'Review", arXiv:2411.00816 (ICLR 2025).'
    )

    system: ClassVar[str] = "cycle_researcher"

    published: ClassVar[Mapping[str, Any]] = {"reviewers": 4, "profiles": "off"}
    matched: ClassVar[Mapping[str, Any]] = {"accept_from": None}

    candidates: int = Field(default=3, ge=1, le=100)
    """Papers that are written from the same reading; the best scored is taken. Unit: papers.
    Source: Weng et al. 2025 in kind; the value is assumed."""
    reviewers: int = Field(default=3, ge=1, le=20)
    """Reviewing scientists, who are not in the team. Unit: people. Source: Weng et al. 2025 (4, in
    one reply); the value is assumed."""
    cycles: int = Field(default=0, ge=0, le=100)
    """Most revisions of the chosen paper, each reviewed anew. Unit: rounds. Source: Weng et al.
    2025 (0: reviews are rewards there, and no paper is revised)."""
    accept_from: float | None = Field(default=6.5, ge=1, le=10)
    """Mean score from which a paper is not revised again; null: all revisions are made, which
    studies that match systems by calls need. Unit: score. Source: assumed."""

    @property
    def stages(self) -> frozenset[str]:
        """The stages of all systems, and the review."""
        return STAGES | {"review"}

    def find_idea(self, work: TeamWork) -> Process[Answer[CandidateIdea]]:
        """Read, write several papers, and take the best scored one with its idea."""
        ideas = yield from work.lab.stage("ideas", self._conceive(work))
        texts = yield from work.lab.stage("abstract", self._write_all(work, ideas))
        yield from work.call_meeting()
        reviewers = choose_reviewers(work, self.reviewers)
        best = yield from work.lab.stage("review", self._review(work, ideas, texts, reviewers))
        return best

    def _conceive(self, work: TeamWork) -> Process[tuple[Answer[CandidateIdea], ...]]:
        leader = work.team.leader
        with (yield from work.hold_round("reading and ideas")):
            papers = yield from retrieve(work, leader, self.references)
            read: Answer[ReadingNotes] = yield from work.ask(
                leader, "reading", ReadingNotes, seat=1, references=papers
            )
            notes = (Utterance(leader, read),)
            people = [leader] * self.candidates
            return (yield from work.propose(people, papers, seat=2, summaries=notes))

    def _write_all(
        self, work: TeamWork, ideas: tuple[Answer[CandidateIdea], ...]
    ) -> Process[list[Answer[Any]]]:
        """The text of each idea, side by side."""
        with (yield from work.hold_round("writing")):
            return (
                yield from work.lab.ask_each(
                    [work.team.leader] * len(ideas),
                    lambda seat, _: self.pose_text(work, ideas[seat], seat),
                )
            )

    def _review(
        self,
        work: TeamWork,
        ideas: tuple[Answer[CandidateIdea], ...],
        texts: list[Answer[Any]],
        reviewers: tuple[str, ...],
    ) -> Process[Answer[CandidateIdea]]:
        """Reviews of all texts side by side; then the best one is revised in cycles."""
        lab = work.lab
        with (yield from work.hold_round("review", 1, self.cycles + 1)):
            reviews = yield from lab.together(
                *(
                    self._review_text(work, text, ideas[n], reviewers, n * len(reviewers))
                    for n, text in enumerate(texts)
                )
            )
        scores = tuple(lab.later(mean_of_reviews, *(one.reply for one in said)) for said in reviews)
        best: Answer[CandidateIdea] = lab.later(best_of, ideas, scores)
        work.text = lab.later(best_of, tuple(texts), scores)
        work.team.notes["review_score"] = lab.later(best_score, scores)
        if self.cycles:
            said_of = tuple(tuple(one.reply for one in said) for said in reviews)
            said = lab.later(best_of, said_of, scores)
            yield from self._revise(work, best, said, reviewers)
        return best

    def _review_text(
        self,
        work: TeamWork,
        text: Any,
        idea: Answer[CandidateIdea],
        reviewers: tuple[str, ...],
        seat: int,
    ) -> Process[tuple[Utterance, ...]]:
        cited = work.lab.later(papers_of_ideas, idea)
        return review(work, reviewers, text, cited, CRITERIA, seat)

    def _revise(
        self,
        work: TeamWork,
        idea: Answer[CandidateIdea],
        said: Answer[tuple[PaperReview, ...]],
        reviewers: tuple[str, ...],
    ) -> Process[None]:
        """Revisions, each reviewed anew, until the mean score is high enough."""
        lab = work.lab
        for number in range(2, self.cycles + 2):
            yield from work.call_meeting()
            # On the date of the next round, whose meeting is not held if the reviews suffice.
            readable = [one for one in said.read() if one.score]
            if self._is_accepted(mean_of_reviews(*readable)):
                break
            with (yield from work.convene("review", number, self.cycles + 1)):
                reports = tuple(Report("", one) for one in readable)
                work.text = yield from work.ask(
                    work.team.leader, "rewrite", Rewrite, manuscript=work.text, reports=reports
                )
                new = yield from self._review_text(work, work.text, idea, reviewers, 1)
            replies = tuple(one.reply for one in new)
            said = lab.later(join_replies, *replies)
            work.team.notes["review_score"] = lab.later(mean_of_reviews, *replies)

    def _is_accepted(self, mean: float | None) -> bool:
        """Is the text handed in without another round? It also is where no review has words."""
        return self.accept_from is not None and (mean is None or mean >= self.accept_from)


def join_replies(*reviews: PaperReview) -> tuple[PaperReview, ...]:
    """Several reviews as one list."""
    return reviews


def best_score(scores: tuple[float | None, ...]) -> float | None:
    """The highest score; None without any."""
    return max((score for score in scores if score is not None), default=None)
