"""Stage 5, abstract generation: a draft, K turns of scoring and rewriting, and the self-review."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from virsci_society.agents.errors import ProtocolError
from virsci_society.agents.prompts.dialogue import Advice, Utterance
from virsci_society.protocols.discussion import Discussion
from virsci_society.protocols.forms import Critique, Draft
from virsci_society.protocols.ideas import CandidateIdea
from virsci_society.protocols.virsci.forms import Revision, SelfReview
from virsci_society.protocols.virsci.searches import NO_PAPERS, SearchRules, find_papers
from virsci_society.protocols.virsci.team_memory import TeamMemory, tell_changes
from virsci_society.society.kernel.answer import Answer
from virsci_society.society.kernel.process import Process

if TYPE_CHECKING:
    from collections.abc import Sequence

    from virsci_society.agents.config import Switch
    from virsci_society.agents.reference import Reference
    from virsci_society.society.teams.lab import Lab
    from virsci_society.society.teams.team import Team


Abstract: TypeAlias = Draft | Revision
"""A text of the abstract, drafted or revised."""


class Written(NamedTuple):
    """An abstract and who wrote this version of it.

    Attributes:
        writer: masked name.
        text: the abstract, unread.
    """

    writer: str
    text: Answer[Abstract]


@dataclass(frozen=True, slots=True)
class AbstractRules:
    """How an abstract is written.

    Attributes:
        near: the search for the papers near the idea, for the first draft.
        profiles: do writers see relevant scientists?
        critique: does another member than the idea's author examine it before the draft?
        ratings: do the idea's ratings of itself stand with it beside the draft?
    """

    near: SearchRules = NO_PAPERS
    profiles: Switch = "off"
    critique: Switch = "off"
    ratings: bool = False


@dataclass(frozen=True, slots=True)
class SelfReviewRules:
    """How the leader compares the abstract with the past.

    Attributes:
        count: past abstracts that it is compared with (>= 1).
        threshold: similarity, 0 to 100, from which it is too near.
        abstract_only: are the past abstracts searched by the abstract without its title?
    """

    count: int = 8
    threshold: float = 85.0
    abstract_only: bool = False


class SelfReviewResult(NamedTuple):
    """The outcome of a self-review.

    Attributes:
        too_near: is the abstract too near to a past one?
        highest: similarity to the nearest past abstract, 0 to 100.
        review: the leader's review, for the prompt of a revision.
        near: the past papers it was compared with, for the same prompt; unread.
    """

    too_near: bool
    highest: float
    review: Answer[SelfReview]
    near: Answer[tuple[Reference, ...]]


def review_abstract(
    team: Team, lab: Lab, memory: TeamMemory, draft: Answer[Abstract], rules: SelfReviewRules
) -> Process[SelfReviewResult]:
    """The leader compares an abstract with the past (Eq. 5); read by the next meeting.

    Args:
        team: whose leader reviews.
        lab: the team's access to the world.
        memory: its page is shown.
        draft: the abstract.
        rules: with what it is compared, and when it is too near.
    """
    review, near = yield from ask_for_review(team, lab, memory, draft, rules)
    yield from lab.prepare()
    yield from lab.notice()
    highest = review.read().highest
    return SelfReviewResult(highest >= rules.threshold, highest, review, near)


def ask_for_review(
    team: Team, lab: Lab, memory: TeamMemory, draft: Answer[Abstract], rules: SelfReviewRules
) -> Process[tuple[Answer[SelfReview], Answer[tuple[Reference, ...]]]]:
    """Ask the leader to compare an abstract with the past, without reading what it finds.

    Args:
        team: whose leader reviews.
        lab: the team's access to the world.
        memory: its page is shown.
        draft: the abstract.
        rules: with what it is compared.

    Returns:
        The review and the past papers, unread.
    """
    near = lab.library.search(
        lab.later(abstract_of, draft) if rules.abstract_only else draft, rules.count
    )
    review: Answer[SelfReview] = yield from lab.ask(
        team.leader, memory.prompts["self_review"], SelfReview, "review", draft=draft, near=near
    )
    return review, near


def abstract_of(text: Abstract) -> str:
    """The abstract without its title, for protocols that embed it alone."""
    return text.abstract


Guest: TypeAlias = tuple[Answer[Advice | None], ...]
"""What the guest of one utterance said, unread; empty where nobody was asked."""


def generate_abstract(
    team: Team,
    lab: Lab,
    discussion: Discussion,
    rules: AbstractRules,
    idea: Answer[CandidateIdea],
    memory: TeamMemory,
    written: Written | None = None,
    self_review: SelfReviewResult | None = None,
) -> Process[Written]:
    """The leader drafts an abstract on an idea, every next speaker revises it (Eq. 4).

    After a self-review the stage is held once more with its text; the first prompt then holds the
    review and the near abstracts (Eq. 6).

    Args:
        team: whose members write.
        lab: the team's access to the world.
        discussion: holds the turns.
        rules: what the pages hold.
        idea: the idea that the abstract is about.
        memory: what earlier stages left.
        written: a text to begin with; None: the leader drafts one.
        self_review: what the leader found in that text; shown to the first reviser.

    Returns:
        The abstract after K turns, and its last writer.
    """
    # Where there is a text already, its writers and its reviewer have spoken.
    discussion.begun = written is not None
    guest: Guest = ()
    changes: tuple[Answer[Utterance | None], ...] = ()
    with discussion:
        # Also in random order the abstract begins with the leader.
        while turn := (yield from discussion.next_turn(summarised=False, opener=team.leader)):
            for seat, speaker in turn.speakers:
                if written is None:
                    text, guest = yield from _draft(
                        team, lab, discussion, rules, idea, memory, speaker, seat
                    )
                else:
                    text, guest = yield from discussion.utter(
                        speaker,
                        seat,
                        "revision",
                        Revision,
                        cue=written.text,
                        recall=written.text,
                        about=idea,
                        people=rules.profiles == "on",
                        draft=written.text,
                        writer=written.writer,
                        guest=guest,
                        idea=idea if memory.carries else None,
                        changes=memory.shown(changes),
                        review=None if self_review is None else self_review.review,
                        near=() if self_review is None else self_review.near,
                    )
                    changes += (lab.later(partial(tell_changes, speaker), text),)
                    # Only the first reviser is shown the self-review.
                    self_review = None
                written = Written(speaker, text)
                turn.said = (Utterance(*written),)
    if written is None:
        raise ProtocolError(f"{team.id}: an abstract needs at least one speaker")
    return written


def _draft(
    team: Team,
    lab: Lab,
    discussion: Discussion,
    rules: AbstractRules,
    idea: Answer[CandidateIdea],
    memory: TeamMemory,
    speaker: str,
    seat: int,
) -> Process[tuple[Answer[Abstract], Guest]]:
    """The first text, by the leader, after another member has examined the idea, if one does."""
    critique: tuple[Answer[Utterance], ...] = ()
    if rules.critique == "on" and team.size > 1:
        said = yield from _criticise(team, lab, discussion, idea, memory)
        critique = (said,)
    # A search of its own: ideas can have been generated without any papers.
    near = find_papers(lab, rules.near, speaker, idea)
    return (
        yield from discussion.utter(
            speaker,
            seat,
            "draft",
            Draft,
            cue=idea,
            recall=idea,
            about=idea,
            people=rules.profiles == "on",
            idea=lab.later(partial(as_drafted, memory.carries), idea, near),
            critique=critique,
            advice=memory.shown(memory.advice),
            tried=memory.failed_ideas,
            reasons=memory.carries,
            ratings=rules.ratings,
        )
    )


def _criticise(
    team: Team,
    lab: Lab,
    discussion: Discussion,
    idea: Answer[CandidateIdea],
    memory: TeamMemory,
) -> Process[Answer[Utterance]]:
    """Ask a member who is not the author; the author is known only when the idea is read."""
    author = idea.read().author
    critic = next(member for member in team.members[::-1] if member != author)
    said: Answer[Critique] = yield from lab.ask(
        critic,
        memory.prompts["critique"],
        Critique,
        "critique",
        idea=idea,
        sentences=discussion.settings.sentences,
    )
    discussion.begun = True
    return lab.later(partial(Utterance, critic), said)


def as_drafted(carries: bool, idea: CandidateIdea, near: Sequence[Reference]) -> CandidateIdea:
    """An idea as the leader sees it who drafts; Figure 22 shows it without any papers.

    Args:
        carries: are the papers that it builds on, and the objections to it, shown?
        idea: the idea.
        near: the papers near it that are shown.
    """
    shown = replace(idea, references=tuple(near))
    return shown if carries else replace(shown, builds_on=(), objections=())
