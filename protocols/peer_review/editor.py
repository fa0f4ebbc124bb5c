"""Editor: one submission, round by round. Who holds the rules and spends no attention.

Reviewers are sought side by side; each seat asks one scientist after another until one delivers.
Everything that crosses between authors and reviewers is read on the clock: the manuscript before
anybody is invited, the reviews on the date of the decision, the revision when it is screened.
"""

from __future__ import annotations

from dataclasses import replace
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple

from agents.errors import Verdict
from protocols.peer_review.choice import barred, drawn
from protocols.peer_review.forms import Recommendation, Report, Review, Rewrite, Willingness
from protocols.peer_review.prompts import PROMPTS
from society.interfaces import Manuscript
from society.meeting import work_at_desk
from society.publication import STAGE
from society.refereeing import Terms, review
from society.submissions import Referee, Submission

if TYPE_CHECKING:
    from protocols.peer_review.protocol import PeerReview
    from society.answer import Answer
    from society.lab import Lab
    from society.steps import Steps
    from society.team import Team


class Delivered(NamedTuple):
    """A review that has come, unread."""

    referee: Referee
    answer: Answer[Any]


class Editor:
    """The editor of one submission.

    Args:
        rules: what the editor goes by.
        team: whose manuscript it is; its members have gone their ways.
        lab: the team's.
        number: of the submission, from 1.
    """

    def __init__(self, rules: PeerReview, team: Team, lab: Lab, number: int) -> None:
        self._rules, self._team, self._lab, self._number = rules, team, lab, number
        self._authors = tuple(one.scientist for one in team.memberships if one.stayed)
        self._asked: set[int] = set()
        self._earlier: dict[int, tuple[str, Review]] = {}
        self._round = 0

    def judge(self, manuscript: Manuscript) -> Steps:
        """Round after round; returns whether it is accepted, and the manuscript as it stands."""
        rules, lab = self._rules, self._lab
        for self._round in range(1, rules.rounds + 1):
            lab.turn = self._round
            record = Submission(self._number, self._round, lab.now)
            self._team.submissions.append(record)
            yield from lab.wait(rules.screening)
            said = manuscript.text.read()
            came = yield from lab.together(*(self._seat(n, said) for n in range(rules.reviewers)))
            yield from lab.wait(rules.deciding)
            decision, reports = self._decide(record, came)
            if decision != "revise":
                break
            text = yield from self._revise(manuscript.text, said, reports)
            manuscript = replace(manuscript, text=text)
        return decision == "accept", manuscript

    def _seat(self, seat: int, said: Any) -> Steps:
        """One review of the round, or None if nobody delivers one."""
        held = self._earlier.get(seat)
        for attempt in range(1, self._rules.invitations + 1):
            if held is not None:
                referee, held = self._note(seat, held[0]), None
            else:
                who = self._whom(seat, attempt, said)
                if who is None:
                    return None
                referee = self._note(seat, who)
                if not (yield from self._invite(referee, said)):
                    continue
            answer = yield from self._review(referee, said)
            if referee.outcome != "gone":
                return None if answer is None else Delivered(referee, answer)
        return None

    def _whom(self, seat: int, attempt: int, said: Any) -> str | None:
        rules, world = self._rules, self._lab.world
        closed = barred(world, self._authors, rules.conflicts == "excluded", rules.max_open)
        rng = self._lab.rng("reviewer", self._number, self._round, seat, attempt)
        excluded = closed | self._asked
        return drawn(self._lab, rules.choice, said, excluded, rules.nearest, rng)

    def _note(self, seat: int, who: str) -> Referee:
        """The row of somebody who is asked, as of now; nobody is asked twice for one submission."""
        row = self._lab.world.population.rows[who]
        self._asked.add(row)
        load, open_ = self._lab.load(who), self._lab.world.reviewing.get(row, 0)
        referee = Referee(self._number, self._round, seat, who, load, open_)
        self._team.referees.append(referee)
        return referee

    def _invite(self, referee: Referee, said: Any) -> Steps:
        lab, rules, who = self._lab, self._rules, referee.scientist
        referee.invited = lab.now
        answer = lab.pose(
            who,
            PROMPTS["request"],
            Willingness,
            "invite",
            seat=referee.seat,
            within=rules.answer,
            manuscript=said,
            authors=self._shown(),
            load=referee.load,
            open=referee.open,
            days=round(rules.due),
        )
        yield from lab.wait(rules.answer)
        accepted = answer.read().accepted
        referee.answered = lab.now
        if lab.world.population.is_gone(who):
            referee.outcome = "gone"
        elif not accepted:
            referee.outcome = "declined"
        return referee.outcome is None

    def _review(self, referee: Referee, said: Any) -> Steps:
        lab, rules = self._lab, self._rules
        place = (self._number, self._round, referee.scientist)
        effort = rules.effort.draw(lab.rng("review", *place))
        known = self._earlier.get(referee.seat)
        own = known[1] if known is not None and known[0] == referee.scientist else None
        slots = {
            "manuscript": said,
            "authors": self._shown(),
            "round": self._round,
            "final": self._final,
            "response": getattr(said, "response", "") if self._round > 1 else "",
            "earlier": own,
        }

        def pose(within: float) -> Answer[Any]:
            page, seat = PROMPTS["review"], referee.seat
            return lab.pose(
                referee.scientist, page, Review, "review", seat=seat, within=within, **slots
            )

        terms = Terms(effort, rules.due, rules.patience, rules.reminders)
        return (yield from review(self._team, lab, referee, terms, pose))

    def _decide(
        self, record: Submission, came: list[Delivered | None]
    ) -> tuple[Recommendation, tuple[Report, ...]]:
        """Read what has come and go by the rule; the decision is known from now on."""
        rules, lab = self._rules, self._lab
        read = [one for one in map(self._read, came) if one is not None]
        reviews = [said for _, said in read]
        if len(reviews) < rules.least:
            decision: Recommendation = rules.too_few
        else:
            decision = rules.decision.of(reviews, self._final)
        record.decided, record.decision, record.reviews = lab.now, decision, len(reviews)
        record.score = fmean(said.overall for said in reviews) if reviews else None
        lab.event("decided", submission=self._number, round=self._round, decision=decision)
        self._earlier = {one.seat: (one.scientist, said) for one, said in read}
        named = rules.blind == "none"
        return decision, tuple(Report(one.scientist if named else "", said) for one, said in read)

    def _read(self, came: Delivered | None) -> tuple[Referee, Review] | None:
        if came is None:
            return None
        try:
            said: Review = came.answer.read()
        except Verdict:
            came.referee.outcome = "unread"
            return None
        came.referee.recommendation, came.referee.score = said.recommendation, said.overall
        return came.referee, said

    def _revise(self, text: Answer[Any], said: Any, reports: tuple[Report, ...]) -> Steps:
        """Homework of every author who is still there, then a rewriting, unread.

        The leader rewrites, or the next author who is there; where nobody is, it stays as it was.
        """
        lab = self._lab
        place = (STAGE, self._number, self._round)
        yield from lab.together(
            *(work_at_desk(lab.world, self._team, author, *place) for author in self._here())
        )
        page, here = PROMPTS["rewrite"], self._here()
        if not here:
            return text
        return (yield from lab.ask(here[0], page, Rewrite, manuscript=said, reports=reports))

    def _here(self) -> tuple[str, ...]:
        people = self._lab.world.population
        return tuple(author for author in self._authors if not people.is_gone(author))

    def _shown(self) -> tuple[Any, ...]:
        if self._rules.blind == "double":
            return ()
        return tuple(self._lab.profile(author) for author in self._authors)

    @property
    def _final(self) -> bool:
        return self._round == self._rules.rounds
