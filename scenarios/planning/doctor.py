"""Doctor: is everything there that a run needs, and does the model do what is asked of it?

Every finding says what to do about it. Nothing is written; a scenario of rule-based scientists
makes no connection, that of a language model costs a handful of calls.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Iterator
from statistics import median
from typing import Any, TypeVar

from agents.backend import Backend
from agents.errors import SocietyError
from agents.faults import Fault
from agents.ledger import ANSWERED
from agents.offline.scientist import Offline
from agents.request import Request
from scenarios.handful import SHORT, Heard, Tried, counted, hold, questions, try_each, try_twice
from scenarios.installation import Finding, installation
from scenarios.schema import Scenario

T = TypeVar("T")

SECONDS, QUICK_SECONDS = 240.0, 90.0
"""Most real seconds with a model."""
OFTEN = 0.2
"""Share of the forms that may have to be asked for again without a word about it."""
CROWDED = 2.0
"""Questions side by side that take so many times as long as one alone wait for each other."""
AT_ONCE = 0.25
"""A call that takes no more seconds than this is no reason to ask for fewer at a time."""


def examine(scenario: Scenario, *, quick: bool = False) -> Iterator[Finding]:
    """Look at the installation and, where the scenario names one, at its model."""
    yield from installation()
    backend = scenario.backend.backend
    if isinstance(backend.paid, Offline):
        yield Finding("ok", f"who speaks: {backend.about}; nothing was connected to")
        return
    yield Finding("ok", f"who speaks: {backend.about}")
    missing = list(keys(backend.paid))
    yield from missing
    if any(finding.state == "problem" for finding in missing):
        return
    asked = questions(scenario)
    if not asked:
        yield Finding("problem", "the scenario asks nothing", "raise until, or found more teams")
        return
    yield from Visit(scenario, asked, quick).findings()


def keys(backend: Backend) -> Iterator[Finding]:
    """Are the environment variables set that the scenario names? Their values are not shown."""
    for name in dict.fromkeys(way.key for way in _ways(backend) if way.key):
        if os.environ.get(name, "").strip():
            yield Finding("ok", f"the environment variable {name} is set")
        else:
            yield Finding("problem", f"the environment variable {name} is not set", f"set {name}")


class Visit:
    """One visit to the model, within a time limit.

    Args:
        scenario: whose model it is.
        asked: one question of each form.
        quick: ask one question and no more.
    """

    def __init__(self, scenario: Scenario, asked: list[Request], quick: bool) -> None:
        self._speaking, self._backend = scenario.backend, scenario.backend.backend.paid
        self._asked, self._quick = asked, quick
        self._alone = 0.0

    def findings(self) -> Iterator[Finding]:
        """Every way to the model, then the forms and what else a run relies on."""
        tried = self._within(try_each(self._backend, self._asked[0]))
        if isinstance(tried, SocietyError):
            yield _trouble(tried, "the model")
            return
        yield from map(_way, tried)
        answered = [one for one in tried if one.reply is not None]
        if not answered:
            return
        yield self._counts(answered)
        yield self._price()
        if not self._quick:
            yield self._seed()
            yield from self._forms()
            yield from self._limit()

    def _forms(self) -> Iterator[Finding]:
        heard = self._within(hold(self._backend, self._asked, self._speaking.in_flight))
        if isinstance(heard, SocietyError):
            yield _trouble(heard, "the handful of questions")
            return
        if heard.stopped is not None:
            yield _trouble(heard.stopped, f"after {len(heard.rungs)} of {len(self._asked)} forms")
        yield _read(heard)
        seconds = [one.seconds for one in heard.attempts if one.outcome == ANSWERED]
        if seconds:
            yield Finding(
                "ok", f"latency: median {median(seconds):.2f} s, worst {max(seconds):.2f} s"
            )
            yield self._crowd(median(seconds), heard)
        if getattr(self._backend, "priced", True):
            usd = sum(one.usd for one in heard.attempts)
            yield Finding("ok", f"{len(heard.attempts)} test calls cost {usd:.6f} US dollars")

    def _counts(self, answered: list[Tried]) -> Finding:
        if all(one.reply is not None and not one.reply.usage.estimated for one in answered):
            return Finding("ok", "tokens are counted by the provider")
        return Finding(
            "note",
            "the provider does not count tokens; budgets and costs go by four characters each",
            "switch usage on at the server, if it can",
        )

    def _price(self) -> Finding:
        if getattr(self._backend, "priced", True):
            return Finding("ok", "the price of the model is known")
        return Finding(
            "note",
            "the price of the model is not known, so a budget in dollars cannot be set",
            "give backend.prices.input and backend.prices.output per million tokens",
        )

    def _crowd(self, beside: float, heard: Heard) -> Finding:
        times, slots = beside / max(self._alone, 1e-3), heard.side_by_side
        told = f"{slots} calls at a time took {times:.1f} times as long as one alone"
        if times < CROWDED or beside < AT_ONCE:
            return Finding("ok", f"{told}; backend.in_flight is {self._speaking.in_flight}")
        fewer = max(1, round(slots / times))
        return Finding("note", told, f"the server works on few at a time; try in_flight={fewer}")

    def _limit(self) -> Iterator[Finding]:
        if "max_tokens" not in type(self._backend).model_fields:
            return
        short = self._backend.model_copy(update={"max_tokens": SHORT})
        tried = self._within(try_each(short, self._asked[-1]))
        if isinstance(tried, SocietyError):
            yield _trouble(tried, "a reply held short")
            return
        for one in tried:
            tokens = one.reply.usage.completion_tokens if one.reply is not None else 0
            if tokens <= 2 * SHORT:
                yield Finding("ok", f"replies are held to max_tokens{_by(one)}")
            else:
                yield Finding(
                    "problem",
                    f"replies are not held to max_tokens{_by(one)}: {tokens} tokens came where "
                    f"{SHORT} were asked for, so a budget could be overspent",
                    "see whether the server takes max_tokens, or use another endpoint",
                )

    def _seed(self) -> Finding:
        tried = self._within(try_twice(self._backend, self._asked[0]))
        if isinstance(tried, SocietyError):
            return _trouble(tried, "the same question twice")
        self._alone = min(one.seconds for one in tried)
        first, second = (one.reply.text if one.reply else None for one in tried)
        if first is None or second is None:
            return Finding("note", "the same question was not answered twice")
        if first == second:
            return Finding("ok", "the same question with the same seed was answered the same")
        return Finding(
            "note",
            "the same question with the same seed was answered otherwise; a run that is resumed "
            "or replayed stays the same all the same, because its journal keeps every word",
        )

    def _within(self, work: Awaitable[T]) -> T | SocietyError:
        """What came of it within the time limit."""

        async def limited() -> T:
            async with asyncio.timeout(QUICK_SECONDS if self._quick else SECONDS):
                return await work

        try:
            return asyncio.run(limited())
        except TimeoutError:
            return Fault("no answer within the doctor's time", "timeout")
        except SocietyError as error:
            return error


def _way(one: Tried) -> Finding:
    if one.trouble is not None and isinstance(one.trouble, Fault):
        return _trouble(one.trouble, f"the model does not answer{_by(one)}")
    if one.reply is None:
        return Finding(
            "note", f"the first test question had no words for an answer{_by(one)}: {one.trouble}"
        )
    name = f" as {one.reply.model}" if one.reply.model else ""
    return Finding("ok", f"the model answers{_by(one)}{name}, in {one.seconds:.2f} s")


def _read(heard: Heard) -> Finding:
    counts = counted(heard.rungs)
    told = ", ".join(f"{count} {rung}" for rung, count in counts.items() if count)
    what = f"forms: {len(heard.rungs)} asked for; {told or 'none answered'}"
    unread = [name for name, rung in heard.rungs.items() if rung == "unread"]
    if unread:
        return Finding(
            "problem",
            f"{what}; never filled: {', '.join(unread)}",
            "use backend.structured=on if the server can, or a larger model",
        )
    if counts["re-asked"] > OFTEN * len(heard.rungs):
        return Finding("note", what, "re-asks cost; backend.structured=on may save them")
    return Finding("ok", what)


def _trouble(error: SocietyError, where: str) -> Finding:
    advice = error.rule.advice if isinstance(error, Fault) else "mend that, and ask again"
    return Finding("problem", f"{where}: {error}", advice)


def _by(one: Tried) -> str:
    return f" at {one.endpoint}" if one.endpoint else ""


def _ways(backend: Backend) -> tuple[Any, ...]:
    ways = getattr(backend, "ways", None)
    return tuple(ways()) if callable(ways) else ()
