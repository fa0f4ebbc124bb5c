"""A backend in which people answer for chosen scientists, and another backend for all others.

The questions to a chosen scientist stand in a folder, as with the backend ``inbox``. A person who
does not answer within the time limit is answered for by the other backend, and the reply's name of
the model says so. Whatever was answered is in the journal like any other reply, so a run resumes
and replays as ever: neither the time limit nor the person is asked again.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import ClassVar

from pydantic import Field, PrivateAttr, model_validator

from virsci_society.agents.backends.hybrid import Hybrid
from virsci_society.agents.errors import Fault
from virsci_society.agents.gateway.backend import Backend, Endpoint
from virsci_society.agents.offline.backend import Offline
from virsci_society.agents.people.folder import QuestionFolder
from virsci_society.agents.people.inbox import AnswerWatch, Inbox, close_watches
from virsci_society.agents.prompts.request import INSTEAD, PERSON, Reply, Request, Usage, is_person


class Seat(Backend):
    """People answer for chosen scientists, another backend for the rest."""

    execution: ClassVar[frozenset[str]] = frozenset({"path", "poll", "time_limit"})

    scientists: tuple[str, ...] = Field(min_length=1, max_length=1000)
    """For whom people answer: masked names, such as ``Scientist12``, or ids of teams, such as
    ``Scientist12/1``, for all that is asked in that team. Source: the user's choice."""
    path: Path = Field(
        json_schema_extra={"hint": "name a folder, for instance with --set backend.path=inbox"}
    )
    """Folder in which people are asked and answer, as with ``inbox``; made if it is not there."""
    answered_by: str | None = Field(
        default=None, min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f-\x9f]*$"
    )
    """Who the people are, in a few words or as a pseudonym, for reports and tables; null: not
    stated. Source: the user's choice."""
    poll: float = Field(default=0.5, gt=0, le=3600, allow_inf_nan=False)
    """Seconds between two looks for answers; one that is the same at two looks is complete."""
    time_limit: float | None = Field(default=None, gt=0, le=10**9, allow_inf_nan=False)
    """Seconds that a person has for each answer; then ``base`` answers, and the tables say so.
    null: a person is waited for without end."""
    base: Backend = Field(default_factory=Offline)
    """Who speaks for all other scientists: rules, or a language model. Source: assumed."""

    _watches: list[AnswerWatch] = PrivateAttr(default_factory=list)

    @model_validator(mode="after")
    def _fits_together(self) -> Seat:
        if isinstance(self.base, (Seat, Hybrid, Inbox)):
            raise ValueError("base takes rules or a language model: offline, litellm or openai")
        return self

    def is_taken(self, call: str, who: str) -> bool:
        """Does a person answer this call?

        Args:
            call: id of the call.
            who: masked name of the scientist who is asked.
        """
        team = "/".join(call.split("/", 2)[:2])
        return who in self.scientists or team in self.scientists

    def backend_for(self, call: str, who: str = "") -> Backend:
        """The rules, where no person is asked and rules speak for the rest; else itself."""
        # Rules that answer at once then need no slot and no budget.
        rules = self.base.rule_based and self.base.inline
        return self.base if rules and not self.is_taken(call, who) else self

    @property
    def name(self) -> str:
        """The name in place of a model's where a person answers."""
        return f"{PERSON} ({self.answered_by})" if self.answered_by else PERSON

    @property
    def about(self) -> str:
        """The sentence for reports: for whom people answer, and who answers for the rest."""
        who = f" ({self.answered_by})" if self.answered_by else ""
        return f"people{who}, for {', '.join(self.scientists)}; for the rest {self.base.about}"

    @property
    def model(self) -> str:
        """The name of the model, or that of the person where rules speak for the rest."""
        return str(getattr(self.base, "model", self.name))

    @property
    def model_settings(self) -> str:
        """For whom people answer, who they are, and the settings of the other backend."""
        settings = {"answered_by": self.answered_by, "base": self.base.model_settings}
        return json.dumps({"scientists": sorted(self.scientists), **settings})

    @property
    def paid(self) -> Backend:
        """The model that speaks for the rest; itself where rules do."""
        return self if self.base.rule_based else self.base.paid

    def with_paid(self, paid: Backend) -> Seat:
        """The same seats, with another model for the rest."""
        if isinstance(paid, Seat):
            return paid
        return self.model_copy(update={"base": self.base.with_paid(paid)})

    @property
    def parts(self) -> dict[str, Backend]:
        """The other backend, by its key."""
        return {"base": self.base}

    @property
    def max_reply_tokens(self) -> int:
        """That of the other backend."""
        return self.base.max_reply_tokens

    @property
    def max_prompt_characters(self) -> int | None:
        """That of the other backend."""
        return self.base.max_prompt_characters

    @property
    def unreadable_advice(self) -> str:
        """The other backend's advice, with its keys where they stand here."""
        return self.base.unreadable_advice.replace("backend.", "backend.base.")

    @property
    def waiting_for(self) -> str:
        """How many questions to people are open, or what the model's calls wait for."""
        # A copy, because this is read from another thread than the loop's.
        number = sum(watch.number_open for watch in list(self._watches))
        if not number:
            return self.base.waiting_for
        return f"{number:,} question{'s' * (number > 1)} to people open in {self.path}"

    @property
    def priced(self) -> bool:
        """True if the price of the model is known."""
        return self.base.priced

    def endpoint(self) -> Endpoint:
        """That of the other backend, which passes the questions to people to their folder.

        Raises:
            InputError: the folder cannot be used.
        """
        watch = AnswerWatch(QuestionFolder(self.path), self.poll, self.time_limit)
        self._watches.append(watch)
        base = self.base.endpoint()
        complete = partial(self._route, watch, base.complete)
        return replace(base, name=base.name or PERSON, complete=complete)

    def price(self, usage: Usage) -> float:
        """Price of these tokens at the other backend, in US dollars; people's words have none."""
        return self.base.price(usage)

    async def complete(self, request: Request) -> Reply:
        """Make one attempt: ask a person, or the other backend."""
        return await self.endpoint().complete(request)

    async def close(self) -> None:
        """Look for no further answers, and close the other backend's connections."""
        await close_watches(self._watches)
        await self.base.close()

    async def _route(
        self,
        watch: AnswerWatch,
        others: Callable[[Request], Awaitable[Reply]],
        request: Request,
    ) -> Reply:
        if not self.is_taken(request.id, request.who.id):
            return _as_model(await others(request))
        try:
            # A person's words cost nothing, so no tokens are counted for them.
            return Reply(await watch.ask(request), Usage(estimated=False), self.name)
        except Fault as fault:
            if fault.kind != "unanswered":
                raise
        reply = await others(request)
        return replace(reply, model=f"{INSTEAD}{self.name}: {reply.model}")


def _as_model(reply: Reply) -> Reply:
    """A reply of the other backend, whose model must not call itself a person."""
    return replace(reply, model=f"model {reply.model}") if is_person(reply.model) else reply
