"""Panel: reviewers at work. It asks through a gateway, as the teams of a society do.

Call ids are paper / kind / reviewer / round; reviewer 0 is the chair. Everything is asked at once,
and what the gateway's journal knows is not asked again. An unreadable review is missing, never a
default: an unreadable reflection leaves the review before it standing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

from agents.errors import Stopped, Verdict
from agents.forms import Form
from agents.gateway import Gateway
from agents.profile import Profile
from metrics.reviews.kinds import RUBRIC, Kind, Page
from society.answer import Answer
from society.call import Call, Question
from society.conversation import converse
from society.dispatch import Dispatcher
from society.errand import settled
from society.streams import Streams

CHAIR = 0
"""The reviewer's number in ids and tables that stands for the meta-review."""


@dataclass(frozen=True, slots=True)
class Manuscript:
    """What a reviewer sees of a paper, and the id by which it is known."""

    id: str
    title: str
    abstract: str
    topic: str = ""


@dataclass(frozen=True, slots=True)
class Opinion:
    """One round of one reviewer.

    Attributes:
        paper: id of the manuscript.
        reviewer: from 1; 0 is the chair.
        round: 0 is the first review.
        words: the form, or None where there are none.
        calls: rows of the call and its re-asks.
    """

    paper: str
    reviewer: int
    round: int
    words: Form | None
    calls: tuple[Call, ...]


class Panel:
    """Reviewers of one kind.

    Args:
        gateway: the way to the model, with the journal of the reviews.
        kind: what they are asked.
        seed: of the calls' seeds.
    """

    def __init__(self, gateway: Gateway, kind: Kind, seed: int) -> None:
        self.kind = kind
        self._pages = {page.name: page.prompt for page in kind.pages}
        self._streams = Streams(seed, "review")
        self._dispatcher = Dispatcher(gateway, lambda: 0.0, lambda: None, lambda: 1)

    def __enter__(self) -> Self:
        self._dispatcher.on_clock(True)
        return self

    def __exit__(self, *_: object) -> None:
        self._dispatcher.on_clock(False)
        self._dispatcher.close()

    def interrupt(self, reason: Stopped) -> None:
        """Stop soon, from a signal handler; what has been answered is kept."""
        self._dispatcher.interrupt(reason)

    def review(
        self, papers: Sequence[Manuscript], told: Callable[[int], None] = lambda done: None
    ) -> list[Opinion]:
        """All opinions on all papers, in the order of papers, reviewers and rounds, the chair last.

        Args:
            papers: to be reviewed.
            told: after each paper, how many have been reviewed.

        Raises:
            Stopped: backend, budget, disk or a signal ended it early.
            Diverged: the journal knows a call that would now be made differently.
        """
        opinions: list[Opinion] = []
        try:
            asked = [self._ask(paper) for paper in papers]
            for done, answers in enumerate(asked, start=1):
                for answer in answers:
                    opinions += answer.read()
                told(done)
        except Stopped as stop:
            # What it says is that there was a fault; the fault says what to do.
            raise self._dispatcher.fault or stop from None
        return opinions

    def _ask(self, paper: Manuscript) -> list[Answer[list[Opinion]]]:
        reviewers = range(1, self.kind.reviewers + 1)
        answers = [self._submit(paper, one, self._reviewed(paper, one)) for one in reviewers]
        if self.kind.meta is None:
            return answers
        chair = self._submit(paper, CHAIR, self._agreed(paper, self.kind.meta, tuple(answers)))
        return [*answers, chair]

    def _submit(self, paper: Manuscript, reviewer: int, work: Any) -> Answer[list[Opinion]]:
        def read(answer: Answer[Any]) -> Any:
            return self._dispatcher.read(answer, lambda: None)

        answer: Answer[list[Opinion]] = Answer(f"{paper.id}/{reviewer}", 0.0, (), False, read)
        return self._dispatcher.submit(answer, work)

    async def _reviewed(self, paper: Manuscript, reviewer: int) -> list[Opinion]:
        """The review and its reflections; each goes on from the last that could be read."""
        opinions = [await self._opinion(paper, reviewer, 0, self.kind.first, {})]
        for number in range(1, self.kind.reflections + 1):
            standing = latest(opinions)
            if standing is None or self.kind.again is None:
                break
            slots = {"previous": standing, "round": number, "rounds": self.kind.reflections}
            opinions.append(await self._opinion(paper, reviewer, number, self.kind.again, slots))
        return opinions

    async def _agreed(
        self, paper: Manuscript, page: Page, answers: tuple[Answer[list[Opinion]], ...]
    ) -> list[Opinion]:
        given = [latest(await settled(answer)) for answer in answers]
        reviews = tuple(review for review in given if review is not None)
        if not reviews:
            return []
        return [await self._opinion(paper, CHAIR, 0, page, {"reviews": reviews})]

    async def _opinion(
        self, paper: Manuscript, reviewer: int, number: int, page: Page, more: dict[str, Any]
    ) -> Opinion:
        who = "Chair" if reviewer == CHAIR else f"Reviewer{reviewer}"
        id_ = f"{paper.id}/{self.kind.name}/{reviewer}/{number}"
        place = (paper.id, self.kind.name, 1, number, reviewer, "review", who)
        call = Call(id_, *place, asked=0.0, due=0.0, sequence=0, form=page.form.__name__)
        slots = {"title": paper.title, "abstract": paper.abstract, **more}
        slots |= {"topic": paper.topic, "rubric": RUBRIC}
        seed = self._streams.key("words", id_)
        question = Question(
            call, Profile(who), "reviewer", self._pages[page.name], page.form, slots, seed
        )
        question.calls.append(call)
        try:
            words = await converse(question, self._dispatcher.gateway)
        except Verdict:
            words = None
        return Opinion(paper.id, reviewer, number, words, tuple(question.calls))


def latest(opinions: Sequence[Opinion]) -> Form | None:
    """The last review that could be read; None if there is none."""
    return next((one.words for one in reversed(opinions) if one.words is not None), None)
