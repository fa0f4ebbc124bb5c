"""HypoGen, by which an analyst, an engineer, a scientist and a critic form a hypothesis in rounds.

``docs/protocols/hypogen.md`` says what is faithful and what is adapted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from virsci_society.agents.prompts.dialogue import Utterance
from virsci_society.protocols.forms import Critique
from virsci_society.protocols.ideas import CandidateIdea, Idea
from virsci_society.protocols.parts.forms import ReadingNotes
from virsci_society.protocols.parts.research_system import TeamSystem
from virsci_society.protocols.parts.steps import refine, retrieve
from virsci_society.protocols.parts.team_work import FoundPapers, TeamWork
from virsci_society.protocols.team_sizes import TeamSize
from virsci_society.society.kernel.answer import Answer

if TYPE_CHECKING:
    from virsci_society.society.kernel.process import Process

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
        idea: list[Answer[CandidateIdea]] = []
        notes: tuple[Utterance, ...] = ()
        remarks: tuple[Utterance, ...] = ()

        def speak(_: int) -> Process[None]:
            nonlocal notes, remarks
            analyst, engineer, scientist, critic = (self.holder(work, role) for role in ROLES)
            current = idea[-1] if idea else None
            papers = yield from retrieve(
                work,
                analyst,
                self.references,
                part=ROLES[0],
                idea=current,
                notes=(*notes, *remarks),
            )
            read = yield from take_notes(work, engineer, papers, seat=1, part=ROLES[1])
            notes = (Utterance(engineer, read),)
            idea.append((yield from self._hypothesise(work, scientist, idea, notes, remarks)))
            said: Answer[Critique] = yield from work.ask(
                critic, "criticism", Critique, "critique", seat=3, idea=idea[-1], part=ROLES[3]
            )
            remarks = (Utterance(critic, said),)

        yield from work.hold_rounds("formation of a hypothesis", self.rounds, speak)
        return idea[-1]

    def _hypothesise(
        self,
        work: TeamWork,
        scientist: str,
        ideas: list[Answer[CandidateIdea]],
        notes: tuple[Utterance, ...],
        remarks: tuple[Utterance, ...],
    ) -> Process[Answer[CandidateIdea]]:
        """The scientist's hypothesis: a first one, or a better version of the last."""
        if ideas:
            refined, _ = yield from refine(
                work,
                scientist,
                ideas[-1],
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
            archive=(),
            summaries=notes,
            previous=None,
            references=shown,
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


def take_notes(
    work: TeamWork, reader: str, papers: FoundPapers, seat: int, part: str = ""
) -> Process[Answer[ReadingNotes]]:
    """One member reads papers for the others.

    Args:
        work: of the team.
        reader: masked name.
        papers: unread.
        seat: place in the round, from 0.
        part: the role of the reader.
    """
    return work.ask(reader, "reading", ReadingNotes, seat=seat, references=papers, part=part)
