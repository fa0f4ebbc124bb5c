"""Discussion: turns, speaking order, summaries, and outsiders who are consulted.

A turn is a meeting. Between two meetings everybody has homework, then the next meeting is
called with its notice; what was decided by words is read when that date has come.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from agents.prompt import Prompts
from protocols.forms import AnotherTurn, GuestReply, Summary
from society.answer import Answer

if TYPE_CHECKING:
    import numpy as np

    from agents.forms import Form
    from protocols.virsci.settings import Settings
    from society.lab import Lab
    from society.steps import Steps
    from society.team import Team

Said = tuple[Answer[Any], ...]


def speaking_order(
    members: Sequence[str],
    order: str,
    rng: np.random.Generator,
    opener: str | None = None,
    before: str | None = None,
) -> list[str]:
    """Who speaks in a turn of as many utterances as members.

    ``round_table``: in turn. ``random``: anybody, but never the same person twice running.
    ``opener`` speaks first in any case (in turn, the leader does so by itself); ``before`` was
    the last to speak in the turn before.
    """
    if order == "round_table" or len(members) == 1:
        return list(members)
    speakers: list[str] = [] if opener is None else [opener]
    while len(speakers) < len(members):
        last = speakers[-1] if speakers else before
        free = [member for member in members if member != last]
        speakers.append(free[int(rng.integers(len(free)))])
    return speakers


class Discussion:
    """One stage of turns of one team.

    Args:
        settings: pacing, speaking order, invitation, knowledge, memory.
        turns: K of the stage (fixed pacing).
        prompts: where ``summary``, ``another_turn`` and ``guest`` stand.
    """

    def __init__(
        self, settings: Settings, team: Team, lab: Lab, turns: int, prompts: Prompts
    ) -> None:
        self.settings, self.team, self.lab = settings, team, lab
        self.turns = turns
        self.prompts = prompts
        self.summaries: Said = ()
        self.last_turn: Said = ()
        self._joining: list[Answer[Any]] = []

    @property
    def adaptive(self) -> bool:
        """Does the leader decide on each further turn?"""
        return self.settings.pacing == "adaptive"

    def hold(
        self,
        speak: Callable[[int, list[str]], Steps],
        *,
        summarised: bool = True,
        opener: str | None = None,
        closing: Callable[[], Steps] | None = None,
    ) -> Steps:
        """Hold turn after turn; ``speak(turn, speakers)`` returns what was said in the turn.

        Afterwards ``summaries`` holds those of all turns but the last, ``last_turn`` what was
        said in the last. ``opener`` speaks first in the first turn. ``closing`` is what the
        people still do together once the last turn is over; its result is returned.
        """
        result = yield from self._turns(speak, summarised, opener, closing)
        if self._joining and self.team.stage != "abstract":
            yield from self.lab.prepare()
            yield from self.lab.notice()
            self._seat_guests()
        return result

    def _turns(
        self,
        speak: Callable[[int, list[str]], Steps],
        summarised: bool,
        opener: str | None,
        closing: Callable[[], Steps] | None,
    ) -> Steps:
        team, lab = self.team, self.lab
        most = self.settings.max_turns if self.adaptive else self.turns
        goes_on: Answer[Any] | None = None
        speakers: list[str] = []
        summary: Answer[Any] | None = None
        for turn in range(1, most + 1):
            yield from lab.prepare()
            yield from lab.notice()
            self._seat_guests()
            over = goes_on is not None and not goes_on.read().another
            if over and closing is None:
                return None
            with lab.convene(turn) as everybody:
                yield everybody
                if over:
                    return (yield from closing()) if closing is not None else None
                if summary is not None:
                    self.summaries = (*self.summaries, summary)
                rng = lab.rng("order", team.stage, lab.visit, turn)
                first = opener if turn == 1 else None
                order = self.settings.speaking_order
                last = speakers[-1] if speakers else None
                speakers = speaking_order(team.members, order, rng, first, last)
                self.last_turn = yield from speak(turn, speakers)
                if turn == most:
                    return (yield from closing()) if closing is not None else None
                if summarised:
                    summary = yield from self._summarise(self.last_turn)
                if self.adaptive:
                    seen = self.last_turn if summary is None else (summary,)
                    goes_on = yield from self._decide(turn, most, seen)
        return None

    def utter(
        self,
        speaker: str,
        seat: int,
        page: str,
        form: type[Form],
        *,
        cue: Any,
        recall: Any,
        **slots: Any,
    ) -> Steps:
        """One scientist speaks; its words, and what an outsider answered if it asked one.

        Args:
            speaker: masked name.
            seat: place in the speaking order.
            page: name of the prompt.
            form: the form of the words.
            cue: by what relevant profiles are found, of outsiders too.
            recall: by what the speaker's memory is searched, where memory is on.
            slots: what else the prompt holds.
        """
        outsiders = self.outsiders(cue)
        words = yield from self.lab.ask(
            speaker,
            self.prompts[page],
            form,
            seat=seat,
            recall=recall if self.settings.memory == "own" else None,
            **slots,
            knowledge=self.knowledge(cue),
            outsiders=outsiders,
        )
        return words, self.consult(words, outsiders, speaker)

    def consult(self, spoken: Answer[Any], outsiders: Answer[Any] | tuple[()], asker: str) -> Said:
        """The outsider's answer to a question the speaker may have put along with its words.

        Nothing where guests join instead of advising.
        """
        if isinstance(outsiders, tuple):
            return ()
        page = self.prompts["guest"]
        guest = self.lab.consult(spoken, outsiders, page, GuestReply, asker)
        if self.settings.guests == "join":
            self._joining.append(guest)
            return ()
        return (guest,)

    def _seat_guests(self) -> None:
        """Whoever has been consulted is a member from now on, unless at its limit of teams."""
        for guest in self._joining:
            if guest.read() is None:
                continue
            who = guest.calls[0].scientist
            if who not in self.team.members:
                self.lab.join(who)
        self._joining.clear()

    def outsiders(self, cue: Any) -> Answer[Any] | tuple[()]:
        """A few scientists outside the team who are relevant and may be asked."""
        if self.settings.invitation == "off":
            return ()
        return self.lab.people(cue, self.settings.outsiders, without=self.team.members)

    def knowledge(self, cue: Any) -> Answer[Any] | tuple[()]:
        """Profiles relevant to the text at hand, of members and of others."""
        if self.settings.knowledge == "off":
            return ()
        return self.lab.people(cue, self.settings.profiles)

    def _summarise(self, said: Said) -> Steps:
        page, stage = self.prompts["summary"], self.team.stage
        return self.lab.ask(self.team.leader, page, Summary, "summarise", stage=stage, said=said)

    def _decide(self, turn: int, most: int, progress: Said) -> Steps:
        return self.lab.ask(
            self.team.leader,
            self.prompts["another_turn"],
            AnotherTurn,
            "decide",
            seat=self.team.size,
            stage=self.team.stage,
            turn=turn,
            turns_left=most - turn,
            progress=progress,
        )
