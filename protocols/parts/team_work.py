"""The work of one team under a research system, with its rounds, questions and searches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

from virsci_society.agents.prompts.dialogue import TurnPosition
from virsci_society.protocols.ideas import CandidateIdea, make_candidate
from virsci_society.society.kernel.answer import Answer

if TYPE_CHECKING:
    from virsci_society.agents.prompts.prompt import Prompts
    from virsci_society.agents.reference import Reference
    from virsci_society.agents.replies.form import Form
    from virsci_society.protocols.forms import Topic
    from virsci_society.protocols.ideas import Idea
    from virsci_society.protocols.parts.forms import Proposal
    from virsci_society.society.kernel.process import Process
    from virsci_society.society.teams.lab import Lab
    from virsci_society.society.teams.team import Team

FormT = TypeVar("FormT", bound="Form")
IdeaT = TypeVar("IdeaT", bound="Idea")
FoundPapers: TypeAlias = "Answer[tuple[Reference, ...]]"
"""Papers found by one search, unread."""


@dataclass(frozen=True, slots=True)
class WorkRules:
    """What all questions of one team have in common.

    Attributes:
        references: papers per search (>= 1).
        sentences: first sentences of an abstract that a page shows; None: all.
        memory: ``own``: who is asked recalls lines from its other teams.
    """

    references: int = 8
    sentences: int | None = 3
    memory: Literal["off", "own"] = "off"


class TeamWork:
    """One team at work; made by ``ResearchSystem.run`` and handed to its stages.

    Args:
        team: whose members work.
        lab: the team's access to the world.
        pages: the prompts of the system.
        rules: what its questions have in common.

    Attributes:
        topic: what the team works on, unread; set by the stage ``topic``.
        found: the results of every search so far, unread.
        proposal: a proposal that the way to the idea has written already, unread.
    """

    def __init__(self, team: Team, lab: Lab, pages: Prompts, rules: WorkRules) -> None:
        self.team, self.lab, self.pages, self.rules = team, lab, pages, rules
        self.topic: Answer[Topic] | Topic | None = None
        self.found: tuple[FoundPapers, ...] = ()
        self.proposal: Answer[Proposal] | None = None
        self._stage, self._round, self._rounds = "", 0, 0

    def search(self, query: Any, count: int | None = None) -> FoundPapers:
        """Find the papers nearest to a text as of now; they count as retrieved.

        Args:
            query: text or Answer.
            count: number of papers; None: the number of the settings.
        """
        papers = self.lab.library.search(query, self.rules.references if count is None else count)
        self.found += (papers,)
        return papers

    def hold_rounds(
        self,
        stage: str,
        rounds: int,
        speak: Callable[[int], Process[None]],
        over: Callable[[], bool] | None = None,
        first: int = 1,
    ) -> Process[int]:
        """Hold rounds, each in a meeting of its own, with homework before it.

        Args:
            stage: name of the stage as a reader of pages knows it.
            rounds: most rounds (>= 1).
            speak: the process of one round, given its number from 1.
            over: asked on the date of each next meeting, when Answers of the last may be read; True
                ends the rounds, and the meeting that was called is left to what comes next.
            first: number of the first meeting in its stage; more than 1 where a stage holds
                rounds several times.

        Returns:
            The number of rounds held.
        """
        for number in range(1, rounds + 1):
            yield from self.lab.prepare()
            yield from self.lab.notice()
            if number > 1 and over is not None and over():
                return number - 1
            with self.lab.convene(first + number - 1) as everybody:
                yield everybody
                self._stage, self._round, self._rounds = stage, number, rounds
                yield from speak(number)
        return rounds

    def ask(
        self, who: str, page: str, form: type[FormT], act: str = "utter", **slots: Any
    ) -> Process[Answer[FormT]]:
        """Ask one scientist a question and wait for the simulated time that its answer takes.

        Args:
            who: masked name.
            page: name of the prompt.
            form: form of the reply.
            act: kind of act, as in ``Lab.pose``.
            **slots: what the page holds beside the common slots, and ``seat``; ``part`` names the
                role that the scientist has in the team.
        """
        return self.lab.ask(who, self.pages[page], form, act, **self._common(act, slots), **slots)

    def pose(
        self, who: str, page: str, form: type[FormT], act: str = "utter", **slots: Any
    ) -> Answer[FormT]:
        """Ask one scientist a question without waiting, for ``Lab.ask_each``.

        Args:
            who: masked name.
            page: name of the prompt.
            form: form of the reply.
            act: kind of act, as in ``Lab.pose``.
            **slots: what the page holds beside the common slots, and ``seat``.
        """
        return self.lab.pose(who, self.pages[page], form, act, **self._common(act, slots), **slots)

    def candidate(
        self, author: str, idea: Answer[IdeaT], shown: Any = (), previous: Any = ()
    ) -> Answer[CandidateIdea]:
        """An idea with the papers near it, unread.

        Args:
            author: masked name.
            idea: as it was put forward.
            shown: papers that its author was shown.
            previous: the idea that it was made of; the papers it builds on stood on the page.
        """
        near = self.search(idea)
        return self.lab.later(partial(make_candidate, author, True), idea, shown, near, previous)

    def position(self, seat: int, seats: int) -> TurnPosition:
        """Where in the work a question of the present round is asked.

        Args:
            seat: place of the speaker in the round, from 0.
            seats: speakers in the round.
        """
        return TurnPosition(self._stage, self._round, self._rounds, seat + 1, seats)

    def _common(self, act: str, slots: dict[str, Any]) -> dict[str, Any]:
        """The slots of every page: topic, team, sentences, part, and the place in the work."""
        seat = int(slots.get("seat", 0))
        common: dict[str, Any] = {
            "topic": self.topic,
            "team": tuple(self.team.members),
            "sentences": self.rules.sentences,
            "part": "",
            "position": self.position(seat % max(1, self.team.size), max(1, self.team.size)),
        }
        if self.rules.memory == "own" and act == "utter":
            common["recall"] = self.topic
        return {name: value for name, value in common.items() if name not in slots}
