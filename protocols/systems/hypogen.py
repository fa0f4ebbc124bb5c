"""HypoGen, by which an analyst, an engineer, a scientist and a critic form a hypothesis in rounds.

``docs/protocols/hypogen.md`` says what is faithful and what is adapted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, cast

from pydantic import Field

from virsci_society.agents.config import Switch
from virsci_society.agents.prompts.slots import Utterance
from virsci_society.protocols.ideas import CandidateIdea, Idea, without_ratings
from virsci_society.protocols.parts.forms import HypothesisReview, ReadingNotes, SearchQueries
from virsci_society.protocols.parts.research_system import TeamSystem
from virsci_society.protocols.parts.steps import find_by_queries
from virsci_society.protocols.parts.team_work import FormT, TeamWork
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

    published: ClassVar[Mapping[str, Any]] = {
        "rounds": 5,
        "references": 3,
        "profiles": "off",
        "temperatures": 0.2,
    }
    matched: ClassVar[Mapping[str, Any]] = {"early_end": "off"}

    team_size: TeamSize | Annotated[int, Field(ge=1, le=10_000)] = 4
    """n, the leader included. The roles go round: with fewer than four members one has several.
    Unit: members. Source: Qi et al. 2024."""
    rounds: int = Field(default=3, ge=1, le=50)
    """Most rounds in which each role acts once. Unit: rounds. Source: Qi et al. 2024 (at most 20
    messages: 5); the value is assumed."""
    early_end: Switch = "on"
    """Do the rounds end when the critic approves the hypothesis? Off: all rounds are held, which
    studies that match systems by calls need. Source: Qi et al. 2024."""

    def find_idea(self, work: TeamWork) -> Process[Answer[CandidateIdea]]:
        """Hold the rounds; the last hypothesis is taken."""
        return (yield from work.lab.stage("ideas", self._hold_rounds(work)))

    def _hold_rounds(self, work: TeamWork) -> Process[Answer[CandidateIdea]]:
        idea: Answer[CandidateIdea] | None = None
        verdict: Answer[HypothesisReview] | None = None
        said: tuple[Utterance, ...] = ()
        for number in range(1, self.rounds + 1):
            yield from work.call_meeting()
            # On the date of the next round, whose meeting is not held if the critic is content.
            if self.early_end == "on" and verdict is not None and verdict.read().approved:
                break
            with (yield from work.convene("formation of a hypothesis", number, self.rounds)):
                ends = self.early_end == "on" and number < self.rounds
                idea, verdict, said = yield from self._hold_round(work, idea, said, ends)
        # There is at least one round, and each leaves an idea.
        return cast("Answer[CandidateIdea]", idea)

    def _hold_round(
        self,
        work: TeamWork,
        idea: Answer[CandidateIdea] | None,
        said: tuple[Utterance, ...],
        ends: bool,
    ) -> Process[tuple[Answer[CandidateIdea], Answer[HypothesisReview], tuple[Utterance, ...]]]:
        """One round, in which everybody reads the whole conversation and adds to it."""
        # Members may have left since the last round, so the roles go round anew.
        analyst, engineer, scientist, critic = (self.holder(work, role) for role in ROLES)
        asked = yield from self._act(work, analyst, 0, SearchQueries, said)
        said += (Utterance(analyst, asked),)
        papers = find_by_queries(work, asked, self.references)
        read = yield from self._act(work, engineer, 1, ReadingNotes, said, papers)
        said += (Utterance(engineer, read),)
        formed = yield from self._act(work, scientist, 2, Idea, said, papers)
        candidate = work.candidate(scientist, formed, papers, () if idea is None else idea)
        said += (Utterance(scientist, work.lab.later(without_ratings, formed)),)
        judged = yield from self._act(
            work, critic, 3, HypothesisReview, said, idea=candidate, ends=ends
        )
        said += (Utterance(critic, judged),)
        return candidate, judged, said

    def _act(
        self,
        work: TeamWork,
        who: str,
        seat: int,
        form: type[FormT],
        said: tuple[Utterance, ...],
        papers: Any = (),
        **slots: Any,
    ) -> Process[Answer[FormT]]:
        part, act = ROLES[seat], "critique" if seat == 3 else "utter"
        roles = tuple((role, self.holder(work, role)) for role in ROLES)
        slots = {
            "ends": False,
            "said": said,
            "references": papers,
            "part": part,
            "seat": seat,
            "roles": roles,
            **slots,
        }
        return work.ask(who, "hypothesis", form, act, **slots)

    @staticmethod
    def holder(work: TeamWork, role: str) -> str:
        """The member who has a role now: the roles go round the members, the leader first."""
        members = work.team.members
        return members[ROLES.index(role) % len(members)]
