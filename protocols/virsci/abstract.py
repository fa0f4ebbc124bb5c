"""Stage 5, abstract generation: a draft, K turns of scoring and rewriting, and the self-review."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from virsci_society.agents.prompts.dialogue import Advice, Utterance
from virsci_society.protocols.discussion import Discussion, Utterances
from virsci_society.protocols.virsci.forms import Critique, Draft, Revision, SelfReview
from virsci_society.protocols.virsci.idea_ranking import CandidateIdea
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


def generate_abstract(
    team: Team,
    lab: Lab,
    discussion: Discussion,
    rules: AbstractRules,
    idea: Answer[CandidateIdea],
    memory: TeamMemory,
) -> Process[Written]:
    """The leader drafts an abstract on an idea; every next speaker revises it (Eq. 4).

    Args:
        team: whose leader begins.
        lab: the team's access to the world.
        discussion: holds the turns.
        rules: what the pages hold.
        idea: the idea that the abstract is about.
        memory: what earlier stages left.

    Returns:
        The abstract after K turns, and its last writer.
    """
    rounds = WritingRounds(team, lab, discussion, rules, memory, idea)
    return (yield from rounds.hold())


def revise_abstract(
    team: Team,
    lab: Lab,
    discussion: Discussion,
    rules: AbstractRules,
    idea: Answer[CandidateIdea],
    memory: TeamMemory,
    draft: Written,
    self_review: SelfReviewResult,
) -> Process[Written]:
    """One more stage of K turns after a self-review.

    Its first prompt holds the review and the near abstracts (Eq. 6).

    Args:
        team: whose members revise.
        lab: the team's access to the world.
        discussion: holds the turns.
        rules: what the pages hold.
        idea: the idea that the abstract is about.
        memory: what earlier stages left.
        draft: the abstract that was too near to the past.
        self_review: what the leader found.

    Returns:
        The abstract after K turns, and its last writer.
    """
    rounds = WritingRounds(team, lab, discussion, rules, memory, idea, draft, self_review)
    return (yield from rounds.hold())


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
    near = lab.search(lab.later(abstract_of, draft) if rules.abstract_only else draft, rules.count)
    review: Answer[SelfReview] = yield from lab.ask(
        team.leader, memory.prompts["self_review"], SelfReview, "review", draft=draft, near=near
    )
    return review, near


def abstract_of(text: Abstract) -> str:
    """The abstract without its title, for protocols that embed it alone."""
    return text.abstract


class WritingRounds:
    """The rounds in which one abstract is drafted and revised.

    Args:
        team: whose members write.
        lab: the team's access to the world.
        discussion: holds the turns.
        rules: what the pages hold.
        memory: what earlier stages left.
        idea: the idea that the abstract is about.
        draft: a text to begin with; None: the leader drafts one.
        self_review: what the leader found in that text; shown to the first reviser.
    """

    def __init__(
        self,
        team: Team,
        lab: Lab,
        discussion: Discussion,
        rules: AbstractRules,
        memory: TeamMemory,
        idea: Answer[CandidateIdea],
        draft: Written | None = None,
        self_review: SelfReviewResult | None = None,
    ) -> None:
        self._team, self._lab, self._discussion = team, lab, discussion
        self._rules, self._memory, self._idea = rules, memory, idea
        self._review = self_review
        # Where there is a text already, its writers and its reviewer have spoken.
        discussion.begun = draft is not None
        self._texts = [] if draft is None else [draft.text]
        self._writer = team.leader if draft is None else draft.writer
        self._guest: tuple[Answer[Advice | None], ...] = ()
        self._changes: tuple[Answer[Utterance | None], ...] = ()

    def hold(self) -> Process[Written]:
        """Hold all rounds; returns the last text, unread, and its writer."""
        # Also in random order the abstract begins with the leader.
        opener = self._team.leader
        yield from self._discussion.hold(self._hold_round, summarised=False, opener=opener)
        return Written(self._writer, self._texts[-1])

    def _hold_round(self, turn: int, speakers: list[str]) -> Process[Utterances]:
        for seat, speaker in enumerate(speakers):
            if self._texts:
                yield from self._revise(speaker, seat)
            else:
                yield from self._draft(speaker, seat)
        return (Utterance(self._writer, self._texts[-1]),)

    def _draft(self, speaker: str, seat: int) -> Process[None]:
        memory, rules = self._memory, self._rules
        critique: Answer[Utterance] | None = None
        if rules.critique == "on" and self._team.size > 1:
            critique = yield from self._criticise()
        # A search of its own: ideas can have been generated without any papers.
        near = find_papers(self._lab, rules.near, speaker, self._idea)
        text, self._guest = yield from self._discussion.utter(
            speaker,
            seat,
            "draft",
            Draft,
            cue=self._idea,
            recall=self._idea,
            about=self._idea,
            people=self._rules.profiles == "on",
            idea=self._lab.later(partial(as_drafted, memory.carries), self._idea, near),
            critique=() if critique is None else (critique,),
            advice=memory.shown(memory.advice),
            tried=memory.failed_ideas,
            reasons=memory.carries,
            ratings=rules.ratings,
        )
        self._texts.append(text)

    def _criticise(self) -> Process[Answer[Utterance]]:
        """Ask a member who is not the author; the author is known only when the idea is read."""
        author = self._idea.read().author
        critic = next(member for member in self._team.members[::-1] if member != author)
        said: Answer[Critique] = yield from self._lab.ask(
            critic,
            self._memory.prompts["critique"],
            Critique,
            "critique",
            idea=self._idea,
            sentences=self._discussion.settings.sentences,
        )
        self._discussion.begun = True
        return self._lab.later(partial(Utterance, critic), said)

    def _revise(self, speaker: str, seat: int) -> Process[None]:
        memory, review, text = self._memory, self._review, self._texts[-1]
        revised: Answer[Abstract]
        revised, self._guest = yield from self._discussion.utter(
            speaker,
            seat,
            "revision",
            Revision,
            cue=text,
            recall=text,
            about=self._idea,
            people=self._rules.profiles == "on",
            draft=text,
            writer=self._writer,
            guest=self._guest,
            idea=self._idea if memory.carries else None,
            changes=memory.shown(self._changes),
            review=None if review is None else review.review,
            near=() if review is None else review.near,
        )
        self._changes += (self._lab.later(partial(tell_changes, speaker), revised),)
        self._texts.append(revised)
        self._writer = speaker
        # Only the first reviser is shown the self-review.
        self._review = None


def as_drafted(carries: bool, idea: CandidateIdea, near: Sequence[Reference]) -> CandidateIdea:
    """An idea as the leader sees it who drafts; Figure 22 shows it without any papers.

    Args:
        carries: are the papers that it builds on, and the objections to it, shown?
        idea: the idea.
        near: the papers near it that are shown.
    """
    shown = replace(idea, references=tuple(near))
    return shown if carries else replace(shown, builds_on=(), objections=())
