"""Who said what, as data in the slots of a prompt and as text on its page.

Everything that somebody wrote stands on lines that begin with ``>``. Each line of the text gets
this mark, so no text can leave its place or pass for a line of the page itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from virsci_society.agents.profile import Profile

MARK = ">"
"""The beginning of a line that others have written."""


class Utterance(NamedTuple):
    """What one member said.

    Attributes:
        speaker: masked name.
        reply: the reply: an Answer until it has settled, then a form with ``words()``.
    """

    speaker: str
    reply: Any

    def words(self) -> str:
        """The words of the reply."""
        return str(self.reply.words())


@dataclass(frozen=True, slots=True)
class Advice:
    """The answer of a scientist outside the team to a question of one of its members.

    Attributes:
        guest: masked name of the scientist who was asked.
        asker: masked name of the member.
        question: what was asked.
        reply: the guest's reply, a form with ``words()``.
    """

    guest: str
    asker: str
    question: str
    reply: Any

    def words(self) -> str:
        """The words of the guest's reply."""
        return str(self.reply.words())


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A part of what somebody said, where the rest of it is not shown.

    Attributes:
        text: the words that are shown.
        title: title of the idea that the words are of; empty: they are of none.
    """

    text: str
    title: str = ""

    def words(self) -> str:
        """The words that are shown."""
        return self.text


@dataclass(frozen=True, slots=True)
class TurnPosition:
    """Where in the work of a team a question is asked.

    Attributes:
        stage: name of the stage, as a reader knows it.
        round: number of the round in the stage, from 1.
        rounds: number of rounds; with adaptive pacing, the most there can be.
        seat: place of the speaker in the round, from 1; 0: no speaker.
        seats: speakers in the round; 0: nobody speaks in turn.
        adaptive: True if the leader may end the stage before its last round.
        attempt: number of times that the team has come to the stage, from 1.
        begun: True if somebody has spoken in the stage before its first round.
    """

    stage: str
    round: int
    rounds: int
    seat: int = 0
    seats: int = 0
    adaptive: bool = False
    attempt: int = 1
    begun: bool = False

    @property
    def opens(self) -> bool:
        """True if nobody has spoken in this attempt at the stage before."""
        return self.round == 1 and self.seat == 1 and not self.begun

    @property
    def closes(self) -> bool:
        """True if nobody speaks in this stage afterwards."""
        return self.round == self.rounds and self.seat == self.seats


def quote(text: str) -> str:
    """A text that others wrote, every line of it marked."""
    lines = [line.rstrip() for line in text.splitlines()]
    return "\n".join(f"{MARK} {line}".rstrip() for line in lines) or MARK


def words_of(value: Any) -> str:
    """The text of a slot: of a form its words, of a text the text itself."""
    return value if isinstance(value, str) else str(value.words())


def flatten(text: str) -> str:
    """A text as one line, for lists in which each entry is one line."""
    return " ".join(text.split())


def describe_position(position: TurnPosition) -> str:
    """The place in the team's work on one line."""
    most = "at most " if position.adaptive else ""
    again = f", attempt {position.attempt}" if position.attempt > 1 else ""
    counted = f", round {position.round} of {most}{position.rounds}" if position.rounds > 1 else ""
    parts = [f"Stage: {position.stage}{again}{counted}"]
    if position.seat == 0 or position.seats == 1:
        return parts[0] + "."
    if position.opens:
        here = " in this attempt" if again else ""
        parts.append(f"you are the first of {position.seats} speakers: nobody has spoken yet{here}")
    elif position.seat == 1:
        parts.append(f"you are the first of {position.seats} speakers in this round")
    elif position.seat == position.seats:
        parts.append(f"you are the last of {position.seats} speakers")
    else:
        parts.append(f"you are speaker {position.seat} of {position.seats}")
    return "; ".join(parts) + "."


def list_names(members: Sequence[Profile | str], me: Profile) -> str:
    """The names of a team, the leader first, with the mark of who is asked."""
    names = [getattr(member, "id", member) for member in members]
    parts = []
    for place, name in enumerate(names):
        notes = [note for note, true in (("leader", place == 0), ("you", name == me.id)) if true]
        parts.append(f"{name} ({', '.join(notes)})" if notes else str(name))
    return ", ".join(parts)


def write_transcript(said: Iterable[Utterance | Advice], me: Profile) -> str:
    """A dialogue with its speakers, in the order of speaking.

    Args:
        said: settled utterances of members and advice of guests.
        me: the scientist who reads it; its own words are marked as such.
    """
    return "\n\n".join(_block(item, me) for item in said)


def _block(item: Utterance | Advice, me: Profile) -> str:
    words = quote(item.words()) if item.words().strip() else "(nothing that could be read)"
    if isinstance(item, Advice):
        asker = "You" if item.asker == me.id else item.asker
        return (
            f"{asker} asked {item.guest}, who is not in the team:\n{quote(item.question)}\n"
            f"{item.guest} answered:\n{words}"
        )
    return f"{name_of(item.speaker, me)}:\n{words}"


def name_of(who: str, me: Profile) -> str:
    """A masked name, marked where it is the reader's own."""
    return f"{who} (you)" if who == me.id else who
