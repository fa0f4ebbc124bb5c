"""Call: one question to one scientist, from its slots to the form it filled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from agents.errors import ReplyError
from agents.forms import Form, read_form
from agents.gateway import Gateway
from agents.memory import Recollection, recall
from agents.profile import Profile
from agents.prompt import DEFINITION, Prompt
from agents.request import Message, Reply, Request
from society.dispatch import settled

RE_ASKS = 2
"""Times an unreadable reply is asked for again before the form's default stands."""


@dataclass(slots=True)
class Call:
    """One row of the table ``calls``; what the model said is filled in when it has settled."""

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
    form: str
    needs: tuple[str, ...] = ()
    defaulted: bool = False
    model: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    prompt_hash: str = ""
    reply: str = ""

    def row(self) -> tuple[Any, ...]:
        """The row in the order of ``society.tables``."""
        return (
            *(self.id, self.team, self.stage, self.visit, self.turn, self.seat, self.act),
            *(self.scientist, self.asked, self.due, self.sequence, " ".join(self.needs)),
            *(self.form, self.defaulted, self.model.endswith("unruled"), self.model),
            *(self.prompt_tokens, self.completion_tokens, self.prompt_hash, self.reply),
        )

    def again(self, attempt: int) -> Call:
        """The row of a re-ask, under an id that extends this one."""
        return replace(self, id=f"{self.id}/re-ask{attempt}", act="re-ask", needs=(self.id,))


@dataclass(slots=True)
class Question:
    """What is asked, before its slots have settled.

    Attributes:
        call: the row it will fill.
        who: profile of the scientist asked, as of now.
        role: leader, member or guest; empty for somebody not (yet) in the team.
        prompt: the page; rendered when every slot has settled.
        form: the form of the reply.
        slots: values, Answers, or tuples of both.
        seed: of the call.
        memory: snapshot of what the scientist recalls; empty switches it off.
        cue: what memory is searched with: text or an Answer.
    """

    call: Call
    who: Profile
    role: str
    prompt: Prompt
    form: type[Form]
    slots: Mapping[str, Any]
    seed: int
    memory: tuple[Recollection, ...] = ()
    cue: Any = None
    calls: list[Call] = field(default_factory=list)
    """Rows of the asking and its re-asks."""


def text_of(value: Any) -> str:
    """The text by which a value is searched for or remembered."""
    if value is None or isinstance(value, str):
        return value or ""
    query = getattr(value, "query", None)
    return query if isinstance(query, str) else str(value.words())


async def converse(question: Question, gateway: Gateway) -> Form:
    """Render, ask, read; ask again for unreadable words; then the form's default.

    Raises:
        ReplyError: nothing could be read and the form has no default.
        Verdict: the backend passed on a refusal.
    """
    slots = {name: await settled(value) for name, value in question.slots.items()}
    slots["role"], slots["me"] = question.role, question.who
    recalled: tuple[str, ...] = ()
    if question.memory:
        recalled = recall(question.memory, text_of(await settled(question.cue)))
    slots["memory"] = recalled
    messages: tuple[Message, ...] = (
        Message("system", DEFINITION.render(slots)),
        Message("user", question.prompt.render(slots)),
    )
    call, form = question.call, question.form
    request = partial(
        Request, who=question.who, form=form, slots=slots, seed=question.seed, due=call.due
    )
    trouble: ReplyError | None = None
    for attempt in range(RE_ASKS + 1):
        row = call if attempt == 0 else call.again(attempt)
        if attempt:
            question.calls.append(row)
        asked = request(row.id, messages=messages, attempt=attempt)
        reply = await gateway.complete(asked)
        _enter(row, asked, reply)
        try:
            words = read_form(form, reply.text)
        except ReplyError as error:
            trouble = error
            messages = (*messages, Message("assistant", reply.text), _complaint(error))
        else:
            call.reply = words.as_json()
            return words
    default = form.fallback(slots)
    if default is None:
        raise trouble or ReplyError(f"{call.id}: unreadable")
    call.defaulted, call.reply = True, default.as_json()
    return default


def _enter(row: Call, request: Request, reply: Reply) -> None:
    row.model = reply.model
    row.prompt_tokens = reply.usage.prompt_tokens
    row.completion_tokens = reply.usage.completion_tokens
    row.prompt_hash = request.hash
    row.reply = reply.text


def _complaint(error: ReplyError) -> Message:
    return Message(
        "user",
        f"That answer could not be read ({error}). Please give it once more, with the JSON "
        "block exactly in the format that was asked for.",
    )
