"""The work of one team under a research system, with its rounds, questions and searches."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from virsci_society.agents.prompts.slots import TurnPosition
from virsci_society.protocols.ideas import CandidateIdea, Idea, make_candidate
from virsci_society.society.kernel.answer import Answer

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    from virsci_society.agents.prompts.slots import Reference
    from virsci_society.agents.replies.form import Form
    from virsci_society.protocols.engines.research_system import ResearchSystem
    from virsci_society.protocols.forms import Topic
    from virsci_society.society.kernel.durations import Process
    from virsci_society.society.teams.lab import Lab
    from virsci_society.society.teams.team import Team

FormT = TypeVar("FormT", bound="Form")
IdeaT = TypeVar("IdeaT", bound="Idea")
FoundPapers: TypeAlias = "Answer[tuple[Reference, ...]]"
"""Papers found by one search, unread."""


class TeamWork:
    """One team at work; made by ``ResearchSystem.run`` and handed to its stages."""

    def __init__(self, team: Team, lab: Lab, system: ResearchSystem) -> None:
        self.team, self.lab, self.system, self.pages = team, lab, system, system.pages
        self.topic: Answer[Topic] | Topic | None = None
        self.found: tuple[FoundPapers, ...] = ()
        self.text: Answer[Any] | None = None
        self._stage, self._round, self._rounds = "", 0, 0

    def search(self, query: Any, count: int | None = None) -> FoundPapers:
        """Find the papers nearest to a text or an Answer as of now; they count as retrieved."""
        papers = self.lab.library.search(query, count or self.system.references)
        self.found += (papers,)
        return papers

    def call_meeting(self) -> Process[None]:
        """Let the members do their homework, then wait for the date of the next meeting.

        Answers of the meeting before may be read on that date. A system that is done by then leaves
        the meeting that was called to what comes next.
        """
        yield from self.lab.prepare()
        yield from self.lab.notice()

    def convene(
        self, stage: str, number: int = 1, rounds: int = 1, *, before: int = 0
    ) -> Process[AbstractContextManager[object]]:
        """Hold the meeting that was called, which is one round, until its ``with`` block ends."""
        # Closed here if the wait for its members ends the team; otherwise handed over open.
        with ExitStack() as meeting:
            yield meeting.enter_context(self.lab.convene(before + number))
            self._stage, self._round, self._rounds = stage, number, rounds
            return meeting.pop_all()

    def hold_round(
        self, stage: str, number: int = 1, rounds: int = 1
    ) -> Process[AbstractContextManager[object]]:
        """Call a meeting and hold it: ``with (yield from work.hold_round("vote")):``."""
        yield from self.call_meeting()
        return (yield from self.convene(stage, number, rounds))

    def ask(self, who: str, page: str, form: type[FormT], *act: str, **slots: Any) -> Process[Any]:
        """Ask one scientist a question and wait for the simulated time that its answer takes."""
        (answer,) = yield from self.lab.ask_each(
            [who], lambda _, person: self.pose(person, page, form, *act, **slots)
        )
        return answer

    def pose(
        self, who: str, page: str, form: type[FormT], act: str = "utter", **slots: Any
    ) -> Answer[FormT]:
        """Ask one scientist a question as ``ask`` does, without waiting, for ``Lab.ask_each``."""
        seats, system = slots.pop("seats", 1), self.system
        # Seats of meetings side by side go on from each other, so that calls have ids of their own.
        seat = int(slots.get("seat", 0)) % seats + 1
        common: dict[str, Any] = {
            "topic": self.topic,
            "team": tuple(self.team.members),
            "sentences": system.sentences,
            "part": "",
            "position": TurnPosition(self._stage, self._round, self._rounds, seat, seats),
        }
        if system.profiles == "off":
            common["you"] = f"You are {who}."
        if system.memory == "own" and act == "utter":
            common["recall"] = self.topic
        given = system.temperatures
        temperature = given.get(page) if isinstance(given, Mapping) else given
        prompt = self.pages[page].at_temperature(temperature)
        return self.lab.pose(who, prompt, form, act, **common | slots)

    def ask_each(
        self,
        people: Sequence[str],
        page: str,
        form: type[FormT],
        act: str = "utter",
        own: Sequence[Mapping[str, Any]] | None = None,
        seat: int = 0,
        **slots: Any,
    ) -> Process[list[Answer[FormT]]]:
        """Ask several side by side, each with slots of its own beside those of all."""
        each = own or [{}] * len(people)
        return self.lab.ask_each(
            people,
            lambda n, who: self.pose(who, page, form, act, seat=seat + n, **slots, **each[n]),
        )

    def propose(
        self, people: Sequence[str], shown: Any = None, *, page: str = "idea", **slots: Any
    ) -> Process[tuple[Answer[CandidateIdea], ...]]:
        """Ask for one idea each, side by side: what everybody is shown is the same."""
        papers = self.search(self.topic) if shown is None else shown
        given = {"archive": (), "summaries": (), "said": (), "references": papers, **slots}
        said = yield from self.ask_each(people, page, Idea, **given)
        return tuple(self.candidate(w, idea, papers) for w, idea in zip(people, said, strict=True))

    def candidate(
        self, author: str, idea: Answer[IdeaT], shown: Any = (), previous: Any = ()
    ) -> Answer[CandidateIdea]:
        """An idea with the papers near it, unread; see ``make_candidate``."""
        near = self.search(idea)
        return self.lab.later(partial(make_candidate, author, True), idea, shown, near, previous)


def unrated_idea(**fields: str) -> Idea:
    """An idea whose ratings are the middle of the scale: nobody was asked for any."""
    return Idea(**fields, clarity=5.0, feasibility=5.0, novelty=5.0)
