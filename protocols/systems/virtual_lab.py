"""The Virtual Lab, whose team holds the same meeting several times and merges the outcomes.

``docs/protocols/virtual_lab.md`` says what is faithful and what is adapted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import Field

from virsci_society.agents.prompts.slots import Utterance
from virsci_society.protocols.parts.forms import Contribution, HypothesisReview, MergedIdea
from virsci_society.protocols.parts.research_system import TeamSystem
from virsci_society.protocols.parts.steps import aggregate, refine
from virsci_society.protocols.parts.team_work import FoundPapers, TeamWork
from virsci_society.protocols.team_sizes import TeamSize

if TYPE_CHECKING:
    from virsci_society.protocols.ideas import CandidateIdea
    from virsci_society.society.kernel.answer import Answer
    from virsci_society.society.kernel.durations import Process

INVESTIGATOR, SPECIALIST, CRITIC = "principal investigator", "specialist", "critic"


class VirtualLab(TeamSystem):
    """Principal investigator, specialists, critic; parallel meetings merged (Swanson et al., 2025).

    The leader is the principal investigator, the last member the critic, all others specialists; in
    a team of one or two nobody is the critic, but of the merging, where the last member is.
    """

    citation: ClassVar[str] = (
        'Swanson et al. 2025, "The Virtual Lab of AI agents designs new SARS-CoV-2 '
        'nanobodies", Nature.'
    )

    system: ClassVar[str] = "virtual_lab"
    published: ClassVar[Mapping[str, Any]] = {
        "rounds": 3,
        "parallel": 5,
        "team_size": 5,
        "temperatures": {
            **dict.fromkeys(("meeting", "closing"), 0.8),
            **dict.fromkeys(("aggregation", "criticism", "refinement"), 0.2),
        },
    }

    team_size: TeamSize | Annotated[int, Field(ge=1, le=10_000)] = 4
    """n, the leader included: a number, ``{use: observed}`` or ``{use: stated, weights: ...}``.
    Unit: members. Source: Swanson et al. 2025 in kind; the value is assumed."""
    rounds: int = Field(default=2, ge=1, le=20)
    """Rounds of a team meeting, and of the meeting that merges several. Unit: rounds. Source:
    Swanson et al. 2025 (3); the value is assumed."""
    parallel: int = Field(default=2, ge=1, le=20)
    """Meetings with the same agenda that are held side by side and merged. Unit: meetings. Source:
    Swanson et al. 2025 (5); the value is assumed."""

    def find_idea(self, work: TeamWork) -> Process[Answer[CandidateIdea]]:
        """Hold the meetings in rounds, close each with an idea, merge the ideas."""
        ideas = yield from work.lab.stage("ideas", self._meet(work))
        if len(ideas) == 1:
            return ideas[0]
        return (yield from work.lab.stage("ideas", self._merge(work, ideas)))

    def _meet(self, work: TeamWork) -> Process[tuple[Answer[CandidateIdea], ...]]:
        """The meetings, side by side, each closed by the investigator with one idea."""
        transcripts: list[tuple[Utterance, ...]] = [()] * self.parallel
        shown = work.search(work.topic)
        stage, rounds = "team meeting", self.rounds + 1
        for number in range(1, rounds):
            with (yield from work.hold_round(stage, number, rounds)):
                speeches = [
                    self._hold_round(work, place, transcript, shown)
                    for place, transcript in enumerate(transcripts)
                ]
                new = yield from work.lab.together(*speeches)
                # After all of them: a meeting hears itself alone, and not the others of its round.
                transcripts = [old + more for old, more in zip(transcripts, new, strict=True)]
        with (yield from work.hold_round(stage, rounds, rounds)):
            closings = (
                work.propose(
                    [work.team.leader],
                    shown,
                    page="closing",
                    form=MergedIdea,
                    roles=roles_of(work),
                    seat=place,
                    said=transcript,
                    part=INVESTIGATOR,
                    agenda=work.pages["agenda"].render({}),
                )
                for place, transcript in enumerate(transcripts)
            )
            closed = yield from work.lab.together(*closings)
        return tuple(idea for (idea,) in closed)

    def _hold_round(
        self, work: TeamWork, place: int, before: tuple[Utterance, ...], shown: FoundPapers
    ) -> Process[tuple[Utterance, ...]]:
        """One round of one of the parallel meetings: each speaker hears all that was said in it."""
        said: tuple[Utterance, ...] = ()
        members = tuple(work.team.members)
        for seat, who in enumerate(members):
            reply: Answer[Contribution] = yield from work.ask(
                who,
                "meeting",
                Contribution,
                seat=place * len(members) + seat,
                seats=len(members),
                said=(*before, *said),
                references=shown,
                searching=False,
                part=part_of(seat, len(members)),
                agenda=work.pages["agenda"].render({}),
                roles=roles_of(work),
            )
            said += (Utterance(who, reply),)
        return said

    def _merge(
        self, work: TeamWork, ideas: tuple[Answer[CandidateIdea], ...]
    ) -> Process[Answer[CandidateIdea]]:
        """The investigator makes one idea of several, and the critic and it go over that."""
        stage, rounds = "merging of the meetings", self.rounds + 1
        with (yield from work.hold_round(stage, 1, rounds)):
            idea = yield from aggregate(work, ideas, INVESTIGATOR, work.pages["agenda"].render({}))
        for number in range(2, rounds + 1):
            with (yield from work.hold_round(stage, number, rounds)):
                leader, critic = work.team.leader, work.team.members[-1]
                said: Answer[HypothesisReview] = yield from work.ask(
                    critic, "criticism", HypothesisReview, "critique", idea=idea, part=CRITIC
                )
                feedback = (Utterance(critic, said),)
                idea, _ = yield from refine(
                    work, leader, idea, seat=1, feedback=feedback, part=INVESTIGATOR
                )
        return idea


def roles_of(work: TeamWork) -> tuple[tuple[str, str], ...]:
    """The members of a team with their parts."""
    members = work.team.members
    return tuple((who, part_of(seat, len(members))) for seat, who in enumerate(members))


def part_of(seat: int, size: int) -> str:
    """The part of the member at a seat, from 0, in a team of a size."""
    if seat == 0:
        return INVESTIGATOR
    return CRITIC if seat == size - 1 and size > 2 else SPECIALIST
