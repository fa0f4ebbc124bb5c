"""Discussions in turns, with speaking order, summaries, pacing and consultation of outsiders."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias

from pydantic import Field

from virsci_society.agents.config import Part, Switch
from virsci_society.agents.prompts.prompt import Prompts
from virsci_society.agents.prompts.slots import Advice, TurnPosition, Utterance
from virsci_society.protocols.forms import AnotherTurn, GuestReply, Summary
from virsci_society.society.kernel.answer import Answer
from virsci_society.society.teams.membership import Chooser, named_guest

if TYPE_CHECKING:
    import numpy as np

    from virsci_society.agents.profile import Profile
    from virsci_society.agents.replies.form import Form
    from virsci_society.society.kernel.durations import Process
    from virsci_society.society.teams.lab import Lab
    from virsci_society.society.teams.team import Team

Utterances: TypeAlias = "tuple[Utterance | Answer[Advice | None], ...]"
"""The utterances of a turn, in order and unread, with questions to guests and their replies."""
Profiles: TypeAlias = "Answer[tuple[Profile, ...]] | tuple[()]"
"""Profiles found by a search, unread; empty where the search is switched off."""


@dataclass(slots=True)
class Turn:
    """One turn of a discussion: a meeting in which the members speak."""

    number: int
    speakers: tuple[tuple[int, str], ...]
    said: Utterances = ()


class DiscussionSettings(Part):
    """Settings of discussions.

    Example:
        >>> settings = vs.DiscussionSettings(speaking_order="random", invitation="off")
        >>> settings.speaking_order, settings.pacing, settings.max_turns
        ('random', 'fixed', 7)
    """

    pacing: Literal["fixed", "adaptive"] = "fixed"
    """``adaptive``: the leader decides after each turn whether to continue. Source: VirSci, section
    3.2 and table 9."""
    max_turns: int = Field(default=7, ge=1, le=10_000)
    """Limit of adaptive pacing. Unit: turns. Source: VirSci varies K from 1 to 7."""
    decision_lag: int = Field(default=0, ge=0, le=10)
    """Further turns after the leader's decision to end; with 1 nobody waits for the decision. Unit:
    turns."""
    speaking_order: Literal["round_table", "random"] = "round_table"
    """In turn, or at random without the same speaker twice in a row. Source: VirSci, section 3.2
    and table 8."""
    invitation: Switch | Literal["topic"] = "on"
    """Speakers may consult scientists outside the team; ``topic``: only while discussing the topic.
    Source: VirSci, section 3.2 and table 5."""
    outsiders: int = Field(default=3, ge=1, le=20)
    """Outside scientists shown to a speaker; with ``by_the_way``, the most called by one reply.
    Unit: people."""
    knowledge: Switch | Literal["topic"] = "on"
    """Prompts contain the profiles most relevant to the text; ``topic``: only in the topic
    discussion. Source: VirSci, section 3.1."""
    profiles: int = Field(default=3, ge=1, le=20)
    """Profiles per prompt. Unit: people."""

    def in_stage(self, stage: str, *, heard: bool = True) -> Self:
        """The settings of one stage; switches of other stages are off."""
        consults = heard and self.invitation in ("on", stage)
        shows = self.knowledge in ("on", stage)
        held = {"invitation": "on" if consults else "off", "knowledge": "on" if shows else "off"}
        return self.model_copy(update=held)


def speaking_order(
    members: Sequence[str],
    order: str,
    rng: np.random.Generator,
    opener: str | None = None,
    before: str | None = None,
) -> list[str]:
    """The speakers of one turn; if drawn, nobody speaks twice in a row, or after ``before``."""
    if order == "round_table" or len(members) == 1:
        return list(members)
    speakers: list[str] = [] if opener is None else [opener]
    while len(speakers) < len(members):
        last = speakers[-1] if speakers else before
        free = [member for member in members if member != last]
        speakers.append(free[int(rng.integers(len(free)))])
    return speakers


class Discussion:
    """One stage of one team as a sequence of turns, driven by the stage.

    ::

        with discussion:
            while turn := (yield from discussion.next_turn()):
                for seat, speaker in turn.speakers:
                    remark, guest = yield from discussion.utter(speaker, seat, ...)
                    turn.said += (Utterance(speaker, remark), *guest)
        yield from discussion.seat_last_guests()

    Leaving the ``with`` block ends the current meeting.

    Args:
        settings: pacing, speaking order, consultation of outsiders, knowledge.
        turns: number of turns with fixed pacing (>= 1).
        prompts: a folder with the pages ``summary``, ``another_turn`` and ``guest``.
        name: name of the stage in prompts.
        heard_later: is the answer to a question of the last speaker used after the stage? If not,
            that speaker is shown nobody to ask.
        recalls: does a speaker's prompt hold lines from its other teams?
        sentences: sentences of an abstract that a prompt shows; None: all.
        guest_papers: own papers that a scientist who is consulted is shown (>= 0).

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
        recalls: bool = False,
        sentences: int | None = None,
        guest_papers: int = 0,
    ) -> None:
        self.settings, self.team, self.lab = settings, team, lab
        self.recalls, self.sentences, self.guest_papers = recalls, sentences, guest_papers
        self.turns = turns
        self.prompts = prompts
        self.name, self.heard_later = name, heard_later
        self.summaries: tuple[Answer[Summary], ...] = ()
        self.last_turn: Utterances = ()
        self.advice: tuple[Answer[Advice | None], ...] = ()
        self.begun = False
        self._meeting = ExitStack()
        self._turn = Turn(0, ())
        self._summary: Answer[Summary] | None = None
        self._decisions: list[Answer[AnotherTurn]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *end: Any) -> None:
        self._meeting.__exit__(*end)

    @property
    def adaptive(self) -> bool:
        """True if the leader decides on each further turn."""
        return self.settings.pacing == "adaptive"

    @property
    def most_turns(self) -> int:
        """The number of turns; with adaptive pacing, the most there can be."""
        return self.settings.max_turns if self.adaptive else self.turns

    def position(self, seat: int | None = None) -> TurnPosition:
        """Position of a call of the current turn in the team's work."""
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
        """End the current turn and begin the next; returns when the members are present.

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
        ended, team, lab = self._turn, self.team, self.lab
        if ended.number:
            self.last_turn = ended.said
            if ended.number == self.most_turns:
                return None
            yield from self._conclude(ended, summarised)
            self._meeting.close()
        yield from lab.prepare()
        yield from lab.notice()
        # Before the meeting is convened, because it asks for those who are members by then.
        self.seat_guests()
        # The leader's decision is read only on the date of a later meeting.
        decided = ended.number - 1 - self.settings.decision_lag
        over = 0 <= decided < len(self._decisions) and not self._decisions[decided].read().another
        if over and not closing:
            return None
        yield self._meeting.enter_context(lab.convene(ended.number + 1))
        if over:
            return None
        if self._summary is not None:
            self.summaries = (*self.summaries, self._summary)
        number = ended.number + 1
        # A stream per turn: how much one turn draws shifts no other (rule 9).
        rng = lab.rng("order", team.stage, lab.visit, number)
        last = ended.speakers[-1][1] if ended.speakers else None
        first = opener if number == 1 else None
        order = speaking_order(team.members, self.settings.speaking_order, rng, first, last)
        self._turn = Turn(number, tuple(enumerate(order)))
        return self._turn

    def _conclude(self, turn: Turn, summarised: bool) -> Process[None]:
        """In the meeting: the leader summarises a turn, and decides whether there is another."""
        lab, leader, lag = self.lab, self.team.leader, self.settings.decision_lag
        if summarised:
            self._summary = yield from lab.ask(
                leader,
                self.prompts["summary"],
                Summary,
                "summarise",
                position=self.position(),
                team=tuple(self.team.members),
                said=turn.said,
            )
        # A decision that could take effect in no turn any more is not asked for.
        if self.adaptive and turn.number + lag < self.most_turns:
            summary = self._summary
            decision = yield from lab.ask(
                leader,
                self.prompts["another_turn"],
                AnotherTurn,
                "decide",
                seat=self.team.size,
                position=self.position(),
                turn=turn.number,
                turns_left=self.most_turns - turn.number - lag,
                turns_held=lag,
                progress=turn.said if summary is None else (Utterance(leader, summary),),
            )
            self._decisions.append(decision)

    def seat_guests(self) -> None:
        """Admit guests who join the team at a meeting; by default they only advise."""

    def seat_last_guests(self) -> Process[None]:
        """Admit guests of the last turn; called after the ``with`` block."""
        yield from ()

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
        """Let one scientist speak and possibly consult an outsider.

        Args:
            seat: place in the speaking order, from 0.
            cue: text or Answer by which relevant profiles and outsiders are found.
            recall: text or Answer by which the speaker's memory is searched, where that is on.
            about: text or Answer: what the team works on, for the page of a guest.
            people: are profiles relevant to the cue shown, where that is on?

        Returns:
            The utterance, and the guest's reply as a tuple of one or none; all unread.
        """
        position = self.position(seat)
        # One search for the page and for the question: only those who were shown can be asked, and
        # nobody where nobody is left to hear the answer.
        may_ask = self.heard_later or not position.closes
        outsiders = self.find_outsiders(cue) if may_ask else ()
        knowledge: Profiles = ()
        if people and self.settings.knowledge != "off":
            members = self.team.members
            knowledge = self.lab.library.people(cue, self.settings.profiles, without=members)
        utterance = yield from self.lab.ask(
            speaker,
            self.prompts[page],
            form,
            seat=seat,
            recall=recall if self.recalls else None,
            **slots,
            position=position,
            team=tuple(self.team.members),
            knowledge=knowledge,
            outsiders=outsiders,
            sentences=self.sentences,
        )
        advice = self.consult(utterance, outsiders, speaker, about) if may_ask else ()
        self.advice += advice
        return utterance, advice

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
            outsiders: those who were shown to the speaker; () where consultation is off.
            choose: picks the scientist to ask, given the utterance and the outsiders.
            place: index of the guest among those whom one utterance may consult, from 0.
        """
        if isinstance(outsiders, tuple):
            return ()
        page = self.prompts["guest"]
        own: Any = ()
        if self.guest_papers:
            guest = self.lab.later(choose, utterance, outsiders)
            own = self.lab.library.papers_by(guest, utterance, self.guest_papers)
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
            sentences=self.sentences,
        )
        return (reply,)

    def find_outsiders(self, cue: Any) -> Profiles:
        """Search scientists outside the team who are relevant to a text and may be consulted."""
        if self.settings.invitation == "off":
            return ()
        return self.lab.library.people(cue, self.settings.outsiders, without=self.team.members)
