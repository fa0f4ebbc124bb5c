"""The work of one team under a research system, with its rounds, questions and searches."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

from virsci_society.agents.prompts.slots import TurnPosition
from virsci_society.protocols.ideas import CandidateIdea, Idea, make_candidate
from virsci_society.society.kernel.answer import Answer

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    from virsci_society.agents.prompts.prompt import Prompt, Prompts
    from virsci_society.agents.prompts.slots import Reference
    from virsci_society.agents.replies.form import Form
    from virsci_society.protocols.forms import Topic
    from virsci_society.society.kernel.durations import Process
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
    """

    references: int = 8
    sentences: int | None = 3
    memory: Literal["off", "own"] = "off"
    profiles: bool = True
    temperatures: float | Mapping[str, float] | None = None


class TeamWork:
    """One team at work; made by ``ResearchSystem.run`` and handed to its stages."""

    def __init__(self, team: Team, lab: Lab, pages: Prompts, rules: WorkRules) -> None:
        self.team, self.lab, self.pages, self.rules = team, lab, pages, rules
        self.topic: Answer[Topic] | Topic | None = None
        self.found: tuple[FoundPapers, ...] = ()
        self.text: Answer[Any] | None = None
        self._stage, self._round, self._rounds = "", 0, 0

    def search(self, query: Any, count: int | None = None) -> FoundPapers:
        """Find the papers nearest to a text or an Answer as of now; they count as retrieved."""
        papers = self.lab.library.search(query, self.rules.references if count is None else count)
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

    def ask(
        self, who: str, page: str, form: type[FormT], act: str = "utter", **slots: Any
    ) -> Process[Answer[FormT]]:
        """Ask one scientist a question and wait for the simulated time that its answer takes."""
        seats = slots.pop("seats", 1)
        common = self._common(who, act, slots, seats)
        return self.lab.ask(who, self._page(page), form, act, **common, **slots)

    def pose(
        self, who: str, page: str, form: type[FormT], act: str = "utter", **slots: Any
    ) -> Answer[FormT]:
        """Ask one scientist a question as ``ask`` does, without waiting, for ``Lab.ask_each``."""
        seats = slots.pop("seats", 1)
        common = self._common(who, act, slots, seats)
        return self.lab.pose(who, self._page(page), form, act, **common, **slots)

    def propose(
        self,
        people: Sequence[str],
        shown: Any = None,
        *,
        page: str = "idea",
        form: type[Idea] = Idea,
        seat: int = 0,
        **slots: Any,
    ) -> Process[tuple[Answer[CandidateIdea], ...]]:
        """Ask for one idea each, side by side: what everybody is shown is the same."""
        papers = self.search(self.topic) if shown is None else shown
        given = {"archive": (), "summaries": (), "said": (), "references": papers, **slots}
        said = yield from self.lab.ask_each(
            people, lambda place, who: self.pose(who, page, form, seat=seat + place, **given)
        )
        return tuple(self.candidate(w, idea, papers) for w, idea in zip(people, said, strict=True))

    def candidate(
        self, author: str, idea: Answer[IdeaT], shown: Any = (), previous: Any = ()
    ) -> Answer[CandidateIdea]:
        """An idea with the papers near it, unread; see ``make_candidate``."""
        near = self.search(idea)
        return self.lab.later(partial(make_candidate, author, True), idea, shown, near, previous)

    def _page(self, name: str) -> Prompt:
        given = self.rules.temperatures
        return self.pages[name].at_temperature(
            given.get(name) if isinstance(given, Mapping) else given
        )

    def _common(self, who: str, act: str, slots: dict[str, Any], seats: int) -> dict[str, Any]:
        """The slots of every page: topic, team, sentences, part, and the place in the work."""
        # Seats of meetings side by side go on from each other, so that calls have ids of their own.
        seat = int(slots.get("seat", 0)) % seats + 1
        common: dict[str, Any] = {
            "topic": self.topic,
            "team": tuple(self.team.members),
            "sentences": self.rules.sentences,
            "part": "",
            "position": TurnPosition(self._stage, self._round, self._rounds, seat, seats),
        }
        if not self.rules.profiles:
            common["you"] = f"You are {who}."
        if self.rules.memory == "own" and act == "utter":
            common["recall"] = self.topic
        return {name: value for name, value in common.items() if name not in slots}
