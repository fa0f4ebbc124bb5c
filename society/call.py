"""Call and Question: one question to one scientist, as a row and before it is asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from agents.forms import Form
from agents.memory import Recollection
from agents.profile import Profile
from agents.prompt import Prompt


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
    rung: str | None = None
    verdict: str | None = None
    model: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    prompt_hash: str = ""
    reply: str = ""
    live: bool = False

    def row(self) -> tuple[Any, ...]:
        """The row in the order of ``society.tables``."""
        return (
            *(self.id, self.team, self.stage, self.visit, self.turn, self.seat, self.act),
            *(self.scientist, self.asked, self.due, self.sequence, " ".join(self.needs)),
            *(self.form, self.defaulted, self.rung, self.verdict),
            *(self.model.endswith("unruled"), self.model),
            *(self.prompt_tokens, self.completion_tokens, self.prompt_hash, self.reply),
            self.live,
        )

    def again(self, act: str, number: int) -> Call:
        """The row of a re-ask or of a trimmed asking, under an id that extends this one."""
        return replace(
            self,
            id=f"{self.id}/{act}{number}",
            act=act,
            needs=(self.id,),
            rung=None,
            verdict=None,
        )


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
