"""Handful: a few questions of a scenario put to its real model, one of each form.

The questions come from a rehearsal, so they are those that a run would ask. They pass the real
gateway; their answers are kept in memory and forgotten.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import monotonic

from agents.backend import Backend, Endpoint
from agents.budget import Budget
from agents.errors import ReplyError, SocietyError, Stopped, Verdict
from agents.faults import Fault
from agents.gateway import Gateway
from agents.journal import Journal
from agents.kept import Kept
from agents.ledger import Attempt
from agents.offline.rehearsal import Rehearsal
from agents.prompt import asked_again
from agents.reading import read_reply
from agents.request import Reply, Request
from agents.retry import Retry
from scenarios.rates import Rates
from scenarios.schema import Scenario

CALLS = 20
"""Most calls of one handful, re-asks included."""
REHEARSED = 1_500
"""Calls of a rehearsal after which no further form is looked for."""
SIDE_BY_SIDE = 8
"""Most questions at a time."""
SHORT = 16
"""Tokens that a reply is held to, to see whether the model keeps to a limit."""


@dataclass(frozen=True)
class Tried:
    """One way to the model and what came of one question: a reply, or what went wrong."""

    endpoint: str
    seconds: float
    reply: Reply | None = None
    trouble: SocietyError | None = None


@dataclass
class Heard:
    """What came of a handful.

    Attributes:
        rungs: how each form was read, by its name; ``unread``, or the verdict, if it was not.
        attempts: the ledger.
        seconds: from the first question to the last answer.
        side_by_side: most questions at a time.
        stopped: why not everything was asked; None if it was.
    """

    rungs: dict[str, str] = field(default_factory=dict)
    attempts: list[Attempt] = field(default_factory=list)
    seconds: float = 0.0
    side_by_side: int = 1
    stopped: Stopped | None = None


def questions(scenario: Scenario) -> list[Request]:
    """The first question of each form that a rehearsal asks, in the order of being asked."""
    from scenarios.build import build_society

    first: dict[str, Request] = {}
    asked = 0

    def note(request: Request) -> Kept | None:
        nonlocal asked
        asked += 1
        first.setdefault(request.form.__name__, request)
        return None

    backend = Rehearsal(part=scenario.speaker, manner=Rates("").manner("low"), known=note)
    society = build_society(scenario, gateway=Gateway(backend, 1))
    while society.running and asked < REHEARSED:
        society.step()
    return list(first.values())


async def try_each(backend: Backend, question: Request) -> list[Tried]:
    """Put one question to every way to the model, one attempt each.

    Raises:
        InputError: a way cannot be opened; the message says what is missing.
    """
    try:
        return [await _tried(endpoint, question) for endpoint in backend.endpoints()]
    finally:
        await backend.close()


async def _tried(endpoint: Endpoint, question: Request) -> Tried:
    began = monotonic()
    reply: Reply | None = None
    trouble: SocietyError | None = None
    try:
        reply = await endpoint.complete(question)
    except (Fault, Verdict) as error:
        trouble = error
    return Tried(endpoint.name, monotonic() - began, reply, trouble)


async def try_twice(backend: Backend, question: Request) -> list[Tried]:
    """Put the same question twice, the second time over a connection that is open already."""
    try:
        endpoint = backend.endpoints()[0]
        return [await _tried(endpoint, question) for _ in range(2)]
    finally:
        await backend.close()


async def hold(backend: Backend, asked: Sequence[Request], in_flight: int) -> Heard:
    """Put the questions through the gateway, side by side, each asked again once if need be."""
    slots = max(1, min(in_flight, SIDE_BY_SIDE))
    heard, began = Heard(side_by_side=slots), monotonic()
    with Journal.open(None) as journal:
        retry = Retry(attempts=3, first=0.5, longest=5.0, patience=60.0)
        gateway = Gateway(backend, slots, journal, retry=retry, budget=Budget(calls=CALLS))
        try:
            async with asyncio.TaskGroup() as group:
                for request in asked:
                    group.create_task(_read(gateway, request, heard))
        finally:
            await gateway.close()
            journal.flush()
            heard.attempts = list(journal.attempts())
    heard.seconds = monotonic() - began
    return heard


async def _read(gateway: Gateway, request: Request, heard: Heard) -> None:
    name = request.form.__name__
    try:
        reply = await gateway.complete(request)
        try:
            heard.rungs[name] = read_reply(request.form, reply.text, cut=reply.cut).rung
        except ReplyError as error:
            messages = asked_again(request.messages, reply, error)
            again = replace(request, id=f"{request.id}/re-ask1", attempt=1, messages=messages)
            reply = await gateway.complete(again)
            read_reply(request.form, reply.text, cut=reply.cut)
            heard.rungs[name] = "re-asked"
    except ReplyError:
        heard.rungs[name] = "unread"
    except Verdict as verdict:
        heard.rungs[name] = type(verdict).__name__.lower()
    except Stopped as stop:
        heard.stopped = stop


def counted(rungs: Mapping[str, str]) -> dict[str, int]:
    """How many forms were read how; the best way first."""
    order = ("strict", "found", "repaired", "re-asked", "unread")
    counts = {rung: sum(one == rung for one in rungs.values()) for rung in order}
    others = sorted(set(rungs.values()) - set(order))
    return counts | {rung: sum(one == rung for one in rungs.values()) for rung in others}
