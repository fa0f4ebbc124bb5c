"""Stage 5, abstract generation: a draft, K turns of scoring and rewriting, and the self-review."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from pydantic import Field

from virsci_society.agents.config import Part, Switch
from virsci_society.agents.errors import ProtocolError
from virsci_society.agents.prompts.slots import Advice, Utterance
from virsci_society.protocols.discussion import Discussion
from virsci_society.protocols.forms import Critique, Draft
from virsci_society.protocols.ideas import CandidateIdea
from virsci_society.protocols.virsci.forms import Revision, SelfReview
from virsci_society.protocols.virsci.team_memory import TeamMemory, tell_changes, tell_failed_idea
from virsci_society.society.kernel.answer import Answer
from virsci_society.society.kernel.durations import Process

if TYPE_CHECKING:
    from collections.abc import Sequence

    from virsci_society.agents.prompts.slots import Reference
    from virsci_society.society.teams.lab import Lab
    from virsci_society.society.teams.team import Team


Abstract: TypeAlias = Draft | Revision
"""A text of the abstract, drafted or revised."""


class Written(NamedTuple):
    """An abstract and who wrote this version of it."""

    writer: str
    text: Answer[Abstract]


class AbstractStage(Part):
    """How an abstract is written, and compared with the past."""

    self_review: Switch | Literal["recorded"] = "off"
    """The leader compares the abstract with past ones; ``recorded``: without consequences. Source:
    VirSci, appendix B.1 and table 7."""
    threshold: float = Field(default=85.0, ge=0, le=100)
    """Similarity at or above which the overlap is too large. Unit: similarity, 0..100. Source:
    separates the pairs of VirSci, figure 35."""
    one_draft: Switch = "off"
    """One scientist writes the abstract and nobody revises it."""
    new_ideas: int = Field(default=1, ge=0, le=1000)
    """Restarts from new ideas after two strikes. Unit: rounds."""


class SelfReviewResult(NamedTuple):
    """What the leader found in an abstract, unread, for the prompt of a revision."""

    review: Answer[SelfReview]
    near: Answer[tuple[Reference, ...]]


def write_abstract(
    team: Team,
    lab: Lab,
    make_discussion: Callable[[], Discussion],
    rules: AbstractStage,
    idea: Answer[CandidateIdea],
    memory: TeamMemory,
    *,
    without_title: bool,
) -> Process[Answer[Abstract] | None]:
    """Generate and, where it is switched on, self-review the abstract."""
    result: SelfReviewResult | None = None
    draft: Written | None = None
    uses = memory.references
    # The first strike is answered by a revision, the second ends the idea.
    for _ in range(2):
        writing = generate_abstract(
            make_discussion(), idea, memory, draft, result, rules.one_draft == "on"
        )
        draft = yield from lab.stage("abstract", writing)
        if rules.self_review == "off":
            return draft.text
        # By the text that will be embedded as the paper: the review meets the same neighbours.
        query = lab.later(abstract_of, draft.text) if without_title else draft.text
        count = uses.count if uses.self_review is None else uses.self_review
        near = lab.library.search(query, count)
        page, shown = memory.prompts["self_review"], {"draft": draft.text, "near": near}
        review = yield from lab.ask(team.leader, page, SelfReview, "review", **shown)
        result = SelfReviewResult(review, near)
        if rules.self_review == "recorded":
            return draft.text
        # The review is read by the next meeting.
        yield from lab.prepare()
        yield from lab.notice()
        highest = result.review.read().highest
        if highest < rules.threshold:
            return draft.text
        team.strikes += 1
        lab.event("strike", strikes=team.strikes)
    memory.failed_ideas += (lab.later(partial(tell_failed_idea, highest), idea),)
    return None


def abstract_of(text: Abstract) -> str:
    """The abstract without its title, for protocols that embed it alone."""
    return text.abstract


Guest: TypeAlias = tuple[Answer[Advice | None], ...]
"""The unread reply of the guest of one utterance; empty if nobody was asked."""


def generate_abstract(
    discussion: Discussion,
    idea: Answer[CandidateIdea],
    memory: TeamMemory,
    written: Written | None,
    self_review: SelfReviewResult | None,
    one_draft: bool,
) -> Process[Written]:
    """The leader drafts an abstract on an idea, every next speaker revises it (Eq. 4)."""
    team, lab = discussion.team, discussion.lab
    # A later text: its authors and its reviewer have replied before.
    discussion.begun = written is not None
    guest: Guest = ()
    changes: tuple[Answer[Utterance | None], ...] = ()
    with discussion:
        # Also in random order the abstract begins with the leader.
        while turn := (yield from discussion.next_turn(summarised=False, opener=team.leader)):
            for seat, speaker in turn.speakers:
                if written is None:
                    text, guest = yield from _draft(discussion, idea, memory, speaker, seat)
                else:
                    text, guest = yield from discussion.utter(
                        speaker,
                        seat,
                        "revision",
                        Revision,
                        cue=written.text,
                        recall=written.text,
                        about=idea,
                        people=memory.switches.profiles_in_abstract == "on",
                        draft=written.text,
                        writer=written.writer,
                        guest=guest,
                        idea=idea if memory.carries else None,
                        changes=memory.shown(changes[-team.size :]),
                        review=None if self_review is None else self_review.review,
                        near=() if self_review is None else self_review.near,
                        critique=memory.shown(memory.critique),
                    )
                    changes += (lab.later(partial(tell_changes, speaker), text),)
                    # Only the first reviser is shown the self-review.
                    self_review = None
                written = Written(speaker, text)
                turn.said = (Utterance(*written),)
                if one_draft:
                    return written
    if written is None:
        raise ProtocolError(f"{team.id}: an abstract needs at least one speaker")
    return written


def _draft(
    discussion: Discussion, idea: Answer[CandidateIdea], memory: TeamMemory, speaker: str, seat: int
) -> Process[tuple[Answer[Abstract], Guest]]:
    """The first text, by the leader, after another member has examined the idea, if one does."""
    team, lab = discussion.team, discussion.lab
    switches, references = memory.switches, memory.references
    if switches.critique == "on" and team.size > 1:
        # The author of the idea is known only when it is read. From the last who joined: the
        # leader, who writes, only where nobody else is left.
        author = idea.read().author
        critic = next(member for member in team.members[::-1] if member != author)
        said: Answer[Critique] = yield from lab.ask(
            critic,
            memory.prompts["critique"],
            Critique,
            "critique",
            topic=memory.shown(memory.topic),
            idea=idea,
            sentences=discussion.sentences,
        )
        discussion.begun = True
        memory.critique = (lab.later(partial(Utterance, critic), said),)
    # A separate search: ideas may have been generated without papers.
    near = lab.library.search(idea, references.count) if references.draft == "on" else ()
    return (
        yield from discussion.utter(
            speaker,
            seat,
            "draft",
            Draft,
            cue=idea,
            recall=idea,
            about=idea,
            people=switches.profiles_in_abstract == "on",
            idea=lab.later(partial(as_drafted, memory.carries), idea, near),
            critique=memory.critique,
            advice=memory.shown(memory.advice),
            tried=memory.failed_ideas,
            reasons=memory.carries,
            ratings=memory.ratings,
        )
    )


def as_drafted(carries: bool, idea: CandidateIdea, near: Sequence[Reference]) -> CandidateIdea:
    """An idea as the leader sees it who drafts; Figure 22 shows it without any papers."""
    shown = replace(idea, references=tuple(near))
    return shown if carries else replace(shown, builds_on=(), objections=())
