"""A debate of several scientists, as a baseline for systems with roles and stages.

``docs/protocols/debate.md`` says what is faithful and what is adapted.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from virsci_society.protocols.ideas import (
    SHORTLIST_SIZE,
    Ballot,
    CandidateIdea,
    Idea,
    plurality_winner,
    pool_references,
    shortlist,
)
from virsci_society.protocols.parts.forms import RefinedIdea
from virsci_society.protocols.parts.research_system import TeamSystem
from virsci_society.protocols.parts.steps import idea_slots, refinement_slots
from virsci_society.protocols.parts.team_work import TeamWork

if TYPE_CHECKING:
    from virsci_society.society.kernel.answer import Answer
    from virsci_society.society.kernel.durations import Process

EQUAL = (1.0, 1.0, 1.0)
Ideas = tuple["Answer[CandidateIdea]", ...]


class Debate(TeamSystem):
    """Ideas put forward alone, revised in sight of the others', and a vote (Du et al., 2023)."""

    citation: ClassVar[str] = (
        'Du et al. 2023, "Improving Factuality and Reasoning in Language Models through '
        'Multiagent Debate", arXiv:2305.14325.'
    )

    system: ClassVar[str] = "debate"

    rounds: int = Field(default=2, ge=1, le=50)
    """Rounds of debate, after everybody has put forward an idea. Unit: rounds. Source: Du et al.
    2023 in kind; the value is assumed."""

    def find_idea(self, work: TeamWork) -> Process[Answer[CandidateIdea]]:
        """Put forward, debate, vote."""
        ideas = yield from work.lab.stage("ideas", self._debate(work))
        return (yield from work.lab.stage("novelty", self._vote(work, ideas)))

    def _debate(self, work: TeamWork) -> Process[Ideas]:
        rounds = self.rounds + 1
        with (yield from work.hold_round("debate", 1, rounds)):
            # In the meeting, since who is a member may change until it is held.
            authors = tuple(work.team.members)
            ideas = yield from propose_alone(work)
        for number in range(2, rounds + 1):
            with (yield from work.hold_round("debate", number, rounds)):
                ideas = yield from revise_in_sight(work, authors, ideas)
        return ideas

    def _vote(self, work: TeamWork, ideas: Ideas) -> Process[Answer[CandidateIdea]]:
        members = work.team.members
        listed = work.lab.later(partial(shortlist, EQUAL), *ideas)
        size = min(SHORTLIST_SIZE, len(ideas))
        on_ballot = tuple(work.lab.later(partial(idea_at, place), listed) for place in range(size))
        with (yield from work.hold_round("vote")):
            ballots: list[Answer[Ballot]] = yield from work.lab.ask_each(
                members,
                lambda seat, voter: work.pose(
                    voter,
                    "ballot",
                    Ballot,
                    "vote",
                    seat=seat,
                    ideas=on_ballot,
                    papers=work.lab.later(pool_references, *on_ballot),
                    pooled=False,
                    ratings=False,
                    extras=(),
                ),
            )
        return work.lab.later(partial(plurality_winner, EQUAL), listed, *ballots)


def propose_alone(work: TeamWork) -> Process[Ideas]:
    """Every member puts forward an idea side by side, without seeing the others'."""
    members = tuple(work.team.members)
    shown = work.search(work.topic)
    said = yield from work.lab.ask_each(
        members,
        lambda seat, who: work.pose(who, "idea", Idea, seat=seat, **idea_slots(shown)),
    )
    return tuple(work.candidate(who, idea, shown) for who, idea in zip(members, said, strict=True))


def revise_in_sight(work: TeamWork, authors: tuple[str, ...], ideas: Ideas) -> Process[Ideas]:
    """Every author who is still a member revises its own idea in sight of the others'.

    Args:
        work: of the team.
        authors: masked names, one per idea.
        ideas: as they stand.
    """
    places = [place for place, author in enumerate(authors) if author in work.team.members]
    near = {place: work.search(ideas[place]) for place in places}

    def pose(index: int, who: str) -> Answer[RefinedIdea]:
        place = places[index]
        others = ideas[:place] + ideas[place + 1 :]
        slots = refinement_slots(ideas[place], near[place], others=others)
        return work.pose(who, "refinement", RefinedIdea, seat=place, **slots)

    said = yield from work.lab.ask_each([authors[place] for place in places], pose)
    after = dict(enumerate(ideas))
    for place, one in zip(places, said, strict=True):
        after[place] = work.candidate(authors[place], one, near[place], ideas[place])
    return tuple(after.values())


def idea_at(place: int, ideas: tuple[CandidateIdea, ...]) -> CandidateIdea:
    """The idea at a place of a list that has settled."""
    return ideas[place]
