"""HypoGen, by which an analyst, an engineer, a scientist and a critic form a hypothesis in rounds.

``docs/protocols/hypogen.md`` says what is faithful and what is adapted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, cast

from pydantic import Field

from virsci_society.agents.prompts.dialogue import Utterance
from virsci_society.protocols.forms import Critique
from virsci_society.protocols.ideas import CandidateIdea, Idea
from virsci_society.protocols.parts.forms import ReadingNotes
from virsci_society.protocols.parts.research_system import TeamSystem
from virsci_society.protocols.parts.steps import idea_slots, refine, retrieve
from virsci_society.protocols.parts.team_work import TeamWork
from virsci_society.protocols.team_sizes import TeamSize
from virsci_society.society.kernel.answer import Answer

if TYPE_CHECKING:
    from virsci_society.society.kernel.durations import Process

ROLES = ("analyst", "engineer", "scientist", "critic")


class HypoGen(TeamSystem):
    """Analyst, engineer, scientist and critic in rounds over literature (Qi et al., 2024)."""

    citation: ClassVar[str] = (
        'Qi et al. 2024, "Large Language Models as Biomedical Hypothesis Generators: A '
        'Comprehensive Evaluation", arXiv:2407.08940, section on multi-agent collaboration.'
    )

    system: ClassVar[str] = "hypogen"

    team_size: TeamSize | Annotated[int, Field(ge=1, le=10_000)] = 4
    """n, the leader included. The roles go round: with fewer than four members one has several.
    Unit: members. Source: Qi et al. 2024 in kind; the value is assumed."""
    rounds: int = Field(default=3, ge=1, le=50)
    """Rounds in which each role acts once. Unit: rounds. Source: Qi et al. 2024 in kind; the value
    is assumed."""

    def find_idea(self, work: TeamWork) -> Process[Answer[CandidateIdea]]:
        """Hold the rounds; the last hypothesis is taken."""
        return (yield from work.lab.stage("ideas", self._hold_rounds(work)))

    def _hold_rounds(self, work: TeamWork) -> Process[Answer[CandidateIdea]]:
        idea: Answer[CandidateIdea] | None = None
        notes: tuple[Utterance, ...] = ()
        remarks: tuple[Utterance, ...] = ()

        for number in range(1, self.rounds + 1):
            with (yield from work.hold_round("formation of a hypothesis", number, self.rounds)):
                # Members may have left since the last round, so the roles go round anew.
                analyst, engineer, scientist, critic = (self.holder(work, role) for role in ROLES)
                known: dict[str, Any] = {"idea": idea, "notes": (*notes, *remarks)}
                papers = yield from retrieve(work, analyst, self.references, part=ROLES[0], **known)
                read: Answer[ReadingNotes] = yield from work.ask(
                    engineer, "reading", ReadingNotes, seat=1, references=papers, part=ROLES[1]
                )
                notes = (Utterance(engineer, read),)
                idea = yield from self._hypothesise(work, scientist, idea, notes, remarks)
                said: Answer[Critique] = yield from work.ask(
                    critic, "criticism", Critique, "critique", seat=3, idea=idea, part=ROLES[3]
                )
                remarks = (Utterance(critic, said),)
        # There is at least one round, and each leaves an idea.
        return cast("Answer[CandidateIdea]", idea)

    def _hypothesise(
        self,
        work: TeamWork,
        scientist: str,
        idea: Answer[CandidateIdea] | None,
        notes: tuple[Utterance, ...],
        remarks: tuple[Utterance, ...],
    ) -> Process[Answer[CandidateIdea]]:
        """The scientist's hypothesis: a first one, or a better version of the last."""
        if idea is not None:
            refined, _ = yield from refine(
                work,
                scientist,
                idea,
                seat=2,
                feedback=remarks,
                summaries=notes,
                part=ROLES[2],
            )
            return refined
        shown = work.search(work.topic)
        said: Answer[Idea] = yield from work.ask(
            scientist,
            "idea",
            Idea,
            seat=2,
            **idea_slots(shown, summaries=notes),
            part=ROLES[2],
        )
        return work.candidate(scientist, said, shown)

    @staticmethod
    def holder(work: TeamWork, role: str) -> str:
        """The member who has a role now: the roles go round the members, the leader first.

        Args:
            work: of the team.
            role: one of ``ROLES``.
        """
        members = work.team.members
        return members[ROLES.index(role) % len(members)]
