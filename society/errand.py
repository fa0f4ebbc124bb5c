"""Errand: the work that settles one Answer, and the two ways of driving it.

Work is a coroutine. Where it needs the words of another Answer it yields that Answer; where it
would have to be paid for while nothing may be paid, it yields ``SHUT``; everything else that it
yields belongs to asyncio. On the clock's thread it is driven by ``send`` and left standing at
what it yields; on the loop's thread it goes on from there as a task.
"""

from __future__ import annotations

import asyncio
import types
from collections.abc import Coroutine, Generator
from dataclasses import dataclass
from typing import Any

from agents.gateway import SHUT
from society.answer import Answer, answers_in

Work = Coroutine[Any, Any, Any]


@dataclass(eq=False, slots=True)
class Errand:
    """One Answer's work, and how far it is.

    Attributes:
        answer: what it settles.
        work: the coroutine.
        bounded: it counts among the outstanding questions.
        pending: what it stands at; None before its start.
    """

    answer: Answer[Any]
    work: Work
    bounded: bool
    pending: Any = None


@types.coroutine
def _words_of(answer: Answer[Any]) -> Generator[Any, Any, None]:
    while not answer._settled:
        yield answer


async def settled(value: Any) -> Any:
    """The value of a slot once its Answers have settled; what settled to None is left out.

    Raises:
        SocietyError: the error of the first Answer that has one.
    """
    if isinstance(value, Answer):
        await _words_of(value)
        if value._error is not None:
            raise value._error
        return value._value
    if isinstance(value, (tuple, list)) and answers_in(value):
        parts = [await settled(item) for item in value]
        return tuple(part for part in parts if part is not None)
    return value


@types.coroutine
def on_loop(errand: Errand) -> Generator[Any, Any, Any]:
    """Go on with work on the loop's thread, from wherever it stands."""
    work, pending = errand.work, errand.pending
    try:
        while True:
            try:
                if isinstance(pending, Answer):
                    yield from _settling(pending)
                elif pending is not None and pending is not SHUT:
                    yield pending
            except BaseException as error:
                pending = work.throw(error)
            else:
                pending = work.send(None)
    except StopIteration as end:
        return end.value


def _settling(answer: Answer[Any]) -> Generator[Any, Any, None]:
    if answer._settled:
        return
    waiter = asyncio.get_running_loop().create_future()
    answer._waiters.append(lambda: None if waiter.done() else waiter.set_result(None))
    yield from waiter
