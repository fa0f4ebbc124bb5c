"""A panel of reviewers who ask a model through a gateway, as the teams of a society do.

Call ids are paper / kind / reviewer / round; reviewer 0 is the chair. All reviews are asked at
once, and a call whose reply is in the gateway's journal is not made again. An unreadable review is
missing, never a default: an unreadable reflection leaves the review before it in force.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

from virsci_society.agents.errors import Stopped
from virsci_society.agents.gateway.gateway import Gateway
from virsci_society.agents.profile import Profile
from virsci_society.agents.replies.form import Form
from virsci_society.scenarios.judgement.model_questions import ModelQuestions
from virsci_society.scenarios.judgement.reviews.kinds import RUBRIC, ReviewKind, ReviewQuestion
from virsci_society.society.kernel.answer import Answer
from virsci_society.society.kernel.calls import Call
from virsci_society.society.kernel.dispatcher import settled
from virsci_society.society.kernel.streams import Streams

CHAIR = 0
"""The reviewer's number in ids and tables that stands for the meta-review."""


@dataclass(frozen=True, slots=True)
class ReviewedPaper:
    """What a reviewer sees of a paper, and the id by which it is known."""

    id: str
    title: str
    abstract: str
    topic: str = ""


@dataclass(frozen=True, slots=True)
class ReviewRound:
    """One round of one reviewer.

    Attributes:
        paper: id of the manuscript.
        reviewer: from 1; 0 is the chair.
        round: 0 is the first review.
        review: the form, or None where the reply could not be read.
        calls: rows of the call and its re-asks.
    """

    paper: str
    reviewer: int
    round: int
    review: Form | None
    calls: tuple[Call, ...]


class Panel:
    """Reviewers of one kind.

    Args:
        gateway: the gateway to the model, with the journal of the reviews.
        kind: the kind of review.
        seed: root of the calls' seeds.
    """

    def __init__(self, gateway: Gateway, kind: ReviewKind, seed: int) -> None:
        self.kind = kind
        self._pages = {page.name: page.prompt for page in kind.questions}
        self._questions = ModelQuestions(gateway, Streams(seed, "review"))

    def __enter__(self) -> Self:
        self._questions.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._questions.__exit__()

    def interrupt(self, reason: Stopped) -> None:
        """Stop soon, from a signal handler; what has been answered is kept."""
        self._questions.interrupt(reason)

    def review(
        self, papers: Sequence[ReviewedPaper], told: Callable[[int], None] = lambda done: None
    ) -> list[ReviewRound]:
        """All opinions on all papers, in the order of papers, reviewers and rounds, the chair last.

        Args:
            papers: to be reviewed.
            told: after each paper, how many have been reviewed.

        Raises:
            Stopped: backend, budget, disk or a signal ended it early.
            Diverged: the journal knows a call that would now be made differently.
        """
        each = self.kind.reviewers + int(self.kind.meta is not None)

        def begin() -> list[Answer[list[ReviewRound]]]:
            return [answer for paper in papers for answer in self._ask(paper)]

        def count(answers: int) -> None:
            if answers % each == 0:
                told(answers // each)

        return [one for rounds in self._questions.read_all(begin, count) for one in rounds]

    def _ask(self, paper: ReviewedPaper) -> list[Answer[list[ReviewRound]]]:
        reviewers = range(1, self.kind.reviewers + 1)
        answers = [self._submit(paper, one, self._reviewed(paper, one)) for one in reviewers]
        if self.kind.meta is None:
            return answers
        chair = self._submit(paper, CHAIR, self._agreed(paper, self.kind.meta, tuple(answers)))
        return [*answers, chair]

    def _submit(self, paper: ReviewedPaper, reviewer: int, work: Any) -> Answer[list[ReviewRound]]:
        return self._questions.submit(f"{paper.id}/{reviewer}", work)

    async def _reviewed(self, paper: ReviewedPaper, reviewer: int) -> list[ReviewRound]:
        """The review and its reflections; each goes on from the last that could be read."""
        opinions = [await self._opinion(paper, reviewer, 0, self.kind.first, {})]
        for number in range(1, self.kind.reflections + 1):
            standing = last_readable(opinions)
            if standing is None or self.kind.reflection is None:
                break
            slots = {"previous": standing, "round": number, "rounds": self.kind.reflections}
            opinions.append(
                await self._opinion(paper, reviewer, number, self.kind.reflection, slots)
            )
        return opinions

    async def _agreed(
        self,
        paper: ReviewedPaper,
        page: ReviewQuestion,
        answers: tuple[Answer[list[ReviewRound]], ...],
    ) -> list[ReviewRound]:
        given = [last_readable(await settled(answer)) for answer in answers]
        reviews = tuple(review for review in given if review is not None)
        if not reviews:
            return []
        return [await self._opinion(paper, CHAIR, 0, page, {"reviews": reviews})]

    async def _opinion(
        self,
        paper: ReviewedPaper,
        reviewer: int,
        number: int,
        page: ReviewQuestion,
        more: dict[str, Any],
    ) -> ReviewRound:
        who = "Chair" if reviewer == CHAIR else f"Reviewer{reviewer}"
        id_ = f"{paper.id}/{self.kind.name}/{reviewer}/{number}"
        place = (paper.id, self.kind.name, 1, number, reviewer, "review", who)
        call = Call(id_, *place, asked=0.0, due=0.0, sequence=0, form=page.form.__name__)
        slots = {"title": paper.title, "abstract": paper.abstract, **more}
        slots |= {"topic": paper.topic, "rubric": RUBRIC}
        words, calls = await self._questions.ask(
            call, Profile(who), "reviewer", self._pages[page.name], page.form, slots
        )
        return ReviewRound(paper.id, reviewer, number, words, calls)


def last_readable(opinions: Sequence[ReviewRound]) -> Form | None:
    """The last review that could be read; None if there is none."""
    return next((one.review for one in reversed(opinions) if one.review is not None), None)
