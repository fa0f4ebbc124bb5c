"""Futures for replies, and the calls to a model that settle them.

Only words decide what follows (rule 1); without words the form's default stands, flagged.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Any, Generic, NoReturn, TypeVar

from virsci_society.agents.errors import Overflow, ProtocolError, ReplyError, UnfitReply, Verdict
from virsci_society.agents.gateway.backend import Backend
from virsci_society.agents.gateway.gateway import Gateway
from virsci_society.agents.journal.records import verdict_name
from virsci_society.agents.profile import Profile, Recollection, recall
from virsci_society.agents.prompts.prompt import Prompt, build_messages
from virsci_society.agents.prompts.request import (
    Reply,
    Request,
    reask_messages,
    total_characters,
    trim_messages,
    words_that_fit,
)
from virsci_society.agents.replies.form import Form, texts_for
from virsci_society.agents.replies.parser import read_reply
from virsci_society.agents.replies.text_checks import NOTICED, check_text, copied

T = TypeVar("T")


class Answer(Generic[T]):
    """A future: the reply to one call, or a pure function of other Answers.

    Truth value, comparison, formatting, iteration, length and hashing raise an error, because
    they would depend on a reply that was not read (rule 10).

    Args:
        id_: id of the call, or of the derived Answer; unique in a run.
        due: simulated date in days from which it can be read.
        sources: the older Answers that it depends on, so that no cycle can arise (rule 18).
        derived: True for a function of other Answers.
        read: waits for this Answer; returns its value or raises its error.

    Attributes:
        needs: ids of the calls that it depends on directly.
        calls: rows of the call and its re-asks; empty for a derived Answer.

    Example:
        >>> answer = vs.Answer("Scientist1/1/idea", 7.0, (), False, read=lambda self: "a map")
        >>> answer.due, answer.read()
        (7.0, 'a map')
        >>> "yes" if answer else "no"
        Traceback (most recent call last):
            ...
        virsci_society.agents.errors.ProtocolError: ...
    """

    __slots__ = (
        "_error",
        "_read",
        "_settled",
        "_value",
        "_waiters",
        "calls",
        "derived",
        "due",
        "id",
        "needs",
    )

    def __init__(
        self,
        id_: str,
        due: float,
        sources: tuple[Answer[Any], ...],
        derived: bool,
        read: Callable[[Answer[Any]], Any],
    ) -> None:
        self.id = id_
        self.due = due
        # Derived Answers are replaced by their own needs: only replies of calls are waited for.
        needs = [id_ for s in sources for id_ in (s.needs if s.derived else (s.id,))]
        # Each once and in order; the order of a set would depend on the hash seed (rule 12).
        self.needs: tuple[str, ...] = tuple(dict.fromkeys(needs))
        self.derived: bool = derived
        self.calls: list[Any] = []
        self._read = read
        self._settled = False
        self._value: Any = None
        self._error: Exception | None = None
        self._waiters: list[Callable[[], None]] = []

    def read(self) -> T:
        """Wait for the reply on the clock's thread and return its form.

        Raises:
            Verdict: the words are a refusal or stayed unreadable.
            Stopped: the run was stopped from outside.
            ProtocolError: read before it is due, or outside the clock's thread.
        """
        value: T = self._read(self)
        return value

    def _settle(self, value: Any, error: Exception | None) -> None:
        """Store the value, or the error that ``read`` raises, and wake what waits for it."""
        # Without its traceback, which would keep slots and prompt alive (rule 21).
        self._value, self._error = value, error and error.with_traceback(None)
        # After value and error: another thread looks at this flag alone, without a lock.
        self._settled = True
        # Dropped: a waiter holds the work that waited, and the Answer lives as long as its team
        # (rule 21).
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            waiter()

    # Not refused: messages of errors name the Answer by it (rule 10).
    def __repr__(self) -> str:
        return f"<Answer {self.id}>"

    def _refuse(self, *_: object) -> NoReturn:
        raise ProtocolError(f"read it first: {self!r}")

    __bool__ = __len__ = __iter__ = __str__ = __contains__ = _refuse
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse
    __hash__ = _refuse
    __getitem__ = __int__ = __float__ = __format__ = _refuse


MAY_HOLD = (Answer, tuple, list)
"""Types of the values of slots that are, or may contain, Answers."""


def answers_in(value: Any) -> list[Answer[Any]]:
    """The Answers in the value of a slot: the value itself, or those inside its tuple or list."""
    if isinstance(value, Answer):
        return [value]
    held = (
        [item for item in value if isinstance(item, MAY_HOLD)]
        if isinstance(value, MAY_HOLD)
        else []
    )
    return [answer for item in held for answer in answers_in(item)]


@types.coroutine
def _words_of(answer: Answer[Any]) -> Generator[Any, Any, None]:
    while not answer._settled:
        yield answer


async def settled(value: Any) -> Any:
    """Wait for the Answers in a slot: a value, an Answer, or a tuple or list of both."""
    if isinstance(value, Answer):
        await _words_of(value)
        if value._error is not None:
            raise value._error
        return value._value
    if answers_in(value):
        # One after another: which error is raised must not depend on what settles first (rule 12).
        parts = [await settled(item) if isinstance(item, MAY_HOLD) else item for item in value]
        if hasattr(value, "_make"):
            return value._make(parts)
        return tuple(part for part in parts if part is not None)
    return value


@dataclass(slots=True)
class Call:
    """One row of the table ``calls``; fields from ``rung`` on are set when the call settles."""

    id: str
    team: str
    stage: str
    visit: int
    turn: int
    seat: int
    act: str
    scientist: str
    asked: float
    due: float
    sequence: int
    needs: str
    form: str
    defaulted: bool = False
    rung: str | None = None
    verdict: str | None = None
    unruled: bool = False
    model: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    prompt_hash: str = ""
    reply: str = ""
    reason: str = ""
    live: bool = False
    noticed: str = ""

    def again(self, act: str, number: int) -> Call:
        """The row of the n-th ``re-ask`` or ``trim``, under an id that extends this one."""
        return replace(
            self,
            id=f"{self.id}/{act}{number}",
            act=act,
            needs=self.id,
            rung=None,
            verdict=None,
            noticed="",
        )


row_of: Callable[[Call], tuple[Any, ...]] = attrgetter(*Call.__slots__)
"""The values of a call in the order of the columns."""


@dataclass(frozen=True)
class PageRequest(Request):
    """A request with the text of its template, and the schema that is sent."""

    page: str = ""
    instructions: str = ""
    schema_text: str = ""


@dataclass(slots=True)
class PendingCall:
    """A question whose slots have not settled yet, with the rows of its call and re-asks."""

    call: Call
    who: Profile
    role: str
    prompt: Prompt
    form: type[Form]
    slots: Mapping[str, Any]
    seed: int
    memory: tuple[Recollection, ...] = ()
    cue: Any = None
    year: int | None = None
    calls: list[Call] = field(default_factory=list)
    page_values: Mapping[str, Any] = field(default_factory=dict)
    looks: Any = None
    last_text: str = ""


def text_of(value: Any) -> str:
    """The text of a value for searches and memories: its ``query`` field, or all its words."""
    if value is None or isinstance(value, str):
        return value or ""
    query = getattr(value, "query", None)
    return query if isinstance(query, str) else str(value.words())


RE_ASKS = 2
"""Requests after an unreadable reply, before the form's default is used."""
TRIMS = 3
"""Times a prompt that is too long is halved before that is the verdict."""


async def ask_model(pending: PendingCall, gateway: Gateway) -> Form:
    """Render the prompt, ask the model and read the reply; fill in the row of the call."""
    # Before the request: a call that held a slot of the gateway while it waits for the reply to
    # another call could wait forever (rule 17).
    slots = dict(pending.slots)
    for name, value in slots.items():
        if isinstance(value, MAY_HOLD):
            slots[name] = await settled(value)
    slots |= {"role": pending.role, "me": pending.who, "year": pending.year, "memory": ()}
    if pending.memory:
        slots["memory"] = recall(pending.memory, text_of(await settled(pending.cue)))
    # By the id alone, and never by load or failure (rule 6).
    backend = gateway.backend.backend_for(pending.call.id, pending.who.id)
    pending.call.live = not backend.rule_based
    answer_form, schema = texts_for(pending.form, slots, sent=backend.sends_schema)
    room = {"most_words": words_that_fit(backend.max_reply_tokens)}
    messages = build_messages(pending.prompt, {**pending.page_values, **slots, **room}, answer_form)
    if pending.looks is not None and not pending.call.live:
        # After the prompt is made, and never for a model: worth is in no prompt.
        slots["looks"] = await settled(pending.looks)
    call, prompt = pending.call, pending.prompt
    request = PageRequest(
        id=call.id,
        who=pending.who,
        messages=messages,
        form=pending.form,
        slots=slots,
        seed=pending.seed,
        due=call.due,
        asked=call.asked,
        model_settings=backend.model_settings,
        temperature=prompt.temperature,
        page=prompt.name,
        instructions=prompt.instructions,
        schema_text=schema,
    )
    try:
        reply = await _Attempts(pending, gateway, backend).reply(request)
    except Verdict as verdict:
        # The default replaces a missing reply only; any other error stops the run (rule 1).
        call.verdict = verdict_name(verdict)
        came = pending.last_text or str(verdict)
        echoed = "echoed" in call.noticed
        gateway.record_reading(call.form, came, live=call.live, echoed=echoed, hint=verdict.hint)
        default = pending.form.fallback(slots)
        if default is None:
            raise
        call.defaulted, call.rung = True, "default"
        reply = default
    else:
        gateway.record_reading(call.form, None, live=call.live, echoed="echoed" in call.noticed)
    # Canonical, not as the model wrote it: the digest is of the accepted text.
    call.reply, call.reason = reply.as_json(), reply.stated_reason
    return reply


@dataclass(slots=True)
class _Attempts:
    """The attempts at one question whose slots have settled: trimmed, asked, asked again."""

    pending: PendingCall
    gateway: Gateway
    backend: Backend

    async def reply(self, request: PageRequest) -> Form:
        """The reply of the model, read into its form."""
        row = call = self.pending.call
        for number in range(RE_ASKS + 1):
            if number:
                # A row and an id of its own, so the journal keeps both replies; the seed stays
                # (rule 5).
                row = self._repeated("re-ask", number)
                request = replace(request, id=row.id, attempt=number)
            reply, request = await self._text(row, request)
            if reply.cut:
                self._notice(row, "cut")
            try:
                parsed = read_reply(self.pending.form, reply.text, cut=reply.cut)
                parsed.form.check_against(request.slots)
                self._check_text(row, parsed.form, request)
            except ReplyError as error:
                # Kept under another name: Python deletes ``error`` at the end of this clause.
                unreadable = error
                row.rung = "unread"
                # The next attempt shows the model its reply and what was wrong with it.
                request = replace(request, messages=reask_messages(request.messages, reply, error))
            else:
                row.rung = parsed.rung
                call.rung = "re-asked" if number else parsed.rung
                return parsed.form
        raise unreadable

    def _check_text(self, row: Call, reply: Form, request: PageRequest) -> None:
        """Record formal problems of a model's reply; ask again if it copies the prompt."""
        # Rules say the same again, and copy nothing.
        if not row.live:
            return
        room = words_that_fit(self.backend.max_reply_tokens)
        noticed = check_text(reply, request.schema_text, request.instructions, room)
        if noticed.echoed:
            self._notice(row, "echoed")
            raise copied(noticed.echoed)
        fields = [name for name in noticed.short if name]
        if request.attempt == 0 and fields:
            raise UnfitReply(f'"{fields[0]}" is too short for what was asked.')
        if noticed.short:
            self._notice(row, "short")
        if noticed.loop:
            self._notice(row, "loop")

    def _notice(self, row: Call, what: str) -> None:
        """Record something in the rows of a request and of its call."""
        for row_or_call in (row, self.pending.call):
            noticed = {*row_or_call.noticed.split(), what}
            row_or_call.noticed = " ".join(name for name in NOTICED if name in noticed)

    async def _text(self, row: Call, request: PageRequest) -> tuple[Reply, PageRequest]:
        """The text of the reply, and the request as it was sent, trimmed where too long."""
        room = self.backend.max_prompt_characters
        if room is not None:
            # By a fixed rule and before the hash, so a resumed run makes the same request
            # (rule 22).
            request = replace(request, messages=trim_messages(request.messages, room))
        for trims in range(TRIMS + 1):
            if trims:
                # Tens and units, so that no re-ask and no trim of another re-ask has this id.
                row = self._repeated("trim", 10 * request.attempt + trims)
                half = total_characters(request.messages) // 2
                messages = trim_messages(request.messages, half)
                request = replace(request, id=row.id, messages=messages)
            row.prompt_hash = request.hash
            try:
                reply = await self.gateway.complete(request)
            except Overflow:
                row.verdict = "overflow"
                if trims == TRIMS:
                    raise
            else:
                row.model, row.unruled, row.reply = reply.model, reply.unruled, reply.text
                row.prompt_tokens = reply.usage.prompt_tokens
                row.completion_tokens = reply.usage.completion_tokens
                self.pending.last_text = reply.text
                return reply, request
        raise AssertionError("a loop that only returns or raises")

    def _repeated(self, act: str, number: int) -> Call:
        row = self.pending.call.again(act, number)
        self.pending.calls.append(row)
        return row
