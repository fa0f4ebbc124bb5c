"""Stage 5, abstract generation: a draft, K turns of scoring and rewriting, a self-review."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from protocols.discussion import Discussion, Said
from protocols.virsci.forms import Draft, Revision, SelfReview
from protocols.virsci.prompts import PROMPTS
from protocols.virsci.settings import Settings
from society.answer import Answer
from society.steps import Steps

if TYPE_CHECKING:
    from society.lab import Lab
    from society.team import Team


def write(virsci: Settings, team: Team, lab: Lab, idea: Any) -> Steps:
    """The abstract after K turns, unread. The leader drafts, everybody after revises (Eq. 4)."""
    return (yield from _rounds(virsci, team, lab, idea=idea))


def revise(virsci: Settings, team: Team, lab: Lab, draft: Any, review: Any, near: Any) -> Steps:
    """One more stage of K turns, whose first prompt holds review and near abstracts (Eq. 6)."""
    return (yield from _rounds(virsci, team, lab, draft=draft, review=review, near=near))


def check(virsci: Settings, team: Team, lab: Lab, draft: Answer[Any]) -> Steps:
    """The leader's self-review (Eq. 5): is it too near to the past? Settled by the next meeting.

    Returns:
        ``(too_near, review, near)``: the verdict, and what a revision would be shown.
    """
    near = lab.search(draft, virsci.references.count)
    review = yield from lab.ask(
        team.leader, PROMPTS["self_review"], SelfReview, "review", draft=draft, near=near
    )
    yield from lab.prepare()
    yield from lab.notice()
    return review.read().highest >= virsci.threshold, review, near


def _rounds(
    virsci: Settings,
    team: Team,
    lab: Lab,
    *,
    idea: Any = None,
    draft: Any = None,
    review: Any = None,
    near: Any = (),
) -> Steps:
    discussion = Discussion(virsci, team, lab, virsci.turns_of.abstract, PROMPTS)
    guest: Said = ()

    def speak(turn: int, speakers: list[str]) -> Steps:
        nonlocal draft, guest, review, near
        for seat, speaker in enumerate(speakers):
            cue = idea if draft is None else draft
            page, form = ("draft", Draft) if draft is None else ("revision", Revision)
            slots: dict[str, Any] = {"idea": idea}
            if draft is not None:
                slots = {"draft": draft, "guest": guest, "review": review, "near": near}
            words, guest = yield from discussion.utter(
                speaker, seat, page, form, cue=cue, recall=cue, **slots
            )
            draft, review, near = words, None, ()
        return (draft,)

    # Also in random order the abstract begins with the leader.
    yield from discussion.hold(speak, summarised=False, opener=team.leader)
    return draft
