"""Questions that a speaker puts to a scientist outside the team, called consultations.

An utterance may end in a question to a named guest. The question is passed on when the utterance
has settled; it takes no simulated time and no attention. Its row is written, and the guest
remembers it, when the asking team ends (rule 13).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from virsci_society.agents.profile import Profile
from virsci_society.agents.prompts.dialogue import Advice
from virsci_society.society.kernel.answer import Answer
from virsci_society.society.kernel.calls import PendingCall, ask_model, text_of
from virsci_society.society.kernel.dispatcher import Dispatcher, settled
from virsci_society.society.kernel.streams import Streams

Chooser: TypeAlias = Callable[[Any, Sequence[Profile]], Profile | None]
"""Finds who is asked, given an utterance and the scientists who may be asked; None: nobody."""


# Equal only to itself: to compare fields would compare Answers, which refuse it (rule 10).
@dataclass(frozen=True, slots=True, eq=False)
class Consultation:
    """A question that a speaker may have put to a scientist outside the team.

    Whether it was put is only known when ``reply`` has settled.

    Attributes:
        asker: masked name of the speaker.
        date: simulated date of the question, in days.
        stage: stage of the team on that date.
        spoken: the utterance that may contain the question.
        reply: the guest's reply; settles to None when nobody was asked.
    """

    asker: str
    date: float
    stage: str
    spoken: Answer[Any]
    reply: Answer[Any]


async def ask_guest(
    pending: PendingCall,
    spoken: Answer[Any],
    outsiders: Answer[tuple[Profile, ...]],
    dispatcher: Dispatcher,
    streams: Streams,
    choose: Chooser,
) -> Advice | None:
    """Ask the scientist whom an utterance names, when the utterance is there.

    Args:
        pending: the question, without its addressee; its slots are settled once there is one.
        spoken: the utterance; its words may have a field ``ask``.
        outsiders: profiles of the scientists who may be asked.
        dispatcher: its gateway is asked.
        streams: the source of the call's seed.
        choose: finds who is asked, given the utterance and the scientists who may be.

    Returns:
        The guest's reply with who asked what; None when the utterance asks nobody, or
        somebody unknown.
    """
    utterance = await settled(spoken)
    guest = choose(utterance, await settled(outsiders))
    if guest is None:
        return None
    # Only now is it known who is asked, so only now has the call its full id and its seed.
    call = pending.call
    call.id, call.scientist = f"{call.id}/{guest.id}", guest.id
    # Listed only here, so that a speaker who asks nobody leaves no row.
    pending.calls.append(call)
    pending.who = guest
    pending.seed = streams.key("words", call.id)
    context = text_of(utterance)
    wish = getattr(utterance, "ask", None)
    # Who is called upon without a question answers to the whole utterance.
    question = context if wish is None else wish.question
    pending.slots = {**pending.slots, "question": question, "context": context}
    reply = await ask_model(pending, dispatcher.gateway)
    return Advice(guest.id, pending.slots["asker"].id, question, reply)


def named_guest(utterance: Any, outsiders: Sequence[Profile]) -> Profile | None:
    """The scientist to whom an utterance puts a question.

    Args:
        utterance: the words; they may have a field ``ask``.
        outsiders: profiles of the scientists who may be asked.

    Returns:
        None when the utterance asks nobody, or somebody unknown.
    """
    wish = getattr(utterance, "ask", None)
    if wish is None or not wish.question.strip():
        return None
    return next((profile for profile in outsiders if profile.id == wish.scientist), None)
