"""Lab: all that a team may do in the world.

Convene, work, ask a scientist, search, note. Each step of the world is a generator to be
delegated to (``answer = yield from lab.ask(...)``); everything else returns at once.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from agents.errors import Dissolved, ProtocolError
from agents.forms import Form
from agents.profile import Profile
from agents.prompt import Prompt
from agents.reference import Reference
from society.answer import Answer
from society.call import Call, Question, converse, text_of
from society.dispatch import needs_of, settled
from society.interfaces import Steps
from society.meeting import Appointment, Meeting, work_at_desk
from society.team import Team

if TYPE_CHECKING:
    import numpy as np

    from society.model import Society


class Lab:
    """One team's door to the world; made with the team, closed when it ends."""

    def __init__(self, society: Society, team: Team) -> None:
        self._society = society
        self._env = society.env
        self._team = team
        self._stage = ""
        self._visits: dict[str, int] = {}
        self._asked: set[str] = set()
        self._derived = 0
        self._unprepared: tuple[str, int, int] | None = None
        self._appointment: Appointment | None = None
        self.turn = 0
        self.consultations: list[Consultation] = []

    # -- time -------------------------------------------------------------------------------

    @property
    def now(self) -> float:
        """The simulated date in days."""
        return float(self._env.now)

    def stage(self, name: str, steps: Steps) -> Steps:
        """Enter a stage; a stage entered again is its next visit."""
        self._check()
        self._stage, self.turn = name, 0
        self._visits[name] = self._visits.get(name, 0) + 1
        self._team.stage = name
        self.event("stage", stage=name, visit=self._visits[name])
        result = yield from steps
        return result

    def wait(self, days: float) -> Steps:
        """Let simulated time pass."""
        self._check()
        yield self._env.timeout(days)
        self._check()

    def together(self, *parts: Steps) -> Steps:
        """Run parts side by side; wait for every part, and only then raise the first failure."""
        self._check()
        processes = [self._env.process(_guarded(part)) for part in parts]
        self._team.parts = [p for p in self._team.parts if p.is_alive] + processes
        yield self._env.all_of(processes)
        self._check()
        for process in processes:
            if process.value[1] is not None:
                raise process.value[1]
        return [process.value[0] for process in processes]

    def end_parts(self) -> Steps:
        """Interrupt what the team has started and wait for its end."""
        alive = [part for part in self._team.parts if part.is_alive]
        for part in alive:
            part.interrupt("the team has ended")
        yield self._env.all_of(alive)

    # -- meetings and homework --------------------------------------------------------------

    def prepare(self) -> Steps:
        """Everybody does the homework that the last meeting left; nothing if it is done."""
        self._check()
        left, self._unprepared = self._unprepared, None
        if left is not None and self._society.times.homework is not None:
            stage, visit, turn = left
            members = list(self._team.members)
            yield from self.together(
                *(work_at_desk(self._society, self._team, m, stage, visit, turn) for m in members)
            )
        self._check()

    def notice(self) -> Steps:
        """Call the next meeting and wait for its date; nothing if it has been called."""
        self._check()
        if self._appointment is None:
            called = self.now
            yield self._env.timeout(self._society.times.meeting_notice)
            self._appointment = Appointment(called, self.now)
        self._check()

    def convene(self, turn: int) -> Meeting:
        """The meeting that was called: ``with lab.convene(turn) as everybody: yield everybody``.

        Raises:
            ProtocolError: no meeting has been called.
        """
        self._check()
        if self._appointment is None:
            raise ProtocolError(f"{self._team.id}: a meeting is called before it is held")
        appointment, self._appointment = self._appointment, None
        self.turn = turn
        self._unprepared = (self._stage, self.visit, turn)
        return Meeting(
            self._society, self._team, appointment, self._stage, self._visits[self._stage], turn
        )

    # -- words ------------------------------------------------------------------------------

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
        id_ = f"{self._at()}/{self.turn}/{seat}/{act}/{who}"
        if id_ in self._asked:
            raise ProtocolError(f"{id_} is asked twice")
        self._asked.add(id_)
        if within is None:
            rng = self._society.streams.stream("utterance", id_)
            within = self._society.times.utterance.draw(rng)
        call = Call(
            id_, self._team.id, self._stage, self.visit, self.turn, seat, act, who, self.now,
            self.now + within, form.__name__,
        )  # fmt: skip
        question = self._question(call, prompt, form, slots, recall)
        cues = () if recall is None else (recall,)
        answer = self._answer(id_, call.due, (*slots.values(), *cues))
        answer.calls = question.calls
        work = converse(question, self._society.dispatcher.gateway)
        return self._society.dispatcher.submit(answer, work)

    def later(self, function: Callable[..., Any], *arguments: Any) -> Answer[Any]:
        """A pure, module-level function of Answers, computed when they have settled."""
        self._check()
        self._derived += 1
        answer = self._answer(f"{self._team.id}/~{self._derived}", self.now, arguments)
        return self._society.dispatcher.submit(answer, _apply(function, arguments))

    def search(self, query: Any, count: int) -> Answer[tuple[Reference, ...]]:
        """The ``count`` papers nearest to a text or Answer, published strictly before now."""
        visible = self._society.literature.visible(self.now)
        return self.later(partial(_search, self._society.literature, count, visible), query)

    def people(
        self, query: Any, count: int, without: Iterable[str] = ()
    ) -> Answer[tuple[Profile, ...]]:
        """The scientists of the author knowledge bank most relevant to a text, as of now."""
        find = partial(self._society.relevant, count, frozenset(without), self.now)
        return self.later(partial(_find, find), query)

    def consult(
        self, spoken: Answer[Any], outsiders: Answer[tuple[Profile, ...]], prompt: Prompt,
        form: type[Form], asker: str, **slots: Any,
    ) -> Answer[Any]:  # fmt: skip
        """Pass the speaker's question, if it has one, to the outsider it names.

        Settles to the guest's reply, or to None when nobody was asked. It takes no simulated
        time and no attention; its row is written when the team ends.
        """
        self._check()
        call = Call(
            f"{spoken.id}/guest", self._team.id, self._stage, self.visit, self.turn,
            spoken.calls[0].seat, "guest", "", self.now, spoken.due, form.__name__,
        )  # fmt: skip
        question = self._question(call, prompt, form, slots, None)
        question.slots = {"asker": self.profile(asker), "stage": self._stage, **slots}
        answer = self._answer(call.id, spoken.due, (spoken, outsiders, *slots.values()))
        answer.calls = question.calls
        work = _guest_speaks(question, spoken, outsiders, self._society)
        self.consultations.append(Consultation(asker, self.now, self._stage, spoken, answer))
        return self._society.dispatcher.submit(answer, work)

    # -- people -----------------------------------------------------------------------------

    def profile(self, who: str) -> Profile:
        """What may be known of a scientist now."""
        return self._society.profile(who)

    @property
    def members(self) -> tuple[Profile, ...]:
        """Profiles of the members now, the leader first."""
        return tuple(self.profile(member) for member in self._team.members)

    def load(self, who: str) -> int:
        """Teams a scientist is working in now."""
        return self._society.population.load(self._society.population.rows[who])

    def invite(
        self, who: str, prompt: Prompt, form: type[Form], seat: int
    ) -> Answer[Any]:
        """Invite a scientist; the answer takes effect when the reply window has passed."""
        society, team = self._society, self._team
        facts = society.acquaintance(team.leader, who)
        return self.pose(
            who, prompt, form, "invite", seat=seat, within=society.times.reply_window,
            inviter=self.profile(team.leader), members=self.members, load=self.load(who), **facts,
        )  # fmt: skip

    def join(self, who: str, role: str = "member") -> bool:
        """Take a scientist into the team; False if it has reached its limit of teams."""
        self._check()
        return self._society.join(self._team, who, role)

    def leave(self, who: str) -> None:
        """A member leaves the team before its end."""
        self._check()
        self._society.leave(self._team, who, stayed=False)

    def invitation_row(self, answer: Answer[Any], who: str, sent: float, facts: Mapping[str, Any],
                       outcome: str) -> None:  # fmt: skip
        """Write what came of an invitation."""
        self._society.log.row(
            "invitations", self._team.id, self._team.leader, who, sent, self.now, outcome,
            facts["load"], facts["ties"], facts["similarity"], facts["load"] > 0,
        )  # fmt: skip

    # -- chance and notes -------------------------------------------------------------------

    def rng(self, *purpose: object) -> np.random.Generator:
        """The random stream of a purpose of this team; the same purpose, the same draws."""
        return self._society.streams.stream("team", self._team.id, *purpose)

    def event(self, kind: str, **fields: Any) -> None:
        """Something happened in this team that others may know."""
        self._society.log.event(kind, team=self._team.id, **fields)

    @property
    def world(self) -> Society:
        """The society: for policies that draw from its network and population."""
        return self._society

    @property
    def visit(self) -> int:
        """How often the present stage has been entered."""
        return self._visits[self._stage]

    # -- inside -----------------------------------------------------------------------------

    def _at(self) -> str:
        return f"{self._team.id}/{self._stage}/{self.visit}"

    def _check(self) -> None:
        """Once dissolved, every further step raises again, whatever the protocol caught."""
        if self._team.dissolution is not None:
            raise Dissolved(self._team.dissolution)

    def _question(
        self, call: Call, prompt: Prompt, form: type[Form], slots: Mapping[str, Any], cue: Any
    ) -> Question:
        who = call.scientist or self._team.leader
        memory = () if cue is None else self._society.population.named(who).memory
        role = self._team.role(call.scientist) if call.scientist else "guest"
        seed = self._society.streams.key("words", call.id)
        return Question(call, self.profile(who), role, prompt, form, slots, seed, memory, cue or "")

    def _answer(self, id_: str, due: float, needs: Sequence[Any]) -> Answer[Any]:
        answer: Answer[Any] = Answer(
            id_, self._team.id, due, needs_of(needs), self._society.dispatcher
        )
        self._team.answers.append(answer)
        return answer


class Consultation:
    """A question that may have been put to a guest; known when the words are."""

    __slots__ = ("asker", "date", "reply", "spoken", "stage")

    def __init__(
        self, asker: str, date: float, stage: str, spoken: Answer[Any], reply: Answer[Any]
    ) -> None:
        self.asker, self.date, self.stage = asker, date, stage
        self.spoken, self.reply = spoken, reply


async def _apply(function: Callable[..., Any], arguments: Sequence[Any]) -> Any:
    return function(*[await settled(argument) for argument in arguments])


def _search(literature: Any, count: int, visible: int, query: Any) -> tuple[Reference, ...]:
    found: tuple[Reference, ...] = literature.search(text_of(query), count, visible)
    return found


def _find(find: Callable[[str], tuple[Profile, ...]], query: Any) -> tuple[Profile, ...]:
    return find(text_of(query))


async def _guest_speaks(
    question: Question, spoken: Answer[Any], outsiders: Answer[tuple[Profile, ...]],
    society: Society,
) -> Form | None:  # fmt: skip
    words, known = await settled(spoken), await settled(outsiders)
    asked = getattr(words, "ask", None)
    guest = next((p for p in known if asked is not None and p.id == asked.scientist), None)
    if guest is None or not asked.question.strip():
        return None
    call = question.call
    call.id, call.scientist = f"{call.id}/{guest.id}", guest.id
    question.who = guest
    question.seed = society.streams.key("words", call.id)
    question.slots = {**question.slots, "question": asked.question, "context": text_of(words)}
    return await converse(question, society.dispatcher.gateway)


def _guarded(part: Steps) -> Generator[Any, Any, tuple[Any, BaseException | None]]:
    """Run a part to its end and hand its failure over as a value."""
    try:
        return (yield from part), None
    except Exception as failure:
        return None, failure

