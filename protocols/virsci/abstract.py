"""Stage 5, abstract generation: a draft, K turns of scoring and rewriting, and the self-review."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from protocols.discussion import Discussion, Utterances
from protocols.virsci.forms import Draft, Revision, SelfReview
from protocols.virsci.idea_ranking import CandidateIdea
from protocols.virsci.prompts import PROMPTS
from society.kernel.answer import Answer
from society.kernel.process import Process

if TYPE_CHECKING:
    from agents.reference import Reference
    from society.teams.lab import Lab
    from society.teams.team import Team


class SelfReviewResult(NamedTuple):
    """The outcome of a self-review.

    Attributes:
        too_near: is the abstract too near to a past one?
        review: the leader's review, for the prompt of a revision.
        near: the past papers it was compared with, for the same prompt; unread.
    """

    too_near: bool
    review: Answer[SelfReview]
    near: Answer[tuple[Reference, ...]]


def generate_abstract(
    team: Team, discussion: Discussion, idea: Answer[CandidateIdea]
) -> Process[Answer[Draft]]:
    """The leader drafts an abstract on an idea; every next speaker revises it (Eq. 4).

    Args:
        team: whose leader begins.
        discussion: holds the turns.
        idea: the idea that the abstract is about.

    Returns:
        The abstract after K turns, unread.
    """
    return (yield from _hold_rounds(team, discussion, idea=idea))


def revise_abstract(
    team: Team, discussion: Discussion, draft: Answer[Draft], self_review: SelfReviewResult
) -> Process[Answer[Draft]]:
    """One more stage of K turns after a self-review.

    Its first prompt holds the review and the near abstracts (Eq. 6).

    Args:
        team: whose members revise.
        discussion: holds the turns.
        draft: the abstract that was too near to the past.
        self_review: what the leader found.

    Returns:
        The abstract after K turns, unread.
    """
    return (
        yield from _hold_rounds(
            team, discussion, draft=draft, review=self_review.review, near=self_review.near
        )
    )


def review_abstract(
    team: Team, lab: Lab, draft: Answer[Draft], *, count: int, threshold: float
) -> Process[SelfReviewResult]:
    """The leader compares an abstract with the past (Eq. 5); read by the next meeting.

    Args:
        team: whose leader reviews.
        lab: the team's access to the world.
        draft: the abstract.
        count: past abstracts that it is compared with (>= 1).
        threshold: similarity, 0 to 100, from which it is too near.
    """
    near = lab.search(draft, count)
    review: Answer[SelfReview] = yield from lab.ask(
        team.leader, PROMPTS["self_review"], SelfReview, "review", draft=draft, near=near
    )
    yield from lab.prepare()
    yield from lab.notice()
    return SelfReviewResult(review.read().highest >= threshold, review, near)


def _hold_rounds(
    team: Team,
    discussion: Discussion,
    *,
    idea: Answer[CandidateIdea] | None = None,
    draft: Answer[Draft] | None = None,
    review: Answer[SelfReview] | None = None,
    near: Answer[tuple[Reference, ...]] | tuple[()] = (),
) -> Process[Answer[Draft]]:
    drafts: list[Answer[Draft]] = [] if draft is None else [draft]
    guest: Utterances = ()

    def speak(turn: int, speakers: list[str]) -> Process[Utterances]:
        nonlocal guest, review, near
        for seat, speaker in enumerate(speakers):
            slots: dict[str, Any] = {"idea": idea}
            if drafts:
                slots = {"draft": drafts[-1], "guest": guest, "review": review, "near": near}
            page, form = ("revision", Revision) if drafts else ("draft", Draft)
            cue = drafts[-1] if drafts else idea
            text, guest = yield from discussion.utter(
                speaker, seat, page, form, cue=cue, recall=cue, **slots
            )
            drafts.append(text)
            # Only the first reviser is shown the self-review.
            review, near = None, ()
        return (drafts[-1],)

    # Also in random order the abstract begins with the leader.
    yield from discussion.hold(speak, summarised=False, opener=team.leader)
    return drafts[-1]
