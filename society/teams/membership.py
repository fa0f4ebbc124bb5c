"""The people of a team, with members and invitations, meetings and homework, and guests.

A meeting asks for all in one instant, so no two teams each hold half of the other (rule 19).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
import simpy

from virsci_society.agents.errors import ProtocolError
from virsci_society.agents.profile import Profile
from virsci_society.agents.prompts.prompt import Prompt
from virsci_society.agents.prompts.slots import Advice
from virsci_society.agents.replies.form import Form
from virsci_society.society.formation.seats import NewcomerSeats
from virsci_society.society.kernel.answer import Answer, PendingCall, ask_model, settled, text_of
from virsci_society.society.kernel.dispatcher import Dispatcher
from virsci_society.society.kernel.durations import Process, Role, to_ticks
from virsci_society.society.kernel.streams import Streams
from virsci_society.society.teams.team import Team

if TYPE_CHECKING:
    from virsci_society.society.teams.world import World

FormT = TypeVar("FormT", bound=Form)


class TeamPeople:
    """The scientists of the society, as one team deals with them; ``lab.people``."""

    def __init__(
        self,
        world: World,
        team: Team,
        submit: Callable[..., Answer[Any]],
        check: Callable[[], None],
    ) -> None:
        self._world, self._team, self._submit, self._check = world, team, submit, check

    @property
    def members(self) -> tuple[Profile, ...]:
        """Profiles of the members now, the leader first."""
        return tuple(self.profile(member) for member in self._team.members)

    @property
    def interests(self) -> tuple[str, ...]:
        """Interests of the members now, the leader's first, each once."""
        people, day = self._world.population, self._world.day
        rows = (people.rows[member] for member in self._team.members)
        return tuple(dict.fromkeys(word for row in rows for word in people.interests_of(row, day)))

    def profile(self, who: str) -> Profile:
        """The public profile of a scientist as of now."""
        return self._world.profile(who)

    def load(self, who: str) -> int:
        """The number of teams in which a scientist works now."""
        return self._world.population.load(self._world.population.rows[who])

    def acquaintance(self, who: str) -> dict[str, Any]:
        """What an invitation depends on besides profiles."""
        return {"load": self.load(who), **self._world.acquaintance(self._team.leader, who)}

    def invite(
        self,
        who: str,
        prompt: Prompt,
        form: type[FormT],
        seat: int,
        known: Mapping[str, Any],
        **slots: Any,
    ) -> Answer[FormT]:
        """Invite a scientist; the Answer takes effect when the reply window has passed."""
        # Kept until it is answered; what the end of the team overtakes is written as unanswered.
        self._team.open_invitations[who] = self._world.day, known
        return self._submit(
            who,
            prompt,
            form,
            "invite",
            seat=seat,
            within=self._team.times.reply_window,
            inviter=self.profile(self._team.leader),
            members=self.members,
            **known,
            **slots,
        )

    def join(self, who: str) -> bool:
        """Take a scientist into the team; False if the scientist has reached the limit of teams."""
        self._check()
        return self._world.join(self._team, who, "member")

    def why_not(self, who: str) -> str:
        """The reason why ``join`` returned False: ``full``, or ``gone`` from the society."""
        return "gone" if self._world.population.has_departed(who) else "full"

    def seat_newcomer(
        self, mentor: str, seats: NewcomerSeats | None, rng: np.random.Generator
    ) -> str:
        """Let a newcomer come and take a seat in the team at once."""
        self._check()
        if seats is None:
            raise ProtocolError(f"{self._team.id}: the protocol has no seats for newcomers")
        population = self._world.population
        row = self._world.bring(population.rows[mentor], seats, rng)
        who = population.names[row]
        self._world.join(self._team, who, "member", arriving=True)
        return who

    def leave(self, who: str) -> None:
        """Let a member leave the team before its end; nothing if it has left the society."""
        self._check()
        if who in self._team.members:
            self._world.leave(self._team, who, stayed=False)

    def note_invitation(
        self, who: str, sent: float, known: Mapping[str, Any], outcome: str | None
    ) -> None:
        """Write the row of an invitation that was answered today; None: it never was."""
        team = self._team
        team.open_invitations.pop(who, None)
        answered = None if outcome is None else self._world.day
        values = (known["load"], known["ties"], known["similarity"], known["load"] > 0)
        self._world.log.row(
            "invitations", team.id, team.leader, who, sent, answered, outcome, *values
        )


class Appointment(NamedTuple):
    """The date on which a meeting was called, and the date for which it was called, in days."""

    called: float
    due: float


class Meeting:
    """One turn of a discussion, as a context manager that keeps all members present."""

    def __init__(
        self, world: World, team: Team, appointment: Appointment, stage: str, visit: int, turn: int
    ) -> None:
        self._world = world
        self._team = team
        self._appointment = appointment
        self._place = (stage, visit, turn)
        # Fixed here: the row counts the invited members, even if one leaves later.
        self._people = tuple(team.members)
        # Its end releases rooms and cancels waiting requests.
        self._requests = ExitStack()
        self._last: str | None = None
        self._held: float | None = None

    def __enter__(self) -> simpy.Event:
        env, attention = self._world.env, self._world.attention
        if self._team.in_meeting:
            raise ProtocolError(f"{self._team.id} is in a meeting: leave its room first")
        self._team.in_meeting = True
        if not attention.limited:
            everybody: simpy.Event = env.timeout(0)
        else:
            # No ``yield`` between the requests: they queue in one instant (rule 19).
            waiting = []
            for person in self._people:
                request = self._requests.enter_context(attention.presence(person).request())
                # Callbacks run in the order of arrival: the last one is who was waited for.
                request.callbacks.append(lambda _, person=person: self._note_arrival(person))
                waiting.append(request)
            everybody = env.all_of(waiting)
        # A callback, since a team that is dissolved while it waits never comes back to this point.
        everybody.callbacks.append(lambda _: self._begin())
        return everybody

    def __exit__(self, kind: type[BaseException] | None, *end: Any) -> None:
        # First: whatever ended the meeting, nobody stays in its room.
        self._requests.__exit__(kind, *end)
        self._team.in_meeting = False
        if kind is GeneratorExit:
            # The run has ended and the log is sealed.
            return
        # Members who left the society during the meeting could not leave the team before.
        self._world.release_departed(self._team)
        if self._held is None:
            return
        waited = self._last if self._held > self._appointment.due else None
        self._world.log.row(
            "meetings",
            self._team.id,
            *self._place,
            *self._appointment,
            self._held,
            self._world.env.now,
            len(self._people),
            waited,
        )

    def _note_arrival(self, person: str) -> None:
        self._last = person

    def _begin(self) -> None:
        self._held = self._world.env.now


def work_at_desk(
    world: World, team: Team, scientist: str, stage: str, visit: int, turn: int
) -> Process[None]:
    """Do one member's homework of a meeting, behind other work at the desk; write its row."""
    times = team.times
    if times.homework is None:
        return
    # Named by the act: homework that somebody else does or drops shifts no draw (rule 9).
    rng = world.streams.stream("homework", team.id, stage, visit, turn, scientist)
    role: Role = "leader" if scientist == team.leader else "member"
    effort = times.effort(times.homework.draw(rng), role, stage)
    assistance = world.assistance_of(scientist)
    if assistance is not None:
        effort = to_ticks(effort * assistance.homework)
    yield from at_desk(world, team, scientist, (stage, visit, turn), effort)


def at_desk(
    world: World,
    team: Team,
    scientist: str,
    place: tuple[str, int, int],
    effort: float,
    begin: Callable[[float], Any] | None = None,
) -> Process[Any]:
    """Wait for the desk, spend an effort (days of full attention), and write the row of homework.

    Switching to another project takes ``times.switching`` first. ``begin`` is called when work
    starts, with the days until it is done.
    """
    env, attention, switching = world.env, world.attention, team.times.switching
    assigned, result = env.now, None
    with ExitStack() as desk:
        if attention.limited:
            yield desk.enter_context(attention.desk(scientist).request())
        started = env.now
        # Noted once the desk is free: what was worked on before is known only then.
        turning = switching if attention.switch_project(scientist, team.id) else 0.0
        try:
            if begin is not None:
                result = begin(turning + effort)
            yield env.timeout(turning + effort)
        finally:
            # Also when the work is interrupted: the row says how long it lasted.
            turned = min(turning, env.now - started)
            row: tuple[Any, ...] = (team.id, scientist, *place, assigned, started)
            lost = turned if switching else None
            world.log.row("homework", *row, env.now, env.now - started - turned, lost)
    return result


Chooser: TypeAlias = Callable[[Any, Sequence[Profile]], Profile | None]
"""Chooses who is asked, given an utterance and the possible scientists; None: nobody."""


# Equal only to itself: to compare fields would compare Answers, which refuse it (rule 10).
@dataclass(frozen=True, slots=True, eq=False)
class Consultation:
    """A possible question of a speaker to an outside scientist; see ``reply``."""

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
    """Ask the scientist whom an utterance names, once the utterance is available."""
    utterance = await settled(spoken)
    guest = choose(utterance, await settled(outsiders))
    if guest is None:
        return None
    # The call's full id and seed are known only now, with the person to ask.
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
    """The outsider whom an utterance asks; None: nobody, or an unknown name."""
    wish = getattr(utterance, "ask", None)
    if wish is None or not wish.question.strip():
        return None
    return next((profile for profile in outsiders if profile.id == wish.scientist), None)
