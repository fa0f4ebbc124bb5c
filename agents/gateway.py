"""Gateway: how a request becomes words, whatever happens on the way.

Known words come from the journal. Others are asked for: a slot is taken, the budget agrees, an
intent is kept, one attempt is made, its outcome is kept, the words are used. A fault of the
provider repeats the same request or stops the run; it is never an event of the simulated world,
and nothing here depends on when an answer arrives.
"""

from __future__ import annotations

import asyncio
import types
from collections.abc import Generator
from time import monotonic
from typing import Any

from agents.backend import Backend
from agents.budget import Budget, Purse, most_tokens
from agents.commons import Commons
from agents.errors import Diverged, Stopped, Verdict
from agents.faults import Fault
from agents.journal import Journal
from agents.kept import VERDICTS, Kept, storable
from agents.lanes import Lane, Lanes
from agents.ledger import ANSWERED, Attempt
from agents.request import Reply, Request, Usage
from agents.retry import Retry

EMPTY_ATTEMPTS = 3
"""After so many empty answers to one request, emptiness is what the model has to say."""


class Shut:
    """What a request waits for while nothing may be paid yet."""


SHUT = Shut()


@types.coroutine
def _until_open() -> Generator[Any, Any, None]:
    yield SHUT


class Gateway:
    """The way to one backend.

    Args:
        backend: who speaks.
        in_flight: most attempts at a time.
        journal: where every call is kept; None: nowhere, for backends that cost nothing.
        retry: when a failed attempt is made again.
        budget: what may be spent over all sessions of the run.
        strict: nothing but what the journal knows may be said (a replay).
        commons: loop, slots and connections that this gateway shares with others, instead of
            ``in_flight`` and ``backend``'s own.
    """

    def __init__(
        self,
        backend: Backend,
        in_flight: int,
        journal: Journal | None = None,
        *,
        retry: Retry | None = None,
        budget: Budget | None = None,
        strict: bool = False,
        commons: Commons | None = None,
    ) -> None:
        self.commons, self._ended = commons, False
        self.backend, self.in_flight = backend, in_flight
        self.inline = backend.inline
        if journal is None and not self.inline:
            journal = Journal.open(None)
        self.journal = journal
        self.strict = strict
        self.shut = strict or not (journal is None or journal.fresh)
        self._lookup = journal is not None and not journal.fresh
        self._retry, self._budget = retry or Retry(), budget or Budget()
        self._unknown: tuple[float, str] | None = None
        self._lanes: Lanes | None = None
        self._purse: Purse | None = None
        self._under_way: set[asyncio.Future[None]] = set()
        self._answered, self._trouble = 0, ""

    @property
    def waiting(self) -> int:
        """Requests that wait for a slot."""
        return 0 if self._lanes is None else self._lanes.waiting

    def standing(self) -> str:
        """How the calls of this session stand, in a line: any thread may ask."""
        told = f"calls: {self._answered:,} answered, {len(self._under_way)} under way"
        if self.waiting:
            told += f", {self.waiting:,} waiting for a slot"
        return f"{told}; {self._trouble}" if self._trouble else told

    async def complete(self, request: Request) -> Reply:
        """The words of one request.

        Raises:
            Verdict: there are none, and that is what the model has to say.
            Stopped: none can be had now.
            Diverged: the journal knows the request otherwise, or not at all when it should.
        """
        voice = self.backend.voice(request.id)
        kept = self._known(request, voice.inline)
        if kept is None and self.journal is not None and request.asked < self.journal.past:
            self._compare()
            raise Diverged(_never_made((request.asked, request.id)))
        if kept is None and voice.inline:
            return await self._at_once(request, voice)
        if kept is None and self.shut:
            self._note_unknown(request)
            await _until_open()
        if kept is None:
            kept = await self._ask(request)
        return kept.words()

    def open(self) -> None:
        """From now on, unknown requests are paid for.

        Raises:
            Diverged: what has been asked so far is not what the journal holds.
        """
        self._compare()
        if self.strict and self._unknown is not None:
            raise Diverged(_never_made(self._unknown))
        self.shut = False

    def finish(self, until: float) -> None:
        """A finished run has asked for everything that its journal holds.

        Raises:
            Diverged: it has not.
        """
        self._compare()
        if self.journal is None:
            return
        left = self.journal.left_over(until)
        if left is not None:
            raise Diverged(
                f"the call {left} was made before and is not asked for any more: scenario, "
                f"prompts or code have changed; {_WAYS_ON}"
            )

    async def close(self, grace: float = 0.0) -> None:
        """Start nothing more; let what is under way come home for ``grace`` seconds."""
        self._ended = True
        if self._lanes is not None and self.commons is None:
            self._lanes.close(Stopped("the run has been stopped"))
        if self._under_way and grace > 0:
            await asyncio.wait(self._under_way, timeout=grace)
        if self.commons is None:
            await self.backend.close()

    def _known(self, request: Request, inline: bool) -> Kept | None:
        if not self._lookup or self.journal is None:
            return None
        kept = self.journal.find(request)
        if kept is None and (inline or not self.shut):
            self._compare()
        return kept

    def _compare(self) -> None:
        differing = None if self.journal is None else self.journal.differing
        if differing is not None:
            raise Diverged(
                f"the call {differing[1]} of day {differing[0]:g} was made before with other "
                f"words: its prompt, the model or its settings have changed; {_WAYS_ON}"
            )

    def _note_unknown(self, request: Request) -> None:
        place = (request.asked, request.id)
        self._unknown = place if self._unknown is None else min(self._unknown, place)

    async def _at_once(self, request: Request, voice: Backend) -> Reply:
        """Ask a backend that never suspends and costs nothing; its words are kept in passing."""
        if self.strict:
            raise Diverged(_never_made((request.asked, request.id)))
        try:
            kept = Kept.of_reply(await voice.complete(request))
        except Verdict as verdict:
            kept = Kept.of_verdict(verdict)
        if self.journal is not None:
            self.journal.keep(request, kept)
        return kept.words()

    async def _ask(self, request: Request) -> Kept:
        """Attempt after attempt, until there are words or the run must stop."""
        lanes = self._open_lanes()
        faults: list[Fault] = []
        while True:
            lane = await lanes.take(request.due, request.id, request.attempt)
            if self._ended:
                lane.give_back()
                raise Stopped("the run has been stopped")
            home: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._under_way.add(home)
            try:
                ended = await self._attempt(request, lane, faults)
            finally:
                lane.give_back()
                self._under_way.discard(home)
                home.set_result(None)
            if isinstance(ended, Kept):
                self._answered, self._trouble = self._answered + 1, ""
                return ended
            faults.append(ended)
            self._bear(request, faults)
            wait = self._retry.wait(request.id, len(faults), ended.after)
            self._trouble = f"trouble: {storable(str(ended))[:200]}; again in {wait:.0f} s"
            await asyncio.sleep(wait)

    def _bear(self, request: Request, faults: list[Fault]) -> None:
        """Raise Stopped if the last fault is not to be borne any longer."""
        fault = faults[-1]
        failed = sum(one.kind not in ("rate", "empty") for one in faults)
        silent = self._open_lanes().silent_for()
        if not fault.rule.again:
            why = ""
        elif failed >= self._retry.attempts:
            why = f"; {failed} attempts at {request.id} have failed"
        elif silent >= self._retry.patience:
            why = f"; nothing has been answered for {silent:.0f} seconds"
        else:
            return
        raise Stopped(f"{fault}{why}; {fault.rule.advice}")

    async def _attempt(self, request: Request, lane: Lane, before: list[Fault]) -> Kept | Fault:
        """One attempt, within the budget; what is cut off counts as all that it can cost."""
        _, purse = self._kept_and_paid()
        longest = self.backend.longest_reply
        most = most_tokens(request, longest)
        usd = self.backend.price(Usage(most - longest, longest))
        reservation = await purse.reserve(most, usd)
        attempt = Attempt(request.id, 0, lane.endpoint.name, most, usd)
        try:
            ended = await self._call(request, attempt, lane, before)
            spent = attempt.usage.prompt_tokens + attempt.usage.completion_tokens
            reservation.settle(spent, attempt.usd, calls=int(isinstance(ended, Kept)))
        finally:
            reservation.settle(most, usd, calls=0)
        return ended

    async def _call(
        self, request: Request, attempt: Attempt, lane: Lane, before: list[Fault]
    ) -> Kept | Fault:
        """Keep the intent, call once, keep the outcome."""
        journal, _ = self._kept_and_paid()
        await journal.intend(request, attempt)
        began = monotonic()
        kept: Kept | None = None
        fault: Fault | None = None
        try:
            kept = self._heard(attempt, await lane.endpoint.complete(request))
        except Verdict as verdict:
            kept = Kept.of_verdict(verdict)
            attempt.outcome = kept.kind
            self._bill(attempt, verdict.usage)
        except Fault as failure:
            fault = failure
            attempt.outcome, attempt.status, attempt.detail = fault.kind, fault.status, str(fault)
            self._bill(attempt, fault.usage)
            if [one.kind for one in (*before, fault)].count("empty") == EMPTY_ATTEMPTS:
                kept = Kept("answer", "")
        attempt.seconds = monotonic() - began
        if fault is None:
            lane.succeeded()
        else:
            lane.failed(fault)
        kept = await journal.conclude(request, attempt, kept)
        ended = kept or fault
        if ended is None:
            raise Stopped(f"{request.id}: the journal has not kept the answer")
        return ended

    def _heard(self, attempt: Attempt, reply: Reply) -> Kept:
        attempt.outcome = ANSWERED
        self._bill(attempt, reply.usage)
        return Kept.of_reply(reply)

    def _bill(self, attempt: Attempt, usage: Usage | None) -> None:
        if usage is not None:
            attempt.usage, attempt.usd = usage, self.backend.price(usage)

    def _open_lanes(self) -> Lanes:
        if self._lanes is None and self.commons is not None:
            self._lanes = self.commons.lanes
        if self._lanes is None:
            patience = self._retry.patience
            self._lanes = Lanes(self.backend.endpoints(), self.in_flight, patience=patience)
        return self._lanes

    def _kept_and_paid(self) -> tuple[Journal, Purse]:
        journal = self.journal
        if journal is None:
            journal = self.journal = Journal.open(None)
        if self._purse is None:
            spent = journal.totals()
            usd = spent.usd + spent.in_doubt_usd
            calls = sum(spent.outcomes.get(kind, 0) for kind in (ANSWERED, *VERDICTS))
            self._purse = Purse(self._budget, tokens=spent.tokens, usd=usd, calls=calls)
        return journal, self._purse


_WAYS_ON = (
    "go on with what the run was made with, start anew with --out NEW, or let both stand with "
    "--fork RUN --out NEW"
)


def _never_made(place: tuple[float, str]) -> str:
    return (
        f"the call {place[1]} of day {place[0]:g} was never made by the run of this journal: "
        f"scenario, prompts or code have changed, or the run was not finished; {_WAYS_ON}"
    )
