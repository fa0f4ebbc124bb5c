"""CycleResearcher, by which a text is written, reviewed and revised until it scores high enough.

``docs/protocols/cycle_researcher.md`` says what is faithful and what is adapted. Reviews and
revisions are those of ``protocols/peer_review``.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field

from virsci_society.agents.errors import Verdict
from virsci_society.agents.prompts.dialogue import Utterance
from virsci_society.protocols.ideas import Idea
from virsci_society.protocols.parts.forms import ReadingNotes
from virsci_society.protocols.parts.research_system import STAGES, ResearchSystem
from virsci_society.protocols.parts.steps import choose_reviewers, idea_slots, retrieve
from virsci_society.protocols.parts.team_work import TeamWork
from virsci_society.protocols.peer_review.forms import PROMPTS as REVIEW_PAGES
from virsci_society.protocols.peer_review.forms import Report, Review, Rewrite

if TYPE_CHECKING:
    from virsci_society.protocols.ideas import CandidateIdea
    from virsci_society.society.kernel.answer import Answer
    from virsci_society.society.kernel.durations import Process
    from virsci_society.society.teams.contracts import Manuscript


class CycleResearcher(ResearchSystem):
    """Write, review, revise, with a score as the rule to stop (Weng et al., 2025)."""

    citation: ClassVar[str] = (
        'Weng et al. 2025, "CycleResearcher: Improving Automated Research via Automated '
        'Review", arXiv:2411.00816 (ICLR 2025).'
    )

    system: ClassVar[str] = "cycle_researcher"

    cycles: int = Field(default=2, ge=1, le=100)
    """Most rounds of review; a revision stands between two of them. Unit: rounds. Source: Weng et
    al. 2025 in kind; the value is assumed."""
    reviewers: int = Field(default=3, ge=1, le=20)
    """Reviewing scientists, who are not in the team. Unit: people. Source: Weng et al. 2025 in
    kind; the value is assumed."""
    accept_from: float | None = Field(default=6.5, ge=1, le=10)
    """Mean overall score from which the text is handed in without another round; null: all rounds
    are held, which studies that match systems by calls need. Unit: score. Source: Weng et al. 2025
    in kind; the value is assumed."""

    @property
    def stages(self) -> frozenset[str]:
        """The stages of all systems, and the review."""
        return STAGES | {"review"}

    def find_idea(self, work: TeamWork) -> Process[Answer[CandidateIdea]]:
        """Search, read, and put forward one idea."""
        return (yield from work.lab.stage("ideas", self._conceive(work)))

    def _conceive(self, work: TeamWork) -> Process[Answer[CandidateIdea]]:
        leader = work.team.leader
        with (yield from work.hold_round("reading and idea")):
            papers = yield from retrieve(work, leader, self.references)
            read: Answer[ReadingNotes] = yield from work.ask(
                leader, "reading", ReadingNotes, seat=1, references=papers
            )
            said: Answer[Idea] = yield from work.ask(
                leader,
                "idea",
                Idea,
                seat=2,
                **idea_slots(papers, summaries=(Utterance(leader, read),)),
            )
            return work.candidate(leader, said, papers)

    def write_paper(self, work: TeamWork, idea: Answer[CandidateIdea]) -> Process[Manuscript]:
        """Write the paper as all systems do, then let it be reviewed and revise it in cycles."""
        manuscript = yield from super().write_paper(work, idea)
        yield from work.call_meeting()
        reviewers = choose_reviewers(work, self.reviewers)
        text = yield from work.lab.stage("review", self._cycle(work, manuscript.text, reviewers))
        return replace(manuscript, text=text)

    def _cycle(
        self, work: TeamWork, text: Answer[Any], reviewers: tuple[str, ...]
    ) -> Process[Answer[Any]]:
        """Reviews, and a revision on the date on which they are read, if their mean is too low."""
        reviews: list[Answer[Review]] = []
        for number in range(1, self.cycles + 1):
            yield from work.call_meeting()
            # On the date of the next round, whose meeting is not held if the reviews suffice.
            readable = [one for one in map(read_review, reviews) if one is not None]
            if number > 1 and self._is_accepted(readable):
                break
            with (yield from work.convene("review", number, self.cycles)):
                if number > 1:
                    revised: Answer[Rewrite] = yield from work.lab.ask(
                        work.team.leader,
                        REVIEW_PAGES["rewrite"],
                        Rewrite,
                        manuscript=text,
                        reports=tuple(Report("", one) for one in readable),
                    )
                    text = revised
                pose = partial(self._pose_review, work, text, number)
                reviews = yield from work.lab.ask_each(reviewers, pose)
        return text

    def _is_accepted(self, reviews: list[Review]) -> bool:
        """Is the text handed in without another round? It also is where no review has words."""
        if self.accept_from is None:
            return False
        scores = [one.overall for one in reviews]
        return not scores or sum(scores) / len(scores) >= self.accept_from

    def _pose_review(
        self, work: TeamWork, text: Answer[Any], number: int, seat: int, who: str
    ) -> Answer[Review]:
        return work.lab.pose(
            who,
            REVIEW_PAGES["review"],
            Review,
            "review",
            seat=1 + seat,
            manuscript=text,
            authors=(),
            round=number,
            final=number == self.cycles,
            response="",
            earlier=None,
        )


def read_review(review: Answer[Review]) -> Review | None:
    """A review on the date on which it is read; None where it has no words."""
    try:
        return review.read()
    except Verdict:
        return None
