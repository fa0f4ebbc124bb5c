"""Peer review as a publication part: its rules, and the editor who goes by them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from statistics import fmean
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

from pydantic import Field, model_validator

from virsci_society.agents.errors import Dissolved, Verdict
from virsci_society.protocols.peer_review.forms import (
    PROMPTS,
    Recommendation,
    Report,
    Review,
    Rewrite,
    Willingness,
)
from virsci_society.society.formation.leaders import Anybody
from virsci_society.society.formation.world_view import ExcludedRows
from virsci_society.society.kernel.durations import Days, Duration, Gamma, Process, parse_days
from virsci_society.society.literature.embedding.base import paper_text
from virsci_society.society.results.tables import PUBLICATION_STAGE
from virsci_society.society.teams.contracts import Manuscript, Publication
from virsci_society.society.teams.membership import work_at_desk
from virsci_society.society.teams.publication import REJECTED, ReviewTerms, review
from virsci_society.society.teams.team import Reviewer, Submission

if TYPE_CHECKING:
    import numpy as np

    from virsci_society.agents.profile import Profile
    from virsci_society.society.kernel.answer import Answer
    from virsci_society.society.teams.lab import Lab
    from virsci_society.society.teams.team import Team
    from virsci_society.society.teams.world import World

DecisionRule = Literal["majority", "all"]


class PeerReview(Publication):
    """Scientists are invited, review at their desks, and recommend a decision.

    An editor, who is no scientist of the society and spends no attention, goes by stated rules.
    """

    reviewers: int = Field(default=3, ge=1, le=20)
    """Reviews sought per round. Unit: reviews."""
    rounds: int = Field(default=2, ge=1, le=10)
    """Rounds of one submission; the last one cannot ask for a revision. Unit: rounds."""
    submissions: int = Field(default=1, ge=1, le=20)
    """Submissions per manuscript, with new reviewers each; then the team ends as ``rejected``.
    Unit: submissions."""
    resubmission: Days = Field(default_factory=lambda: parse_days("30d"))
    """From a rejection to the next submission."""
    choice: Literal["interests", "uniform"] = "interests"
    """``interests``: one of the ``nearest`` to the manuscript; ``uniform``: anybody."""
    nearest: float = Field(default=0.1, gt=0, le=1)
    """Share of the scientists from whom ``interests`` draws, at least one. Unit: share."""
    conflicts: Literal["excluded", "allowed"] = "excluded"
    """May co-authors of the authors review?"""
    blind: Literal["none", "single", "double"] = "single"
    """``single``: reviewers are anonymous; ``double``: authors too; ``none``: nobody."""
    invitations: int = Field(default=5, ge=1, le=100)
    """People invited per review before the editor does without it. Unit: people."""
    max_open: int = Field(default=2, ge=1, le=1000)
    """A scientist with this many undelivered reviews is not invited. Unit: reviews."""
    effort: Duration = Field(default_factory=lambda: Gamma(mean=parse_days("1d")))
    """Work on one review. Unit: days of full attention."""
    screening: Days = Field(default_factory=lambda: parse_days("7d"))
    """From submission to the first invitations."""
    answer: Days = Field(default_factory=lambda: parse_days("7d"))
    """From an invitation to its answer."""
    due: Days = Field(default_factory=lambda: parse_days("30d"))
    """From agreeing to the due date."""
    reminders: int | None = Field(default=2, ge=0, le=100)
    """Reminders before the editor does without a late review; null: waits without limit. Unit:
    reminders."""
    patience: Annotated[Days, Field(gt=0)] = Field(default_factory=lambda: parse_days("14d"))
    """Between reminders, and from the last one to giving up."""
    deciding: Days = Field(default_factory=lambda: parse_days("7d"))
    """From the last review to the decision."""
    decision: DecisionRule = "majority"
    """``majority``: accept or reject by more than half; ``all``: accept if unanimous, reject by
    one; otherwise revise."""
    least: int = Field(default=1, ge=1, le=20)
    """With fewer reviews ``too_few`` decides. Unit: reviews."""
    too_few: Literal["reject", "accept"] = "reject"
    """Decision on too few reviews."""

    @model_validator(mode="after")
    def _fits_together(self) -> PeerReview:
        if self.least > self.reviewers:
            raise ValueError("least is more than reviewers")
        return self

    @property
    def windows(self) -> Mapping[str, float]:
        """Days, by key, after which manuscript, answers and reviews are read."""
        names = ("screening", "answer", "deciding")
        return {f"publication.{name}": float(getattr(self, name)) for name in names}

    def consider(self, team: Team, lab: Lab, manuscript: Manuscript) -> Process[Manuscript]:
        """Submit the manuscript, and where it is rejected submit it elsewhere."""
        for number in range(1, self.submissions + 1):
            if number > 1:
                yield from lab.wait(self.resubmission)
            editor = Editor(self, team, lab, number)
            accepted, manuscript = yield from lab.stage(PUBLICATION_STAGE, editor.judge(manuscript))
            if accepted:
                return manuscript
        raise Dissolved(REJECTED)

    def ineligible_rows(self, world: World, authors: Sequence[str]) -> ExcludedRows:
        """Rows of those who may not be asked to review the paper of some authors now."""
        people = world.population
        rows = [people.rows[author] for author in authors]
        closed = {*rows} | people.just_arrived()
        closed |= {row for row, open_ in world.reviewing.items() if open_ >= self.max_open}
        if self.conflicts == "excluded":
            closed |= {int(other) for row in rows for other in world.network.coauthors(row)[0]}
        return ExcludedRows(people.departed.keys(), closed)

    def draw_reviewer(
        self, lab: Lab, manuscript: Any, excluded: AbstractSet[int], rng: np.random.Generator
    ) -> str | None:
        """Draw one scientist to ask, according to ``choice``; None if nobody is left."""
        names = lab.world.population.names
        if self.choice == "uniform":
            row = Anybody().choose(excluded, lab.world, rng)
            return None if row is None else names[row]
        # Sorted, because the order of a set changes from process to process (rule 12).
        without = [names[row] for row in sorted(excluded)]
        count = lab.world.population.share_of_present(self.nearest)
        near = lab.library.people(manuscript, count, without).read()
        return near[int(rng.integers(len(near)))].id if near else None


def decide(rule: DecisionRule, said: Sequence[Recommendation], final: bool) -> Recommendation:
    """What a rule makes of one or more recommendations; in the final round none is to revise."""
    yes, no, total = said.count("accept"), said.count("reject"), len(said)
    if rule == "all":
        accepted, rejected = yes == total, no > 0
    else:
        accepted, rejected = 2 * yes > total, 2 * no > total
    if accepted:
        return "accept"
    # No round is left in which a revision could be judged.
    return "reject" if rejected or final else "revise"


class DeliveredReview(NamedTuple):
    """A review that has been delivered, unread, with the row of its reviewer."""

    referee: Reviewer
    answer: Answer[Review]


class Editor:
    """The editor of one submission; no scientist of the society, so it spends no attention."""

    def __init__(self, rules: PeerReview, team: Team, lab: Lab, number: int) -> None:
        self._rules, self._team, self._lab, self._number = rules, team, lab, number
        self._authors = tuple(
            membership.scientist for membership in team.memberships if membership.stayed
        )
        self._asked: set[int] = set()
        self._earlier: dict[int, tuple[str, Review]] = {}
        self._round = 0
        self._looks: Answer[float] | None = None

    def judge(self, manuscript: Manuscript) -> Process[tuple[bool, Manuscript]]:
        """Hold rounds until the manuscript is accepted or not; returns it with its revisions."""
        rules, lab = self._rules, self._lab
        for self._round in range(1, rules.rounds + 1):
            # Part of every call id, so that each round makes new calls (rule 7).
            lab.turn = self._round
            record = Submission(self._number, self._round, lab.now)
            self._team.submissions.append(record)
            yield from lab.wait(rules.screening)
            # Read here: what reviewers are shown is fixed on the date of screening (rule 13).
            text = manuscript.text.read()
            self._looks = self._judge_looks(manuscript)
            # In parallel: a slow reviewer delays the decision, but no other review.
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
        execution, text = self._lab.world.execution, manuscript.neighbour_query
        if execution is None or not execution.signal:
            return None
        if text is None:
            text = self._lab.later(_embedded, manuscript.text)
        # The draw of panels: a manuscript that looks good does so in every round.
        return next(iter(execution.looks(self._lab, [text])), None)

    def _obtain_review(self, seat: int, text: Any) -> Process[DeliveredReview | None]:
        """One review of the round, or None if nobody delivers one."""
        rules, lab, earlier = self._rules, self._lab, self._earlier.get(seat)
        for attempt in range(1, rules.invitations + 1):
            if earlier is not None:
                referee, earlier = self._record_reviewer(seat, earlier[0]), None
            else:
                excluded = rules.ineligible_rows(lab.world, self._authors) | self._asked
                # A stream per attempt: how many were asked before changes no later draw (rule 9).
                rng = lab.rng("reviewer", self._number, self._round, seat, attempt)
                name = rules.draw_reviewer(lab, text, excluded, rng)
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

    def _record_reviewer(self, seat: int, name: str) -> Reviewer:
        """Write the row of a reviewer, who is not asked again for this submission."""
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
        answer: Answer[Willingness] = lab.submit(
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
        # Read even if the scientist has left: reading must not depend on later events.
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
        shown = {
            "seat": referee.seat,
            "manuscript": text,
            "authors": self._shown_authors(),
            "round": self._round,
            "final": self._final,
            "response": getattr(text, "response", "") if self._round > 1 else "",
            "earlier": earlier[1] if earlier is not None and same else None,
        }

        def submit(within: float) -> Answer[Any]:
            slots = {**shown, "within": within, "looks": self._looks}
            return lab.submit(referee.scientist, PROMPTS["review"], Review, "review", **slots)

        terms = ReviewTerms(effort, rules.due, rules.patience, rules.reminders)
        answer: Answer[Review] | None = yield from review(self._team, lab, referee, terms, submit)
        return answer

    def _decide(
        self, record: Submission, delivered: Sequence[DeliveredReview | None]
    ) -> tuple[Recommendation, tuple[Report, ...]]:
        """Read the reviews and decide by the rule; the authors know the decision from now on."""
        rules, lab = self._rules, self._lab
        readable = []
        for referee, answer in filter(None, delivered):
            try:
                review = answer.read()
            except Verdict:
                referee.outcome = "unread"
                continue
            referee.recommendation, referee.score = review.recommendation, review.overall
            readable.append((referee, review))
        if len(readable) < rules.least:
            decision: Recommendation = rules.too_few
        else:
            said = [review.recommendation for _, review in readable]
            decision = decide(rules.decision, said, self._final)
        record.decided, record.decision, record.reviews = lab.now, decision, len(readable)
        record.score = fmean(review.overall for _, review in readable) if readable else None
        lab.event("decided", submission=self._number, round=self._round, decision=decision)
        # Whose review could not be read is not asked again in the next round.
        self._earlier = {referee.seat: (referee.scientist, review) for referee, review in readable}
        named = rules.blind == "none"
        return decision, tuple(
            Report(referee.scientist if named else "", review) for referee, review in readable
        )

    def _revise(
        self, unread: Answer[Any], text: Any, reports: tuple[Report, ...]
    ) -> Process[Answer[Any]]:
        """Revise the manuscript: homework of every remaining author, then a rewrite."""
        lab = self._lab
        occasion = (PUBLICATION_STAGE, self._number, self._round)
        yield from lab.together(
            *(
                work_at_desk(lab.world, self._team, author, *occasion)
                for author in self._present_authors()
            )
        )
        # Checked again after the homework: an author may have left.
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
