"""The ``Lab`` of a team, with everything that its protocol may do in the world.

A step's length is drawn before the call, so real latency changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
import simpy

from virsci_society.agents.errors import Dissolved, Over, ProtocolError
from virsci_society.agents.profile import Profile
from virsci_society.agents.prompts.prompt import Prompt
from virsci_society.agents.prompts.slots import Advice
from virsci_society.agents.replies.form import Form
from virsci_society.society.kernel.answer import (
    Answer,
    Call,
    PendingCall,
    answers_in,
    ask_model,
    settled,
)
from virsci_society.society.kernel.durations import Process, Times
from virsci_society.society.teams.library import Library
from virsci_society.society.teams.membership import (
    Appointment,
    Chooser,
    Consultation,
    Meeting,
    TeamPeople,
    ask_guest,
    named_guest,
    work_at_desk,
)
from virsci_society.society.teams.team import Team
from virsci_society.society.teams.world import World

T = TypeVar("T")
FormT = TypeVar("FormT", bound=Form)

PATIENCE = 100
"""How often a dissolved team's steps raise ``Dissolved`` before they raise ``Over``, which no
protocol catches by accident."""


class Lab:
    """The only interface of a team to the world; closed when the team ends.

    Once the team is dissolved every further step raises, whatever the protocol catches (rule 20).

    Attributes:
        turn: number of the present turn in its stage; part of the ids of calls (rule 7).
        consultations: questions to guests so far, in order of date.

    Example:
        >>> def rest(lab: vs.Lab, days: float) -> vs.Process[float]:
        ...     yield from lab.wait(days)
        ...     return lab.now
        >>> list(rest(lab, 3.0))
        [<Timeout(3.0) ...>]
        >>> lab.now, lab.times.meeting_notice
        (0.0, 7.0)
    """

    def __init__(self, world: World, team: Team) -> None:
        self._world, self._team, self._env = world, team, world.env
        self.turn = 0
        self.consultations: list[Consultation] = []
        self._visits: dict[str, int] = {}
        self._used_ids: set[str] = set()
        self._derived = 0
        self._refusals = 0
        self._over: str | None = None
        self._homework: tuple[str, int, int] | None = None
        self._appointment: Appointment | None = None

    @property
    def world(self) -> World:
        """The world of the team, for policies that draw from its network and population."""
        return self._world

    # Both are made when they are asked for: a lab that held them would be in a circle of
    # references, and an ended team's memory would wait for the garbage collector.
    @property
    def library(self) -> Library:
        """Searches among papers and people."""
        return Library(self._world, self.later, self._next_derived_id, self._team.leader)

    @property
    def people(self) -> TeamPeople:
        """Members and candidates: profiles, invitations, joining, leaving."""
        return TeamPeople(self._world, self._team, self.submit, self._check)

    @property
    def now(self) -> float:
        """The simulated date in days."""
        return float(self._env.now)

    @property
    def times(self) -> Times:
        """The durations of the team's acts, fixed at its founding (rule 23)."""
        return self._team.times

    @property
    def visit(self) -> int:
        """Number of the current visit to the stage, from 1."""
        return self._visits[self._stage]

    def stage(self, name: str, steps: Process[T]) -> Process[T]:
        """Enter a stage and run its steps; entering it again is a new visit."""
        self._check()
        self._team.stage, self.turn = name, 0
        # Part of every call id, so a stage that is entered again asks nothing twice (rule 7).
        self._visits[name] = self._visits.get(name, 0) + 1
        self.event("stage", stage=name, visit=self._visits[name])
        result = yield from steps
        return result

    def wait(self, days: float) -> Process[None]:
        """Let simulated time pass."""
        if self._team.dissolution or self._over:
            self._check()
        # Only the team's own process is interrupted when it is dissolved; a part that waits here
        # finds out when it goes on (rule 20).
        yield self._env.timeout(days)
        if self._team.dissolution or self._over:
            self._check()

    def together(self, *parts: Process[T]) -> Process[list[T]]:
        """Run parts concurrently and wait for all of them.

        Returns:
            The results, in the order of the parts.

        Raises:
            Exception: the failure of the first part that failed, after every part has ended.
        """
        self._check()
        processes = self.start(*parts)
        yield self._env.all_of(processes)
        self._check()
        for process in processes:
            if process.value[1] is not None:
                raise process.value[1]
        return [process.value[0] for process in processes]

    def start(self, *parts: Process[Any]) -> list[simpy.Process]:
        """Start background parts; the team interrupts them when it ends (rule 20).

        Returns:
            One SimPy process per part; the value of each is ``(result, failure)``.
        """
        processes = [self._env.process(_guarded(part)) for part in parts]
        # Parts that have ended well are dropped, else a team would hold every one that it ever
        # started; those that failed are logged in the end.
        kept = [part for part in self._team.parts if part.is_alive or part.value[1] is not None]
        self._team.parts = kept + processes
        return processes

    def end_parts(self) -> Process[None]:
        """Interrupt all running parts, wait until they end, and log failures."""
        # Set before the interrupts: a part that catches one is refused every next step (rule 20).
        self._over = "the team has ended"
        alive = [part for part in self._team.parts if part.is_alive]
        for part in alive:
            part.interrupt(self._over)
        # Awaited, because their ``finally`` clauses free rooms and desks and write rows.
        yield self._env.all_of(alive)
        for part in self._team.parts:
            failure = part.value[1]
            if failure is not None and not isinstance(failure, simpy.Interrupt | Dissolved | Over):
                self.event("part_failed", failure=f"{type(failure).__name__}: {failure}")

    def hand_in(self) -> None:
        """Reopen the lab for the review of the manuscript, after ``end_parts`` has closed it."""
        self._over = None

    def prepare(self) -> Process[None]:
        """Let all members do the homework of the last meeting; does nothing if it is done."""
        self._check()
        # Taken away first: homework is done once per meeting, however often this is called.
        left, self._homework = self._homework, None
        if left is not None and self.times.homework is not None:
            stage, visit, turn = left
            members = list(self._team.members)
            yield from self.together(
                *(work_at_desk(self._world, self._team, m, stage, visit, turn) for m in members)
            )
        self._check()

    def notice(self) -> Process[None]:
        """Call the next meeting and wait for its date; does nothing if it was called."""
        self._check()
        if self._appointment is None:
            called = self.now
            yield self._env.timeout(self.times.meeting_notice)
            self._appointment = Appointment(called, self.now)
        self._check()

    def convene(self, turn: int) -> Meeting:
        """Hold the meeting that was called: ``with lab.convene(turn) as arrived: yield arrived``.

        Turns count from 1; without a meeting that was called it is a ProtocolError.
        """
        self._check()
        if self._appointment is None:
            raise ProtocolError(f"{self._team.id}: a meeting is called before it is held")
        # Used up, because every meeting needs a new notice.
        appointment, self._appointment = self._appointment, None
        self.turn = turn
        self._homework = (self._stage, self.visit, turn)
        return Meeting(self._world, self._team, appointment, self._stage, self.visit, turn)

    def ask(
        self, who: str, prompt: Prompt, form: type[FormT], act: str = "utter", **slots: Any
    ) -> Process[Answer[FormT]]:
        """Submit one question and wait for the simulated duration of the act."""
        answer = self.submit(who, prompt, form, act, **slots)
        yield self._env.timeout(answer.due - self._env.now)
        self._check()
        return answer

    def ask_each(
        self, people: Iterable[str], submit: Callable[[int, str], Answer[T]]
    ) -> Process[list[Answer[T]]]:
        """Ask several scientists in parallel and wait until the last Answer is due.

        Args:
            people: masked names; the Answers are in their order.
            submit: puts the question to one scientist, given its place (from 0) and name.
        """
        answers = [submit(seat, person) for seat, person in enumerate(people)]
        last = max((answer.due for answer in answers), default=self.now)
        yield self._env.timeout(last - self.now)
        self._check()
        return answers

    def submit(
        self,
        who: str,
        prompt: Prompt,
        form: type[FormT],
        act: str,
        *,
        seat: int = 0,
        within: float | None = None,
        recall: Any = None,
        looks: Any = None,
        **slots: Any,
    ) -> Answer[FormT]:
        """Ask a scientist without waiting; the Answer can be read once it is due.

        Args:
            who: masked name of the scientist.
            prompt: page, rendered when every slot has settled.
            form: form of the reply.
            act: invite, utter, summarise, agree, stay, decide, vote, critique or review.
            seat: place in the speaking order, from 0.
            within: days until the Answer is due; None: one sampled utterance.
            recall: text or Answer with which the scientist's memory is searched; None: no search.
            looks: how good what is judged looks, for rules alone (``execution.signal``).
            **slots: values for the page: plain values, Answers, or tuples of both.

        Raises:
            ProtocolError: the same question is asked twice.
        """
        self._check()
        prefix = f"{self._team.id}/{self._stage}/{self.visit}/{self.turn}/{seat}"
        id_ = self._reserve_id(f"{prefix}/{act}/{who}")
        if within is None:
            # A stream per call: another call before this one shifts no draw (rules 7 and 9).
            rng = self._world.streams.stream("utterance", id_)
            within = self._team.times.utterance.draw(rng)
        sources = answers_in((*slots.values(), recall, looks))
        due = self._due(self.now + within, sources)
        pending = self._pending_call(id_, seat, act, who, due, prompt, form, slots, recall)
        pending.looks = looks
        pending.calls.append(pending.call)
        answer = self._answer(id_, due, sources, pending)
        dispatcher = self._world.dispatcher
        return dispatcher.submit(answer, ask_model(pending, dispatcher.gateway), bounded=True)

    def consult(
        self,
        spoken: Answer[Any],
        outsiders: Answer[tuple[Profile, ...]],
        prompt: Prompt,
        form: type[Form],
        asker: str,
        *,
        choose: Chooser = named_guest,
        place: int = 0,
        **slots: Any,
    ) -> Answer[Advice | None]:
        """Pass the question of an utterance, if any, to the outsider that it names.

        A consultation takes no simulated time and no attention. Its row is written when the team
        ends (rule 13).

        Args:
            spoken: the utterance; its words may have a field ``ask``.
            outsiders: the scientists who may be asked.
            prompt: page for the guest.
            form: form of the guest's reply.
            asker: masked name of the speaker.
            choose: picks the scientist to ask; by default the one named in the field ``ask``.
            place: index of the guest among those whom one utterance may consult, from 0.
            **slots: further values for the page: plain values, Answers, or tuples of both.

        Returns:
            An Answer that settles to the guest's reply with who asked what, or to None when
            nobody was asked.
        """
        self._check()
        guest, seat = f"{spoken.id}/guest", spoken.calls[0].seat
        id_ = self._reserve_id(f"{guest}{place + 1}" if place else guest)
        sources = answers_in((spoken, outsiders, *slots.values()))
        due = self._due(self.now, sources)
        slots = {**slots, "asker": self._world.profile(asker)}
        pending = self._pending_call(guest, seat, "guest", "", due, prompt, form, slots, None)
        answer = self._answer(id_, due, sources, pending)
        self.consultations.append(Consultation(asker, self.now, self._stage, spoken, answer))
        # Today's streams: an intervention may replace them before the reply arrives.
        dispatcher, streams = self._world.dispatcher, self._world.streams
        work = ask_guest(pending, spoken, outsiders, dispatcher, streams, choose)
        return dispatcher.submit(answer, work)

    def guest(
        self, spoken: Answer[Any], outsiders: Answer[tuple[Profile, ...]]
    ) -> Answer[Profile | None]:
        """The outsider asked by ``consult``; settles to None if the utterance asks nobody."""
        return self.later(named_guest, spoken, outsiders)

    def later(self, function: Callable[..., T], *arguments: Any) -> Answer[T]:
        """Apply a function to Answers once they are settled, without waiting.

        Args:
            function: pure and defined at module level; gets the settled values.
            *arguments: values, Answers, or tuples of both.
        """
        self._check()
        # Counted per team: what another team does changes no id (rule 7).
        self._derived += 1
        id_, sources = f"{self._team.id}/~{self._derived}", answers_in(arguments)
        answer = self._answer(id_, self._due(self.now, sources), sources)
        return self._world.dispatcher.submit(answer, _apply(function, arguments))

    def rng(self, *purpose: object) -> np.random.Generator:
        """The random stream for a purpose in this team; the same purpose gives the same draws."""
        return self._world.streams.stream("team", self._team.id, *purpose)

    def event(self, kind: str, **fields: Any) -> None:
        """Write an event of this team into the log."""
        self._world.log.event(kind, team=self._team.id, **fields)

    @property
    def _stage(self) -> str:
        return self._team.stage or ""

    def _next_derived_id(self) -> str:
        """The id that the next derived Answer will get."""
        return f"{self._team.id}/~{self._derived + 1}"

    def _check(self) -> None:
        """Raise again at every step once the team is dissolved (rule 20)."""
        reason = self._team.dissolution or self._over
        if reason is None:
            return
        self._refusals += 1
        # ``Over`` is no Exception: it also ends a protocol that catches everything in a loop.
        raise (Dissolved if self._refusals <= PATIENCE else Over)(reason)

    def _reserve_id(self, id_: str) -> str:
        """Mark a call id as used; ids are unique in a run (rule 7)."""
        if id_ in self._used_ids:
            raise ProtocolError(f"{id_} is asked twice")
        self._used_ids.add(id_)
        return id_

    @staticmethod
    def _due(earliest: float, sources: Sequence[Answer[Any]]) -> float:
        """The due date: never before the due dates of Answers in the prompt (rule 18)."""
        return max([earliest, *[answer.due for answer in sources]])

    def _pending_call(
        self,
        id_: str,
        seat: int,
        act: str,
        who: str,
        due: float,
        prompt: Prompt,
        form: type[Form],
        slots: Mapping[str, Any],
        cue: Any,
    ) -> PendingCall:
        """A question to a scientist, or to a guest who is not known yet (``who`` is empty)."""
        world, team = self._world, self._team
        call = Call(
            id=id_,
            team=team.id,
            stage=self._stage,
            visit=self.visit,
            turn=self.turn,
            seat=seat,
            act=act,
            scientist=who,
            asked=self.now,
            due=due,
            sequence=team.next_act(),
            needs="",
            form=form.__name__,
        )
        asked = who or team.leader
        # A snapshot: the prompt is rendered later, when the scientist may recall more.
        memory = () if cue is None else world.population.scientist_named(asked).memory
        role = team.role(who) if who else "guest"
        seed = world.streams.key("words", id_)
        pending = PendingCall(
            call, world.profile(asked), role, prompt, form, slots, seed, memory, cue, world.year
        )
        # A function, so that interests are counted only where a page shows them cleaned.
        pending.page_values = {"shown_interests": world.cleaned_interests}
        return pending

    def _answer(
        self, id_: str, due: float, sources: list[Answer[Any]], pending: PendingCall | None = None
    ) -> Answer[Any]:
        """The Answer of a call, or of a function of other Answers, kept by the team."""
        answer: Answer[Any] = Answer(id_, due, tuple(sources), pending is None, self._read)
        if pending is not None:
            # The same list: re-asks are added to it while the work runs.
            answer.calls, pending.call.needs = pending.calls, " ".join(answer.needs)
        self._team.answers.append(answer)
        return answer

    def _read(self, answer: Answer[Any]) -> Any:
        return self._world.dispatcher.read(answer, lambda: self._log_read(answer))

    def _log_read(self, answer: Answer[Any]) -> None:
        # A derived Answer has no row in ``calls``, so the calls that it is made of are named.
        needs = answer.needs if answer.derived else (answer.id,)
        act = self._team.next_act()
        self._world.log.row("reads", answer.id, self._team.id, self.now, act, " ".join(needs))


def _guarded(part: Process[T]) -> Generator[Any, Any, tuple[T | None, BaseException | None]]:
    """Return the failure of a part as a value, which SimPy would raise out of the simulation."""
    try:
        return (yield from part), None
    # No wider: Ctrl-C, and the close of a generator when the run ends, have to pass.
    except (Exception, Over) as failure:
        return None, failure


async def _apply(function: Callable[..., Any], arguments: Sequence[Any]) -> Any:
    return function(*[await settled(argument) for argument in arguments])
