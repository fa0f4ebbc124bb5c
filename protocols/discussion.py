"""Discussions in turns, with speaking order, summaries, pacing and consultation of outsiders.

A turn is a meeting. Between two meetings every member does its homework, then the next meeting is
called and its notice period passes. A decision that was put into words in one meeting is read on
the date of the next one. Any protocol can use this module: it knows no stage, no prompt
text and no settings but its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias

from virsci_society.agents.config import Switch
from virsci_society.agents.prompts.dialogue import Advice, TurnPosition, Utterance
from virsci_society.agents.prompts.prompt import Prompts
from virsci_society.protocols.forms import AnotherTurn, GuestReply, Summary
from virsci_society.society.kernel.answer import Answer
from virsci_society.society.kernel.calls import text_of
from virsci_society.society.teams.consultations import Chooser, named_guest

if TYPE_CHECKING:
    import numpy as np

    from virsci_society.agents.profile import Profile
    from virsci_society.agents.replies.form import Form
    from virsci_society.society.kernel.process import Process
    from virsci_society.society.teams.lab import Lab
    from virsci_society.society.teams.team import Team

Utterances: TypeAlias = "tuple[Utterance | Answer[Advice | None], ...]"
"""What was said in a turn, in order and unread: by whom, and what guests were asked and said."""
Profiles: TypeAlias = "Answer[tuple[Profile, ...]] | tuple[()]"
"""Profiles found by a search, unread; empty where the search is switched off."""


@dataclass(slots=True)
class Turn:
    """One turn of a discussion: a meeting in which the members speak.

    Attributes:
        number: from 1.
        speakers: places in the speaking order, from 0, and masked names.
        said: what has been said in it, which the stage adds; unread.
    """

    number: int
    speakers: tuple[tuple[int, str], ...]
    said: Utterances = ()


@dataclass(frozen=True, slots=True)
class DiscussionSettings:
    """How a discussion is held, whatever it is about.

    Attributes:
        pacing: ``fixed``: a stated number of turns; ``adaptive``: after each turn the leader
            decides whether there is another.
        max_turns: most turns with adaptive pacing (>= 1).
        decision_lag: turns that are held after the leader has decided that a stage is to end
            (>= 0). With 1, a decision is read one meeting later, and nobody waits for it.
        speaking_order: ``round_table`` or ``random``, see ``speaking_order``.
        invitation: may a speaker put a question to a scientist outside the team?
        guests: ``advise``: the guest's answer is part of the discussion; ``join``: the guest
            becomes a member by the next turn, and nobody sees its answer.
        asking: ``question``: a question is put to one of the outsiders shown; ``by_the_way``:
            whoever is named in an utterance with these words is consulted, and nobody is shown.
        outsiders: outside scientists shown to a speaker, or consulted at most after one utterance
            with ``by_the_way`` (>= 1).
        knowledge: are profiles that are relevant to the text at hand shown to a speaker?
        profiles: how many of them (>= 1).
        memory: ``own``: a speaker's prompt holds lines from its other teams.
        sentences: first sentences of an abstract that a prompt shows; None: all.
        guest_papers: own papers that a scientist who is consulted is shown (>= 0).

    Example:
        >>> settings = vs.DiscussionSettings(speaking_order="random", invitation="off")
        >>> settings.speaking_order, settings.pacing, settings.max_turns
        ('random', 'fixed', 7)
    """

    pacing: Literal["fixed", "adaptive"] = "fixed"
    max_turns: int = 7
    decision_lag: int = 0
    speaking_order: Literal["round_table", "random"] = "round_table"
    invitation: Switch = "on"
    guests: Literal["advise", "join"] = "advise"
    asking: Literal["question", "by_the_way"] = "question"
    outsiders: int = 3
    knowledge: Switch = "on"
    profiles: int = 3
    memory: Literal["off", "own"] = "off"
    sentences: int | None = None
    guest_papers: int = 0


def speaking_order(
    members: Sequence[str],
    order: str,
    rng: np.random.Generator,
    opener: str | None = None,
    before: str | None = None,
) -> list[str]:
    """The speakers of one turn, one for each member.

    With ``round_table`` every member speaks once. With ``random`` each speaker is drawn, but
    never the same one twice running, so some may stay silent.

    Args:
        members: masked names, the leader first.
        order: ``round_table`` or ``random``.
        rng: the stream of this turn's draws.
        opener: the member who speaks first in a random order; None: drawn like the others.
        before: the last speaker of the turn before.

    Returns:
        Masked names, as many as there are members.
    """
    if order == "round_table" or len(members) == 1:
        return list(members)
    speakers: list[str] = [] if opener is None else [opener]
    while len(speakers) < len(members):
        last = speakers[-1] if speakers else before
        free = [member for member in members if member != last]
        speakers.append(free[int(rng.integers(len(free)))])
    return speakers


def text_said_by_the_way(utterance: Any) -> str:
    """The text of an utterance with the words "by the way"; of any other, nothing.

    Source: ``group_discuss`` of the published program of VirSci, which looks for the words in these
    two spellings (``protocols/virsci/released_code.py``).
    """
    text = text_of(utterance)
    return text if "by the way" in text or "By the way" in text else ""


def guest_at(place: int, utterance: Any, named: Sequence[Profile]) -> Profile | None:
    """The scientist at a place among those whom an utterance names; None: there are fewer."""
    return named[place] if place < len(named) else None


class Discussion:
    """One stage of one team, held in turns, which the stage drives.

    ::

        with discussion:
            while turn := (yield from discussion.next_turn()):
                for seat, speaker in turn.speakers:
                    remark, guest = yield from discussion.utter(speaker, seat, ...)
                    turn.said += (Utterance(speaker, remark), *guest)
        yield from discussion.seat_last_guests()

    Whatever ends the ``with`` block ends the meeting under way.

    Args:
        settings: pacing, speaking order, consultation of outsiders, knowledge, memory.
        team: whose members speak.
        lab: the team's access to the world.
        turns: number of turns with fixed pacing (>= 1).
        prompts: a folder with the pages ``summary``, ``another_turn`` and ``guest``.
        name: name of the stage, as a reader of prompts knows it.
        heard_later: is the answer to a question of the last speaker used after the stage? If not,
            that speaker is shown nobody to ask.

    Attributes:
        summaries: the leader's summaries of all turns but the last, unread.
        last_turn: what was said in the last turn, unread.
        advice: what guests were asked and said in all turns, unread.
        begun: has somebody spoken in the stage before its first turn?

    Example:
        >>> settings = vs.DiscussionSettings(pacing="adaptive", max_turns=4)
        >>> with vs.Discussion(settings, team, lab, turns=2, prompts={}) as discussion:
        ...     discussion.adaptive, discussion.name, discussion.summaries
        (True, 'discussion', ())
    """

    def __init__(
        self,
        settings: DiscussionSettings,
        team: Team,
        lab: Lab,
        turns: int,
        prompts: Prompts,
        *,
        name: str = "discussion",
        heard_later: bool = True,
    ) -> None:
        self.settings, self.team, self.lab = settings, team, lab
        self.turns = turns
        self.prompts = prompts
        self.name, self.heard_later = name, heard_later
        self.summaries: tuple[Answer[Summary], ...] = ()
        self.last_turn: Utterances = ()
        self.advice: tuple[Answer[Advice | None], ...] = ()
        self.begun = False
        self._joining: list[Answer[Advice | None]] = []
        self._meeting = ExitStack()
        self._turn = Turn(0, ())
        self._summary: Answer[Summary] | None = None
        self._decisions: list[Answer[AnotherTurn]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._meeting.__exit__(kind, error, trace)

    @property
    def adaptive(self) -> bool:
        """True if the leader decides on each further turn."""
        return self.settings.pacing == "adaptive"

    @property
    def most_turns(self) -> int:
        """The number of turns; with adaptive pacing, the most there can be."""
        return self.settings.max_turns if self.adaptive else self.turns

    def position(self, seat: int | None = None) -> TurnPosition:
        """Where in the team's work a question of the present turn is asked.

        Args:
            seat: place in the speaking order, from 0; None: who is asked does not speak in turn.
        """
        seats, place = (len(self._turn.speakers), seat + 1) if seat is not None else (0, 0)
        return TurnPosition(
            stage=self.name,
            round=self._turn.number,
            rounds=self.most_turns,
            seat=place,
            seats=seats,
            adaptive=self.adaptive,
            attempt=self.lab.visit,
            begun=self.begun,
        )

    def next_turn(
        self, *, summarised: bool = True, opener: str | None = None, closing: bool = False
    ) -> Process[Turn | None]:
        """End the turn under way, and begin the next; the members are present when it returns.

        At its end ``summaries`` and ``last_turn`` hold what was said. The last meeting goes on
        until the ``with`` block ends, so that a stage can end in it.

        Args:
            summarised: does the leader summarise each turn but the last?
            opener: the member who speaks first in the first turn of a random order.
            closing: do the members do something together in the last meeting? With adaptive
                pacing, the meeting that was called when the leader ended the stage is then held.

        Returns:
            The turn; None after the last.
        """
        ended = self._turn
        if ended.number:
            self.last_turn = ended.said
            if ended.number == self.most_turns:
                return None
            yield from self._conclude(ended, summarised)
            self._meeting.close()
        yield from self.lab.prepare()
        yield from self.lab.notice()
        # Before the meeting is convened, because it asks for those who are members by then.
        self._seat_guests()
        over = self._is_over(ended.number)
        if over and not closing:
            return None
        yield self._meeting.enter_context(self.lab.convene(ended.number + 1))
        if over:
            return None
        if self._summary is not None:
            self.summaries = (*self.summaries, self._summary)
        self._turn = self._begin(ended, opener)
        return self._turn

    def seat_last_guests(self) -> Process[None]:
        """Take in guests of the last turn; called after the ``with`` block.

        Their replies are read on the date of a next meeting, not in the last.
        """
        if self._joining and self.heard_later:
            yield from self.lab.prepare()
            yield from self.lab.notice()
            self._seat_guests()

    def _begin(self, ended: Turn, opener: str | None) -> Turn:
        """The turn after another, with its speakers."""
        number, team = ended.number + 1, self.team
        # A stream per turn: how much one turn draws shifts no other (rule 9).
        rng = self.lab.rng("order", team.stage, self.lab.visit, number)
        last = ended.speakers[-1][1] if ended.speakers else None
        first = opener if number == 1 else None
        order = speaking_order(team.members, self.settings.speaking_order, rng, first, last)
        return Turn(number, tuple(enumerate(order)))

    def _conclude(self, turn: Turn, summarised: bool) -> Process[None]:
        """In the meeting: the leader summarises a turn, and decides whether there is another."""
        if summarised:
            self._summary = yield from self._summarise(turn.said)
        # A decision that could take effect in no turn any more is not asked for.
        if self.adaptive and turn.number + self.settings.decision_lag < self.most_turns:
            leader, summary = self.team.leader, self._summary
            progress = turn.said if summary is None else (Utterance(leader, summary),)
            self._decisions.append((yield from self._decide_on_another(turn.number, progress)))

    def _is_over(self, turns: int) -> bool:
        """Has the leader ended the stage? A decision is read only on the date of a later meeting.

        Args:
            turns: how many have been held.
        """
        decided = turns - 1 - self.settings.decision_lag
        return 0 <= decided < len(self._decisions) and not self._decisions[decided].read().another

    def utter(
        self,
        speaker: str,
        seat: int,
        page: str,
        form: type[Form],
        *,
        cue: Any,
        recall: Any,
        about: Any = "",
        people: bool = True,
        **slots: Any,
    ) -> Process[tuple[Answer[Any], tuple[Answer[Advice | None], ...]]]:
        """One scientist speaks, and may consult an outsider along with it.

        Args:
            speaker: masked name.
            seat: place in the speaking order, from 0.
            page: name of the prompt.
            form: the form of the utterance.
            cue: text or Answer by which relevant profiles and outsiders are found.
            recall: text or Answer by which the speaker's memory is searched, where that is on.
            about: text or Answer: what the team works on, for the page of a guest.
            people: are profiles relevant to the cue shown, where that is on?
            slots: what else the prompt holds.

        Returns:
            The utterance, and the guest's reply as a tuple of one or none; all unread.
        """
        position = self.position(seat)
        # One search for the page and for the question: only those who were shown can be asked.
        may_ask = self._may_ask(position)
        outsiders = self.find_outsiders(cue) if may_ask else ()
        utterance = yield from self.lab.ask(
            speaker,
            self.prompts[page],
            form,
            seat=seat,
            recall=recall if self.settings.memory == "own" else None,
            **slots,
            position=position,
            team=tuple(self.team.members),
            knowledge=self.find_knowledge(cue) if people else (),
            outsiders=outsiders,
            sentences=self.settings.sentences,
        )
        if may_ask and self.settings.asking == "by_the_way":
            advice = self._consult_named(utterance, speaker, about)
        else:
            advice = self.consult(utterance, outsiders, speaker, about)
        self.advice += advice
        return utterance, advice

    def _may_ask(self, position: TurnPosition) -> bool:
        """False where nobody is left to hear the answer."""
        return self.heard_later or not position.closes

    def _consult_named(
        self, utterance: Answer[Any], asker: str, about: Any
    ) -> tuple[Answer[Advice | None], ...]:
        """Consult those whom an utterance names "by the way"; whoever was asked is not again."""
        if self.settings.invitation == "off":
            return ()
        said = self.lab.later(text_said_by_the_way, utterance)
        named = self.lab.library.people_named(said, self.team.members, self._joining)
        found: tuple[Answer[Advice | None], ...] = ()
        for place in range(self.settings.outsiders):
            choose = partial(guest_at, place)
            found += self.consult(utterance, named, asker, about, choose=choose, place=place)
        return found

    def consult(
        self,
        utterance: Answer[Any],
        outsiders: Profiles,
        asker: str,
        about: Any = "",
        *,
        choose: Chooser = named_guest,
        place: int = 0,
    ) -> tuple[Answer[Advice | None], ...]:
        """Pass the question that an utterance may hold to the outsider it names.

        Args:
            utterance: settles to a ``Spoken`` form.
            outsiders: those who were shown to the speaker.
            asker: masked name of the speaker.
            about: text or Answer: what the team works on.
            choose: finds who is asked, given the utterance and the outsiders.
            place: number of the guest among those of one utterance, from 0.

        Returns:
            The guest's reply, unread; nothing where consultation is off or guests join instead.
        """
        if isinstance(outsiders, tuple):
            return ()
        page = self.prompts["guest"]
        own: Any = ()
        if self.settings.guest_papers:
            guest = self.lab.later(choose, utterance, outsiders)
            own = self.lab.library.papers_by(guest, utterance, self.settings.guest_papers)
        reply = self.lab.consult(
            utterance,
            outsiders,
            page,
            GuestReply,
            asker,
            choose=choose,
            place=place,
            stage=self.name,
            about=about,
            own_papers=own,
            sentences=self.settings.sentences,
        )
        if self.settings.guests == "join":
            self._joining.append(reply)
            return ()
        return (reply,)

    def _seat_guests(self) -> None:
        """Take in those who have been consulted, unless they are at their limit of teams."""
        for reply in self._joining:
            advice = reply.read()
            if advice is not None and advice.guest not in self.team.members:
                self.lab.people.join(advice.guest)
        self._joining.clear()

    def find_outsiders(self, cue: Any) -> Profiles:
        """Search scientists outside the team who are relevant to a text and may be consulted."""
        if self.settings.invitation == "off" or self.settings.asking == "by_the_way":
            return ()
        return self.lab.library.people(cue, self.settings.outsiders, without=self.team.members)

    def find_knowledge(self, cue: Any) -> Profiles:
        """Search the profiles of scientists outside the team that are relevant to a text."""
        if self.settings.knowledge == "off":
            return ()
        return self.lab.library.people(cue, self.settings.profiles, without=self.team.members)

    def _summarise(self, said: Utterances) -> Process[Answer[Summary]]:
        return self.lab.ask(
            self.team.leader,
            self.prompts["summary"],
            Summary,
            "summarise",
            position=self.position(),
            team=tuple(self.team.members),
            said=said,
        )

    def _decide_on_another(self, turn: int, progress: Utterances) -> Process[Answer[AnotherTurn]]:
        return self.lab.ask(
            self.team.leader,
            self.prompts["another_turn"],
            AnotherTurn,
            "decide",
            seat=self.team.size,
            position=self.position(),
            turn=turn,
            turns_left=self.most_turns - turn - self.settings.decision_lag,
            turns_held=self.settings.decision_lag,
            progress=progress,
        )
