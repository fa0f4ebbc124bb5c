"""The editor of one submission, who invites reviewers, holds rounds and decides.

Reviewers are sought side by side; for each review one scientist after another is asked until one
delivers. Whatever passes between authors and reviewers is read on a stated date: the manuscript
before anybody is invited, the reviews on the date of the decision, the revision when it is
screened.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple

from virsci_society.agents.errors import Verdict
from virsci_society.protocols.peer_review.forms import (
    PROMPTS,
    Recommendation,
    Report,
    Review,
    Rewrite,
    Willingness,
)
from virsci_society.society.literature.embedding.base import paper_text
from virsci_society.society.results.tables import PUBLICATION_STAGE
from virsci_society.society.teams.contracts import Manuscript
from virsci_society.society.teams.people import work_at_desk
from virsci_society.society.teams.publication import ReviewTerms, review
from virsci_society.society.teams.team import Reviewer, Submission

if TYPE_CHECKING:
    from virsci_society.agents.profile import Profile
    from virsci_society.protocols.peer_review.rules import ReviewRules
    from virsci_society.society.kernel.answer import Answer
    from virsci_society.society.kernel.durations import Process
    from virsci_society.society.teams.lab import Lab
    from virsci_society.society.teams.team import Team


class DeliveredReview(NamedTuple):
    """A review that has been delivered, unread, with the row of its reviewer."""

    referee: Reviewer
    answer: Answer[Review]


class Editor:
    """The editor of one submission; no scientist of the society, so it spends no attention."""

    def __init__(self, rules: ReviewRules, team: Team, lab: Lab, number: int) -> None:
        self._rules, self._team, self._lab, self._number = rules, team, lab, number
        self._authors = tuple(one.scientist for one in team.memberships if one.stayed)
        self._asked: set[int] = set()
        self._earlier: dict[int, tuple[str, Review]] = {}
        self._round = 0
        self._looks: Answer[float] | None = None

    def judge(self, manuscript: Manuscript) -> Process[tuple[bool, Manuscript]]:
        """Hold rounds until the manuscript is accepted or not; returns it with its revisions."""
        rules, lab = self._rules, self._lab
        for self._round in range(1, rules.rounds + 1):
            # Part of every call id, so that each round asks anew (rule 7).
            lab.turn = self._round
            record = Submission(self._number, self._round, lab.now)
            self._team.submissions.append(record)
            yield from lab.wait(rules.screening)
            # Read here: what reviewers are shown is fixed on the date of screening (rule 13).
            text = manuscript.text.read()
            self._looks = self._judge_looks(manuscript)
            # Side by side: a reviewer who takes long holds up the decision and no other review.
            seats = (self._obtain_review(seat, text) for seat in range(rules.reviewers))
            delivered = yield from lab.together(*seats)
            # Reviews are read on the date of the decision and not when they come (rule 13).
            yield from lab.wait(rules.deciding)
            decision, reports = self._decide(record, delivered)
            if decision != "revise":
                break
            revised = yield from self._revise(manuscript.text, text, reports)
            manuscript = replace(manuscript, text=revised)
        return decision == "accept", manuscript

    def _judge_looks(self, manuscript: Manuscript) -> Answer[float] | None:
        """How good this version looks; None where judgements know nothing of worth."""
        execution, text = self._lab.world.execution, manuscript.found_by
        if execution is None or not execution.signal:
            return None
        if text is None:
            text = self._lab.later(_embedded, manuscript.text)
        # The draw of panels: a manuscript that looks good does so in every round.
        return next(iter(execution.looks(self._lab, [text])), None)

    def _obtain_review(self, seat: int, text: Any) -> Process[DeliveredReview | None]:
        """One review of the round, or None if nobody delivers one.

        The reviewer of the round before is asked first, without an invitation.
        """
        earlier = self._earlier.get(seat)
        for attempt in range(1, self._rules.invitations + 1):
            if earlier is not None:
                referee, earlier = self._record_reviewer(seat, earlier[0]), None
            else:
                name = self._draw_reviewer(seat, attempt, text)
                if name is None:
                    return None
                referee = self._record_reviewer(seat, name)
                if not (yield from self._invite(referee, text)):
                    continue
            answer = yield from self._review(referee, text)
            # In place of one who left during the work, the next attempt asks somebody else.
            if referee.outcome != "gone":
                return None if answer is None else DeliveredReview(referee, answer)
        return None

    def _draw_reviewer(self, seat: int, attempt: int, text: Any) -> str | None:
        rules = self._rules
        excluded = rules.ineligible_rows(self._lab.world, self._authors) | self._asked
        # A stream per attempt: how many were asked before changes no later draw (rule 9).
        rng = self._lab.rng("reviewer", self._number, self._round, seat, attempt)
        return rules.draw_reviewer(self._lab, text, excluded, rng)

    def _record_reviewer(self, seat: int, name: str) -> Reviewer:
        """Write the row of a reviewer as of now; it is asked no more for this submission."""
        row = self._lab.world.population.rows[name]
        self._asked.add(row)
        load, open_ = self._lab.people.load(name), self._lab.world.reviewing.get(row, 0)
        referee = Reviewer(self._number, self._round, seat, name, load, open_)
        self._team.referees.append(referee)
        return referee

    def _invite(self, referee: Reviewer, text: Any) -> Process[bool]:
        """Ask a scientist to review; True if it agrees."""
        lab, rules, name = self._lab, self._rules, referee.scientist
        referee.invited = lab.now
        answer: Answer[Willingness] = lab.pose(
            name,
            PROMPTS["request"],
            Willingness,
            "invite",
            seat=referee.seat,
            within=rules.answer,
            manuscript=text,
            authors=self._shown_authors(),
            load=referee.load,
            open=referee.open,
            days=round(rules.due),
        )
        yield from lab.wait(rules.answer)
        # Read even if the scientist has left by now: what is read depends on no later event.
        accepted = answer.read().accepted
        referee.answered = lab.now
        if lab.world.population.has_departed(name):
            referee.outcome = "gone"
        elif not accepted:
            referee.outcome = "declined"
        return referee.outcome is None

    def _review(self, referee: Reviewer, text: Any) -> Process[Answer[Review] | None]:
        """The work on one review; None if it is not delivered."""
        lab, rules = self._lab, self._rules
        effort = rules.effort.draw(lab.rng("review", self._number, self._round, referee.scientist))
        earlier = self._earlier.get(referee.seat)
        same = earlier is not None and earlier[0] == referee.scientist
        slots = {
            "manuscript": text,
            "authors": self._shown_authors(),
            "round": self._round,
            "final": self._final,
            "response": getattr(text, "response", "") if self._round > 1 else "",
            "earlier": earlier[1] if earlier is not None and same else None,
        }

        def pose(within: float) -> Answer[Any]:
            page, seat = PROMPTS["review"], referee.seat
            return lab.pose(
                referee.scientist,
                page,
                Review,
                "review",
                seat=seat,
                within=within,
                looks=self._looks,
                **slots,
            )

        terms = ReviewTerms(effort, rules.due, rules.patience, rules.reminders)
        answer: Answer[Review] | None = yield from review(self._team, lab, referee, terms, pose)
        return answer

    def _decide(
        self, record: Submission, delivered: Sequence[DeliveredReview | None]
    ) -> tuple[Recommendation, tuple[Report, ...]]:
        """Read the reviews and decide by the rule; the authors know the decision from now on."""
        rules, lab = self._rules, self._lab
        readable = [one for one in map(self._read, delivered) if one is not None]
        reviews = [review for _, review in readable]
        if len(reviews) < rules.least:
            decision: Recommendation = rules.too_few
        else:
            decision = rules.decision.decide(reviews, self._final)
        record.decided, record.decision, record.reviews = lab.now, decision, len(reviews)
        record.score = fmean(review.overall for review in reviews) if reviews else None
        lab.event("decided", submission=self._number, round=self._round, decision=decision)
        # Whose review could not be read is not asked again in the next round.
        self._earlier = {referee.seat: (referee.scientist, review) for referee, review in readable}
        named = rules.blind == "none"
        return decision, tuple(
            Report(referee.scientist if named else "", review) for referee, review in readable
        )

    def _read(self, delivered: DeliveredReview | None) -> tuple[Reviewer, Review] | None:
        if delivered is None:
            return None
        referee = delivered.referee
        try:
            review = delivered.answer.read()
        except Verdict:
            referee.outcome = "unread"
            return None
        referee.recommendation, referee.score = review.recommendation, review.overall
        return referee, review

    def _revise(
        self, unread: Answer[Any], text: Any, reports: tuple[Report, ...]
    ) -> Process[Answer[Any]]:
        """Revise the manuscript: homework of every author who is still there, then a rewriting.

        The leader rewrites, or the next author who is there; where nobody is, the text stays.
        """
        lab = self._lab
        occasion = (PUBLICATION_STAGE, self._number, self._round)
        yield from lab.together(
            *(
                work_at_desk(lab.world, self._team, author, *occasion)
                for author in self._present_authors()
            )
        )
        # Asked again after the homework: an author may have left meanwhile.
        present = self._present_authors()
        if not present:
            return unread
        revised: Answer[Rewrite] = yield from lab.ask(
            present[0], PROMPTS["rewrite"], Rewrite, manuscript=text, reports=reports
        )
        return revised

    def _present_authors(self) -> tuple[str, ...]:
        people = self._lab.world.population
        return tuple(author for author in self._authors if not people.has_departed(author))

    def _shown_authors(self) -> tuple[Profile, ...]:
        """The authors' profiles, or none where the review is double-blind."""
        if self._rules.blind == "double":
            return ()
        return tuple(self._lab.people.profile(author) for author in self._authors)

    @property
    def _final(self) -> bool:
        return self._round == self._rules.rounds


def _embedded(text: Any) -> str:
    """The text by which a manuscript is found once it is published."""
    return paper_text(text.title, text.abstract)
