"""A few questions of a scenario put to its real model, one of each form.

The questions come from a rehearsal, so they are those that a run would ask. They pass the real
gateway; their answers are kept in memory and forgotten.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Literal

from virsci_society.agents.errors import (
    BudgetReached,
    Fault,
    ReplyError,
    SocietyError,
    Stopped,
    Verdict,
)
from virsci_society.agents.gateway.backend import Backend, Endpoint
from virsci_society.agents.gateway.budget import Budget
from virsci_society.agents.gateway.gateway import Gateway
from virsci_society.agents.gateway.retry import Retry
from virsci_society.agents.journal.journal import Journal
from virsci_society.agents.journal.records import Attempt
from virsci_society.agents.prompts.request import Reply, Request, reask_messages
from virsci_society.agents.replies.parser import read_reply
from virsci_society.scenarios.config.schema import Scenario
from virsci_society.scenarios.planning.model_rates import ModelRates
from virsci_society.scenarios.runs.rehearsal import Rehearsal

CALLS = 20
"""Most calls of one handful, re-asks included."""
REHEARSED = 1_500
"""Calls of a rehearsal after which no further form is looked for."""
SIDE_BY_SIDE = 8
"""Most questions at a time."""
SHORT = 16
"""Tokens that a reply is held to, to see whether the model keeps to a limit."""


State = Literal["ok", "note", "problem"]


@dataclass(frozen=True)
class CheckResult:
    """The result of one check, with advice where something is to be done.

    Attributes:
        state: ``ok``, ``note`` or ``problem``.
        message: what was found.
        advice: what to do; empty where nothing is.
    """

    state: State
    message: str
    advice: str = ""


@dataclass(frozen=True)
class EndpointTrial:
    """The reply of a model to one question; ``trouble`` is the error in place of a reply."""

    seconds: float
    reply: Reply | None = None
    trouble: SocietyError | None = None


@dataclass
class ProbeResult:
    """The outcome of a probe.

    Attributes:
        rungs: how the reply to each form was read, by the form's name; ``unread``, or the verdict,
            if it was not.
        attempts: every call that was made.
        side_by_side: most questions at a time.
        stopped: why not everything was asked; None if everything was.
    """

    rungs: dict[str, str] = field(default_factory=dict)
    attempts: list[Attempt] = field(default_factory=list)
    side_by_side: int = 1
    stopped: Stopped | None = None


def first_questions(scenario: Scenario) -> list[Request]:
    """The first question of each form that a rehearsal asks, in the order of being asked."""
    rehearsal = Rehearsal(scenario, ModelRates("").mimic_settings("low"))
    rehearsal.run(most=REHEARSED)
    return list(rehearsal.first.values())


async def try_once(backend: Backend, question: Request) -> EndpointTrial:
    """Put one question to a model, in one attempt.

    Raises:
        InputError: the endpoint cannot be opened; the message says what is missing.
    """
    try:
        return await _tried(backend.endpoint(), question)
    finally:
        await backend.close()


async def _tried(endpoint: Endpoint, question: Request) -> EndpointTrial:
    began = monotonic()
    reply: Reply | None = None
    trouble: SocietyError | None = None
    try:
        reply = await endpoint.complete(question)
    except (Fault, Verdict) as error:
        trouble = error
    return EndpointTrial(monotonic() - began, reply, trouble)


async def try_twice(backend: Backend, question: Request) -> list[EndpointTrial]:
    """Put the same question twice, the second time over a connection that is open already."""
    try:
        endpoint = backend.endpoint()
        return [await _tried(endpoint, question) for _ in range(2)]
    finally:
        await backend.close()


async def run_probe(
    backend: Backend, asked: Sequence[Request], in_flight: int, result: ProbeResult
) -> None:
    """Put the questions through the gateway, side by side; an unreadable reply is asked again once.

    Args:
        backend: of the model.
        asked: one question of each form.
        in_flight: most calls at a time by the scenario; a probe takes 8 at most.
        result: is filled in, also where the probe is cancelled before its end.
    """
    slots = result.side_by_side = max(1, min(in_flight, SIDE_BY_SIDE))
    with Journal.open(None) as journal:
        # Shorter waits than those of a run: somebody sits before the doctor and waits.
        retry = Retry(attempts=3, first=0.5, longest=5.0, patience=60.0)
        gateway = Gateway(backend, slots, journal, retry=retry, budget=Budget(calls=CALLS))
        try:
            async with asyncio.TaskGroup() as group:
                for request in asked:
                    group.create_task(_read(gateway, request, result))
        finally:
            await gateway.close()
            journal.flush()
            result.attempts = list(journal.attempts())


async def _read(gateway: Gateway, request: Request, result: ProbeResult) -> None:
    name = request.form.__name__
    try:
        reply = await gateway.complete(request)
        try:
            result.rungs[name] = read_reply(request.form, reply.text, cut=reply.cut).rung
        except ReplyError as error:
            messages = reask_messages(request.messages, reply, error)
            again = replace(request, id=f"{request.id}/re-ask1", attempt=1, messages=messages)
            reply = await gateway.complete(again)
            read_reply(request.form, reply.text, cut=reply.cut)
            result.rungs[name] = "re-asked"
    except ReplyError:
        result.rungs[name] = "unread"
    except Verdict as verdict:
        result.rungs[name] = type(verdict).__name__.lower()
    except Stopped as stop:
        # After the first stop the gateway ends every other call with a Stopped that has no reason.
        if result.stopped is None or isinstance(stop, BudgetReached):
            result.stopped = stop


def count_rungs(rungs: Mapping[str, str]) -> dict[str, int]:
    """How many forms were read on each rung of the parser; the best rung first."""
    order = ("strict", "found", "repaired", "re-asked", "unread")
    counts = {rung: sum(one == rung for one in rungs.values()) for rung in order}
    others = sorted(set(rungs.values()) - set(order))
    return counts | {rung: sum(one == rung for one in rungs.values()) for rung in others}
