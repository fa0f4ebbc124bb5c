"""Asking: how a team puts questions to scientists and searches what is known.

Everything that is said goes out at once, really; what it takes in the simulated world was
sampled before. What comes back is an Answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from agents.errors import Dissolved, Over, ProtocolError
from agents.forms import Form
from agents.profile import Profile
from agents.prompt import Prompt
from agents.reference import Reference
from society.answer import Answer, answers_in
from society.call import Call, Question, text_of
from society.conversation import converse
from society.errand import settled
from society.findings import find_papers, find_people
from society.steps import Steps
from society.streams import Streams
from society.team import Team
from society.world import World

PATIENCE = 100
"""Times a dissolved team is told so before it is ended over its protocol's head."""


@dataclass(frozen=True, slots=True, eq=False)
class Consultation:
    """A question that may have been put to a guest; whether it was, the words know."""

    asker: str
    date: float
    stage: str
    spoken: Answer[Any]
    reply: Answer[Any]


class Asking:
    """The questions of one team: the part of its ``Lab`` that deals in words."""

    def __init__(self, world: World, team: Team) -> None:
        self._world, self._team, self._env = world, team, world.env
        self._visits: dict[str, int] = {}
        self._asked: set[str] = set()
        self._derived = 0
        self._refusals = 0
        self._over: str | None = None
        self.turn = 0
        self.consultations: list[Consultation] = []

    @property
    def now(self) -> float:
        """The simulated date in days."""
        return float(self._env.now)

    @property
    def visit(self) -> int:
        """How often the present stage has been entered."""
        return self._visits[self._stage]

    def ask(
        self, who: str, prompt: Prompt, form: type[Form], act: str = "utter", **slots: Any
    ) -> Steps:
        """Put one question; returns its Answer, unread, when its simulated time has passed."""
        answer = self.pose(who, prompt, form, act, **slots)
        yield self._env.timeout(answer.due - self._env.now)
        self._check()
        return answer

    def ask_each(self, people: Iterable[str], pose: Callable[[int, str], Answer[Any]]) -> Steps:
        """Put questions side by side; returns their Answers when the last is due."""
        answers = [pose(seat, person) for seat, person in enumerate(people)]
        last = max((answer.due for answer in answers), default=self.now)
        yield self._env.timeout(last - self.now)
        self._check()
        return answers

    def pose(
        self,
        who: str,
        prompt: Prompt,
        form: type[Form],
        act: str,
        *,
        seat: int = 0,
        within: float | None = None,
        recall: Any = None,
        **slots: Any,
    ) -> Answer[Any]:
        """Put one question and go on; its Answer may be read from its due date on.

        Args:
            who: masked name.
            prompt: the page.
            form: the form of the reply.
            act: invite, utter, summarise, agree, stay, decide, vote or review.
            seat: place in the speaking order.
            within: days until it is due; None: a sampled utterance.
            recall: text or Answer by which the scientist's memory is searched; None: not at all.
            slots: values, Answers or tuples of both.

        Raises:
            ProtocolError: the same question is asked twice.
        """
        self._check()
        place = f"{self._team.id}/{self._stage}/{self.visit}/{self.turn}/{seat}"
        id_ = self._once(f"{place}/{act}/{who}")
        if within is None:
            rng = self._world.streams.stream("utterance", id_)
            within = self._team.times.utterance.draw(rng)
        sources = (*slots.values(), recall)
        due = self._due(self.now + within, sources)
        call = self._call(id_, seat, act, who, due, form)
        question = self._question(call, prompt, form, slots, recall)
        question.calls.append(call)
        answer = self._answer(id_, due, sources)
        answer.calls = question.calls
        call.needs = answer.needs
        work = converse(question, self._world.dispatcher.gateway)
        return self._submit(answer, work, bounded=True)

    def later(self, function: Callable[..., Any], *arguments: Any) -> Answer[Any]:
        """A pure, module-level function of Answers, computed when they have settled."""
        self._check()
        self._derived += 1
        answer = self._answer(
            f"{self._team.id}/~{self._derived}",
            self._due(self.now, arguments),
            arguments,
            derived=True,
        )
        return self._submit(answer, _apply(function, arguments))

    def search(self, query: Any, count: int) -> Answer[tuple[Reference, ...]]:
        """The ``count`` papers nearest to a text or Answer, published strictly before now."""
        visible = self._world.literature.visible(self.now)
        place = (self._next_derived(), self.now)
        return self.later(partial(find_papers, self._world, place, count, visible), query)

    def people(
        self, query: Any, count: int, without: Iterable[str] = ()
    ) -> Answer[tuple[Profile, ...]]:
        """The scientists of the author knowledge bank most relevant to a text, as of now.

        Those who have left the society are not among them.
        """
        place = (self._next_derived(), self.now)
        wanted = (count, self._world.population.absent().union(without))
        return self.later(partial(find_people, self._world, place, *wanted), query)

    def consult(
        self,
        spoken: Answer[Any],
        outsiders: Answer[tuple[Profile, ...]],
        prompt: Prompt,
        form: type[Form],
        asker: str,
    ) -> Answer[Any]:
        """Pass the speaker's question, if it has one, to the outsider it names.

        Settles to the guest's reply, or to None when nobody was asked. It takes no simulated
        time and no attention; its row is written when the team ends.
        """
        self._check()
        id_, seat = self._once(f"{spoken.id}/guest"), spoken.calls[0].seat
        due = self._due(self.now, (spoken, outsiders))
        call = self._call(id_, seat, "guest", "", due, form)
        slots = {"asker": self.profile(asker), "stage": self._stage}
        question = self._question(call, prompt, form, slots, None)
        answer = self._answer(id_, due, (spoken, outsiders))
        answer.calls = question.calls
        call.needs = answer.needs
        self.consultations.append(Consultation(asker, self.now, self._stage, spoken, answer))
        speaks = _guest_speaks(question, spoken, outsiders, self._world, self._world.streams)
        return self._submit(answer, speaks)

    def profile(self, who: str) -> Profile:
        """What may be known of a scientist now."""
        return self._world.profile(who)

    def _next_derived(self) -> str:
        """The id of the next derived Answer."""
        return f"{self._team.id}/~{self._derived + 1}"

    @property
    def _stage(self) -> str:
        return self._team.stage or ""

    def _check(self) -> None:
        """Once dissolved, every further step raises again, whatever the protocol caught."""
        reason = self._team.dissolution or self._over
        if reason is None:
            return
        self._refusals += 1
        raise (Dissolved if self._refusals <= PATIENCE else Over)(reason)

    def _once(self, id_: str) -> str:
        """A call id that nobody has used."""
        if id_ in self._asked:
            raise ProtocolError(f"{id_} is asked twice")
        self._asked.add(id_)
        return id_

    @staticmethod
    def _due(earliest: float, sources: Sequence[Any]) -> float:
        """Words are due no earlier than those they are made of."""
        dues = [answer.due for source in sources for answer in answers_in(source)]
        return max((earliest, *dues))

    def _call(self, id_: str, seat: int, act: str, who: str, due: float, form: type[Form]) -> Call:
        return Call(
            id=id_,
            team=self._team.id,
            stage=self._stage,
            visit=self.visit,
            turn=self.turn,
            seat=seat,
            act=act,
            scientist=who,
            asked=self.now,
            due=due,
            sequence=self._team.next_act(),
            form=form.__name__,
        )

    def _question(
        self, call: Call, prompt: Prompt, form: type[Form], slots: Mapping[str, Any], cue: Any
    ) -> Question:
        who = call.scientist or self._team.leader
        memory = () if cue is None else self._world.population.named(who).memory
        role = self._team.role(call.scientist) if call.scientist else "guest"
        seed = self._world.streams.key("words", call.id)
        return Question(call, self.profile(who), role, prompt, form, slots, seed, memory, cue)

    def _answer(
        self, id_: str, due: float, needs: Sequence[Any], derived: bool = False
    ) -> Answer[Any]:
        sources = tuple(answer for value in needs for answer in answers_in(value))
        answer: Answer[Any] = Answer(id_, due, sources, derived, self._read)
        self._team.answers.append(answer)
        return answer

    def _read(self, answer: Answer[Any]) -> Any:
        return self._world.dispatcher.read(answer, lambda: self._note_read(answer))

    def _note_read(self, answer: Answer[Any]) -> None:
        needs = answer.needs if answer.derived else (answer.id,)
        act = self._team.next_act()
        self._world.log.row("reads", answer.id, self._team.id, self.now, act, " ".join(needs))

    def _submit(self, answer: Answer[Any], work: Any, bounded: bool = False) -> Answer[Any]:
        return self._world.dispatcher.submit(answer, work, bounded=bounded)


async def _apply(function: Callable[..., Any], arguments: Sequence[Any]) -> Any:
    return function(*[await settled(argument) for argument in arguments])


async def _guest_speaks(
    question: Question,
    spoken: Answer[Any],
    outsiders: Answer[tuple[Profile, ...]],
    world: World,
    streams: Streams,
) -> Form | None:
    words, known = await settled(spoken), await settled(outsiders)
    asked = getattr(words, "ask", None)
    if asked is None or not asked.question.strip():
        return None
    guest = next((profile for profile in known if profile.id == asked.scientist), None)
    if guest is None:
        return None
    call = question.call
    call.id, call.scientist = f"{call.id}/{guest.id}", guest.id
    question.calls.append(call)
    question.who = guest
    question.seed = streams.key("words", call.id)
    question.slots = {**question.slots, "question": asked.question, "context": text_of(words)}
    return await converse(question, world.dispatcher.gateway)
