"""The Virtual Lab, whose team holds the same meeting several times and merges the outcomes.

``docs/protocols/virtual_lab.md`` says what is faithful and what is adapted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from virsci_society.agents.prompts.dialogue import Utterance
from virsci_society.agents.prompts.prompt import Prompts
from virsci_society.protocols.ideas import Idea
from virsci_society.protocols.parts.forms import Contribution
from virsci_society.protocols.parts.research_system import TeamSystem, pages_beside
from virsci_society.protocols.parts.steps import aggregate, idea_slots
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
    a team of one or two nobody is the critic.
    """

    citation: ClassVar[str] = (
        'Swanson et al. 2025, "The Virtual Lab of AI agents designs new SARS-CoV-2 '
        'nanobodies", Nature.'
    )

    system: ClassVar[str] = "virtual_lab"
    pages: ClassVar[Prompts] = pages_beside(__file__)

    team_size: TeamSize | Annotated[int, Field(ge=1, le=10_000)] = 4
    """n, the leader included: a number, ``{use: observed}`` or ``{use: stated, weights: ...}``.
    Unit: members. Source: Swanson et al. 2025 in kind; the value is assumed."""
    rounds: int = Field(default=2, ge=1, le=20)
    """Rounds of one meeting. Unit: rounds. Source: Swanson et al. 2025 in kind; the value is
    assumed."""
    parallel: int = Field(default=2, ge=1, le=20)
    """Meetings with the same agenda that are held side by side and merged. Unit: meetings. Source:
    Swanson et al. 2025 in kind; the value is assumed."""

    def find_idea(self, work: TeamWork) -> Process[Answer[CandidateIdea]]:
        """Hold the meetings in rounds, close each with an idea, merge the ideas."""
        return (yield from work.lab.stage("ideas", self._meet(work)))

    def _meet(self, work: TeamWork) -> Process[Answer[CandidateIdea]]:
        transcripts: list[tuple[Utterance, ...]] = [()] * self.parallel
        shown = work.search(work.topic)
        meeting, rounds = "team meeting", self.rounds + 1 + int(self.parallel > 1)
        for number in range(1, self.rounds + 1):
            with (yield from work.hold_round(meeting, number, rounds)):
                speeches = [
                    self._hold_round(work, place, transcript, shown)
                    for place, transcript in enumerate(transcripts)
                ]
                new = yield from work.lab.together(*speeches)
                # After all of them: a meeting hears itself alone, and not the others of its round.
                transcripts = [old + more for old, more in zip(transcripts, new, strict=True)]
        with (yield from work.hold_round(meeting, self.rounds + 1, rounds)):
            ideas = yield from self._close(work, transcripts, shown)
        if self.parallel == 1:
            return ideas[0]
        with (yield from work.hold_round(meeting, rounds, rounds)):
            return (yield from aggregate(work, ideas, part=INVESTIGATOR))

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
                said=(*before, *said),
                references=shown,
                searching=False,
                part=part_of(seat, len(members)),
            )
            said += (Utterance(who, reply),)
        return said

    @staticmethod
    def _close(
        work: TeamWork, transcripts: list[tuple[Utterance, ...]], shown: FoundPapers
    ) -> Process[tuple[Answer[CandidateIdea], ...]]:
        """The principal investigator makes one idea of each meeting, side by side."""
        leader = work.team.leader

        def pose(seat: int, who: str) -> Answer[Idea]:
            slots = idea_slots(shown, summaries=transcripts[seat])
            return work.pose(who, "idea", Idea, seat=seat, part=INVESTIGATOR, **slots)

        said = yield from work.lab.ask_each([leader] * len(transcripts), pose)
        return tuple(work.candidate(leader, idea, shown) for idea in said)


def part_of(seat: int, size: int) -> str:
    """The part of the member at a seat, from 0, in a team of a size."""
    if seat == 0:
        return INVESTIGATOR
    return CRITIC if seat == size - 1 and size > 2 else SPECIALIST
