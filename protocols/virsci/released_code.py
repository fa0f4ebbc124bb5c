"""What only the published program of VirSci does, where it departs from the paper.

Read in the copy srush1608/Virtual-Scientists (commit 3ac024a) of
https://github.com/open-sciencelab/Virtual-Scientists, and in RenqiChen/Social_Science (prompts,
embedding, knowledge bank). The stages themselves do what the paper says.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from virsci_society.agents.config import Part
from virsci_society.agents.prompts.slots import Advice, Reference
from virsci_society.protocols.discussion import Discussion, Profiles
from virsci_society.protocols.ideas import (
    SHORTLIST_SIZE,
    Ballot,
    CandidateIdea,
    Weights,
    confidence,
    count_equal,
    count_ties,
    plurality_winner,
    pool_references,
    shortlist,
)
from virsci_society.society.kernel.answer import Answer, text_of
from virsci_society.society.kernel.durations import Process
from virsci_society.society.teams.membership import Chooser, named_guest

if TYPE_CHECKING:
    from virsci_society.agents.profile import Profile

RELEASED_CODE: Mapping[str, Any] = {
    "replacement": "off",
    "topic": {"consensus": "leader", "leaving": "off"},
    "confidence": {"clarity": 3.0, "feasibility": 0.0, "novelty": 0.0},
    "ideas": {"dialogue": "off"},
    "discussion": {"invitation": "topic", "knowledge": "topic", "profiles": 2},
    "prompts": {"ratings": "on", "choices": "coded"},
    "references": {"query": "title", "self_review": 4, "sentences": None},
    "abstract": {"self_review": "recorded", "threshold": 70.0},
    "released_code": {
        "forced_after": 2,
        "guests": "join",
        "asking": "by_the_way",
        "listed": "not_below_best",
        "ranked_by": "next",
        "ballot": "pooled",
        "few_ideas": 5,
        "unreadable_votes": "first_idea",
        "tied_votes": "first_cast",
    },
    "cites": "retrieved",
    "neighbour_query": "abstract_only",
}
"""The departures of https://github.com/open-sciencelab/Virtual-Scientists from the paper."""


class ReleasedCode(Part):
    """Behaviour of the published program only; the defaults are the paper's."""

    forced_after: Annotated[int, Field(ge=1, le=10_000)] | None = None
    """Discussion after which the topic is adopted without consensus; null: none. Unit: discussions.
    Source: published program: 2."""
    guests: Literal["advise", "join"] = "advise"
    """``join``: a consulted scientist becomes a member by the next turn, and its answer is not
    shown. Source: VirSci, section 3.2: ``advise``."""
    asking: Literal["question", "by_the_way"] = "question"
    """Consult by a question to somebody shown, or by naming a scientist together with "by the way".
    Source: VirSci, section 3.2; published program: ``by_the_way``."""
    listed: Literal["all", "not_below_best"] = "all"
    """Candidates for the three ideas: all, or the first and each with at least the confidence of
    the last one listed. Source: VirSci, section 3.2; published program: ``not_below_best``."""
    ranked_by: Literal["own", "next"] = "own"
    """``next``: of more than three ideas, each is ranked by the confidence of the following one,
    and ties go to the earlier. Source: VirSci, section 3.2; published program: ``next``."""
    ballot: Literal["per_idea", "pooled"] = "per_idea"
    """``pooled``: ballots list all ideas' papers together, by date. Source: VirSci, equation 3;
    published program: ``pooled``."""
    few_ideas: Annotated[int, Field(ge=1, le=50)] | None = None
    """Papers per idea on ballots with fewer than three ideas; null: as ``references.per_idea``.
    Unit: papers. Source: published program: 5."""
    unreadable_votes: Literal["abstain", "first_idea"] = "abstain"
    """Meaning of a ballot that remains unreadable. Source: published program: ``first_idea``."""
    tied_votes: Literal["confidence", "first_cast"] = "confidence"
    """Winner of a tie: the more confident idea, or the first voted for. Source: published program:
    ``first_cast``."""


class ReleasedDiscussion(Discussion):
    """A discussion in which outsiders are called "by the way", or join the team, by the rules."""

    def __init__(self, rules: ReleasedCode, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._rules = rules
        self._joining: list[Answer[Advice | None]] = []

    def find_outsiders(self, cue: Any) -> Profiles:
        """Shows nobody if named scientists are called."""
        return () if self._rules.asking == "by_the_way" else super().find_outsiders(cue)

    def consult(
        self,
        utterance: Answer[Any],
        outsiders: Profiles,
        asker: str,
        about: Any = "",
        *,
        choose: Chooser = named_guest,
        place: int = 0,
    ) -> tuple[Answer[Advice | None], ...]:
        """Consult the outsider who is asked, or those who are named "by the way"."""
        if self._rules.asking == "question":
            advice = super().consult(utterance, outsiders, asker, about, choose=choose, place=place)
            return self._heard(advice)
        if self.settings.invitation == "off":
            return ()
        said = self.lab.later(text_said_by_the_way, utterance)
        # Whoever has been called and is about to join is not called again.
        named = self.lab.library.people_named(said, self.team.members, self._joining)
        replies: tuple[Answer[Advice | None], ...] = ()
        for at in range(self.settings.outsiders):
            chosen = partial(guest_at, at)
            advice = super().consult(utterance, named, asker, about, choose=chosen, place=at)
            replies += self._heard(advice)
        return replies

    def _heard(
        self, replies: tuple[Answer[Advice | None], ...]
    ) -> tuple[Answer[Advice | None], ...]:
        """The guests' replies that the team hears; empty if guests join instead."""
        if self._rules.guests == "advise":
            return replies
        # Taken in on the date of the next meeting, when the replies may be read.
        self._joining += replies
        return ()

    def seat_guests(self) -> None:
        """Take in those who have been consulted, unless they are at their limit of teams."""
        for reply in self._joining:
            advice = reply.read()
            if advice is not None and advice.guest not in self.team.members:
                self.lab.people.join(advice.guest)
        self._joining.clear()

    def seat_last_guests(self) -> Process[None]:
        """Take in guests of the last turn, whose replies are read on the date of a next meeting."""
        if self._joining and self.heard_later:
            yield from self.lab.prepare()
            yield from self.lab.notice()
            self.seat_guests()


def text_said_by_the_way(utterance: Any) -> str:
    """The text of an utterance with the words "by the way"; of any other, nothing.

    Source: ``group_discuss`` of the program, which looks for these two spellings.
    """
    text = text_of(utterance)
    return text if "by the way" in text or "By the way" in text else ""


def guest_at(place: int, utterance: Any, named: Sequence[Profile]) -> Profile | None:
    """The scientist at a place among those whom an utterance names; None: there are fewer."""
    return named[place] if place < len(named) else None


def choose_shortlist(
    rules: ReleasedCode, weights: Weights, *ideas: CandidateIdea
) -> tuple[CandidateIdea, ...]:
    """The ideas for the ballot, in the order in which it lists them."""
    listed = ideas_not_below_best(weights, *ideas) if rules.listed == "not_below_best" else ideas
    choose = shortlist_by_next if rules.ranked_by == "next" else shortlist
    return choose(weights, *listed)


def count_shortlist_ties(rules: ReleasedCode, weights: Weights, *ideas: CandidateIdea) -> int:
    """Number of ideas on the ballot that are ranked as high as one that is left out."""
    listed = ideas_not_below_best(weights, *ideas) if rules.listed == "not_below_best" else ideas
    if rules.ranked_by == "own":
        return count_ties(weights, *listed)
    if len(listed) <= SHORTLIST_SIZE:
        return 0
    return count_equal([confidence(idea, weights) for idea in listed[1:]])


def ideas_not_below_best(weights: Weights, *ideas: CandidateIdea) -> tuple[CandidateIdea, ...]:
    """The first idea, and each whose confidence is at least that of the last one kept before it.

    Source: ``generate_idea`` of the published program (see above).
    """
    kept: list[CandidateIdea] = []
    for idea in ideas:
        if not kept or confidence(idea, weights) >= confidence(kept[-1], weights):
            kept.append(idea)
    return tuple(kept)


def shortlist_by_next(weights: Weights, *ideas: CandidateIdea) -> tuple[CandidateIdea, ...]:
    """Three ideas by the confidence of the idea after each, best first.

    Three ideas or fewer stay as they are. Source: ``generate_idea``, whose list of marks begins
    with the second idea, so that the last idea drops out.
    """
    if len(ideas) <= SHORTLIST_SIZE:
        return ideas
    marks = [confidence(idea, weights) for idea in ideas[1:]]
    # Stable: on a tie the earlier one is taken.
    ranked = sorted(range(len(marks)), key=lambda index: -marks[index])
    return tuple(ideas[index] for index in ranked[:SHORTLIST_SIZE])


def first_to_most_votes(
    weights: Weights, ideas: Sequence[CandidateIdea], *ballots: Ballot
) -> CandidateIdea:
    """The idea with most votes; on a tie the one that was voted for first.

    Where nobody has voted for any, the most confident is taken. Source: ``check_novelty``.
    """
    votes = Counter(ballot.choice for ballot in ballots if 0 <= ballot.choice < len(ideas))
    if not votes:
        return plurality_winner(weights, ideas)
    # Equal counts come in the order in which the first of each was counted.
    return ideas[votes.most_common(1)[0][0]]


def count_as_first(ballot: Ballot) -> Ballot:
    """A ballot, with an unreadable decision taken as a vote for the first idea that is listed."""
    return ballot if ballot.choice >= 0 else ballot.model_copy(update={"decision": "Idea 0"})


def pool_by_key(*ideas: CandidateIdea) -> tuple[Reference, ...]:
    """The papers of several ideas without duplicates, in the order of their keys."""
    pooled = pool_references(*ideas)
    return tuple(sorted(pooled, key=lambda paper: int(paper.key[1:]) if paper.key else 0))
