"""Answers each request of a run from the journal, or by a paid call to a backend.

A request that the journal knows is answered from it. Any other request passes five stations: it
takes a slot of an endpoint, its largest cost is reserved in the budget, the intent is committed
to the journal, one attempt is made, and its outcome is committed before anybody may read it. A
fault of the provider repeats the same request or stops the run. It is never an event of the
simulated world, and nothing here depends on when an answer arrives.
"""

from __future__ import annotations

import asyncio
import types
from collections.abc import Generator
from functools import partial
from time import monotonic
from typing import Any

from virsci_society.agents.errors import Diverged, Fault, Stopped, Verdict
from virsci_society.agents.gateway.backend import Backend
from virsci_society.agents.gateway.budget import Budget, BudgetAccount, Reservation
from virsci_society.agents.gateway.endpoint_pool import EndpointPool, Slot
from virsci_society.agents.gateway.hedging import HedgeDelay, Race, Superseded
from virsci_society.agents.gateway.readability import ReadabilityWatch, Unreadable
from virsci_society.agents.gateway.retry import Retry
from virsci_society.agents.gateway.shared import SharedEndpoints
from virsci_society.agents.journal.journal import Journal
from virsci_society.agents.journal.records import (
    ANSWERED,
    HEDGE,
    SUPERSEDED,
    Attempt,
    CallOutcome,
    storable,
)
from virsci_society.agents.prompts.request import Reply, Request, most_tokens
from virsci_society.agents.usage import Usage

EMPTY_ATTEMPTS = 3
"""After so many empty answers to one request, emptiness is what the model has to say."""


class Shut:
    """Type of the mark that a request yields while nothing may be paid yet."""


SHUT = Shut()


@types.coroutine
def _until_open() -> Generator[Any, Any, None]:
    """Suspend the coroutine once, with ``SHUT``, until the dispatcher goes on with it."""
    yield SHUT


class Gateway:
    """Answers the requests of one run, by way of one backend.

    It is made on the clock's thread and used on one loop thread; ``status_line`` and ``waiting``
    may be read from any thread.

    Args:
        backend: the backend that is asked.
        in_flight: most attempts at a time (>= 1).
        journal: where every call is stored. None: a backend that answers inline stores nothing, any
            other gets a journal in memory.
        retry: when a failed attempt is made again.
        budget: bounds on what is spent over all sessions of the run.
        strict: only calls that the journal holds are answered (a replay).
        shared: loop, slots and connections that this gateway shares with those of other runs, in
            place of ``in_flight`` and ``backend``'s own.
        unreadable: when a run stops because answers could not be used; None: the default for
            language models, and never for rules.
        hedge: the percentile of durations, such as ``p95``, after which a second attempt is made
            at a request whose first attempt is still under way; None: never.

    Attributes:
        readability: the count of answers that could not be used.
        shut: True while a request that the journal does not hold has to wait: see ``open``.
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
        shared: SharedEndpoints | None = None,
        unreadable: Unreadable | None = None,
        hedge: str | None = None,
    ) -> None:
        advice = backend.unreadable_advice
        # A replay tells what has happened, so nothing stops it.
        self.readability = ReadabilityWatch(unreadable or Unreadable(), advice)
        self._watches_rules = unreadable is not None
        self.shared, self._ended = shared, False
        self.backend, self.in_flight = backend, in_flight
        self.inline = backend.inline
        if journal is None and not self.inline:
            journal = Journal.open(None)
        self.journal = journal
        self.strict = strict
        self.shut = strict or not (journal is None or journal.is_empty)
        # What this session stores itself is never asked for again, so an empty journal is not read.
        self._lookup = journal is not None and not journal.is_empty
        self._retry, self._budget = retry or Retry(), budget or Budget()
        self._hedge_delay = None if hedge is None else HedgeDelay(hedge)
        self._unknown: tuple[float, str] | None = None
        self._pool: EndpointPool | None = None
        self._account: BudgetAccount | None = None
        self._under_way: set[asyncio.Future[None]] = set()
        self._answered, self._trouble = 0, ""
        self._tokens, self._usd = 0, 0.0

    @property
    def waiting(self) -> int:
        """Number of requests that wait for a slot."""
        return 0 if self._pool is None else self._pool.waiting

    @property
    def under_way(self) -> int:
        """Number of requests that have been sent and not answered."""
        return len(self._under_way)

    @property
    def spent(self) -> tuple[int, float]:
        """Tokens and US dollars of the attempts of this session that have ended."""
        return self._tokens, self._usd

    def status_line(self) -> str:
        """One line on the calls of this session; safe from any thread."""
        line = f"calls: {self._answered:,} answered, {len(self._under_way)} under way"
        if self.waiting:
            line += f", {self.waiting:,} waiting for a slot"
        # Those who share a pool ask through the backend that made it.
        backend = self.backend if self.shared is None else self.shared.backend
        return "; ".join(
            filter(None, (line, backend.waiting_for, self._trouble, self.readability.warning))
        )

    async def complete(self, request: Request) -> Reply:
        """Answer one request.

        Args:
            request: the complete question, with its call id.

        Returns:
            The reply, from the journal or from the backend.

        Raises:
            Verdict: the outcome is a refusal, a filtered or an unreadable answer, not words.
            Stopped: the provider, the budget or the journal ended the run.
            Diverged: the journal holds another request under this id, or none where it must have
                one.
        """
        backend = self.backend.backend_for(request.id, request.who.id)
        outcome = self._replay(request, backend.inline)
        # The past of a fork is its parent's, and no call may be added to it (rule 23).
        if outcome is None and self.journal is not None and request.asked < self.journal.fork_date:
            self._compare()
            raise Diverged(_never_made((request.asked, request.id)))
        # Before the gate: an inline backend costs nothing, so it answers also while nothing may be
        # paid.
        if outcome is None and backend.inline:
            return await self._complete_inline(request, backend)
        if outcome is None and self.shut:
            self._note_unknown(request)
            await _until_open()
        if outcome is None:
            outcome = await self._ask(request)
        return outcome.reply()

    def record_reading(self, form: str, reply: str | None, *, live: bool) -> None:
        """Count an answer that was read, or what came in its place.

        Args:
            form: class name of its form.
            reply: what came in place of a usable answer; None: the answer could be used.
            live: True if a model was asked, False for a rule.

        Raises:
            Stopped: too many answers could not be used.
        """
        if not self.strict and (live or self._watches_rules):
            self.readability.record(form, reply)

    def open(self) -> None:
        """Begin to pay for requests that the journal does not hold.

        Until then such requests wait, so that a run which has diverged from its journal is found
        out before anything is paid.

        Raises:
            Diverged: a request of this session is not the one that the journal holds.
        """
        self._compare()
        if self.strict and self._unknown is not None:
            raise Diverged(_never_made(self._unknown))
        self.shut = False

    def finish(self, until: float) -> None:
        """Check that a finished run has requested every call of its journal.

        Args:
            until: simulated date in days; calls that were asked on it or later are not missed.

        Raises:
            Diverged: a call of an earlier session was not requested, or was requested otherwise.
        """
        self._compare()
        if self.journal is None:
            return
        call = self.journal.first_unrequested(until)
        if call is not None:
            raise Diverged(
                f"the call {call} was made before and is not asked for any more: scenario, "
                f"prompts or code have changed; {_ADVICE}"
            )

    async def close(self, grace: float = 0.0) -> None:
        """Start no further attempt, and close the backend unless it is shared.

        Args:
            grace: seconds to wait for attempts that are under way (>= 0).
        """
        self._ended = True
        # A shared pool serves other runs too; there ``_ended`` turns this run's requests away.
        if self._pool is not None and self.shared is None:
            self._pool.close(Stopped("the run has been stopped"))
        # What has been sent is paid for, so its answers are worth a short wait.
        if self._under_way and grace > 0:
            await asyncio.wait(self._under_way, timeout=grace)
        if self.shared is None:
            await self.backend.close()

    def _replay(self, request: Request, inline: bool) -> CallOutcome | None:
        """The outcome that the journal holds for a request; None if it holds none."""
        if not self._lookup or self.journal is None:
            return None
        outcome = self.journal.lookup_call(request)
        # While the gateway is shut the comparison waits for ``open``, when all known calls have
        # been asked for and the smallest mismatch is known (rule 22).
        if outcome is None and (inline or not self.shut):
            self._compare()
        return outcome

    def _compare(self) -> None:
        """Raise Diverged if any request of this session differs from the journal."""
        mismatch = None if self.journal is None else self.journal.first_mismatch
        if mismatch is not None:
            raise Diverged(
                f"the call {mismatch[1]} of day {mismatch[0]:g} was made before with other "
                f"words: its prompt, the model or its settings have changed; {_ADVICE}"
            )

    def _note_unknown(self, request: Request) -> None:
        # The smallest, so that the message names the same call in every run (rule 22).
        call = (request.asked, request.id)
        self._unknown = call if self._unknown is None else min(self._unknown, call)

    async def _complete_inline(self, request: Request, backend: Backend) -> Reply:
        """Ask a backend that never suspends and costs nothing.

        The journal stores its words without anybody waiting for the commit.
        """
        if self.strict:
            raise Diverged(_never_made((request.asked, request.id)))
        try:
            outcome = CallOutcome.of_reply(await backend.complete(request))
        except Verdict as verdict:
            outcome = CallOutcome.of_verdict(verdict)
        if self.journal is not None:
            self.journal.store_outcome(request, outcome)
        return outcome.reply()

    async def _ask(self, request: Request) -> CallOutcome:
        """Make attempts until one settles the call, or raise Stopped."""
        pool = self._endpoint_pool()
        faults: list[Fault] = []
        while True:
            slot = await pool.acquire(request.due, request.id, request.attempt)
            # The run may have been stopped while this request waited for its slot.
            if self._ended:
                slot.release()
                raise Stopped("the run has been stopped")
            result = await self._attempt_hedged(request, slot, faults)
            if isinstance(result, CallOutcome):
                self._answered, self._trouble = self._answered + 1, ""
                return result
            faults.append(result)
            self._check_patience(request, faults)
            wait = self._retry.delay(request.id, len(faults), result.retry_after)
            self._trouble = f"trouble: {storable(str(result))[:200]}; again in {wait:.0f} s"
            await asyncio.sleep(wait)

    async def _attempt_hedged(
        self, request: Request, slot: Slot, before: list[Fault]
    ) -> CallOutcome | Fault:
        """Make one attempt, and a second one beside it if the first is slow.

        Args:
            request: the question.
            slot: the place in flight of the first attempt.
            before: faults of the earlier attempts, in order.

        Returns:
            The first outcome; if there is none, the fault of the first attempt.
        """
        kind, delay = request.form.__name__, self._hedge_delay
        if delay is None or not self.backend.hedgeable(request.id, request.who.id):
            return _settled(request, await self._attempt_in(slot, request, before))
        race, after = Race(), delay.seconds(kind)
        if after is None:
            return _settled(request, await self._attempt_in(slot, request, before, race))
        second = asyncio.create_task(self._hedge(request, slot, before, race, after))
        # Its exception is that of the call only if the first attempt raises none.
        second.add_done_callback(lambda task: task.cancelled() or task.exception())
        try:
            first = await self._attempt_in(slot, request, before, race)
            if not race.hedged:
                second.cancel()
            await asyncio.wait([second])
        finally:
            # It goes on by itself only if this request has failed or is cancelled.
            second.cancel()
        other = second.result() if race.hedged else None
        # A fault of the second attempt counts nowhere: without it there would be none.
        return _settled(request, other if isinstance(other, CallOutcome) else first)

    async def _hedge(
        self, request: Request, slow: Slot, before: list[Fault], race: Race, after: float
    ) -> CallOutcome | Fault | None:
        """Make the second attempt at a request, if there is a place and a budget for it.

        Args:
            request: the question.
            slow: the place in flight of the first attempt; another endpoint is preferred.
            before: faults of the earlier attempts, in order.
            race: both attempts.
            after: seconds to wait for the first attempt.

        Returns:
            As ``_attempt``; None also if there was no second attempt.
        """
        await race.sent.wait()
        await asyncio.sleep(after)
        slot = await self._endpoint_pool().acquire_spare(slow.health)
        most, usd = self._largest_cost(request)
        account = self._journal_and_account()[1]
        reservation = None if self._ended else account.reserve_at_once(most, usd)
        if reservation is None:
            slot.release()
            return None
        # From here on the first attempt waits for it, so nothing that is sent stays unsettled.
        race.hedged = True
        return await self._attempt_in(slot, request, before, race, reservation)

    async def _attempt_in(
        self,
        slot: Slot,
        request: Request,
        before: list[Fault],
        race: Race | None = None,
        reservation: Reservation | None = None,
    ) -> CallOutcome | Fault | None:
        """Make one attempt, as ``_attempt`` does, and give its slot back."""
        # For the attempt and not for the task: at a stop only what was sent is worth a wait.
        ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._under_way.add(ended)
        try:
            return await self._attempt(request, slot, before, race, reservation)
        finally:
            # Only after the outcome is committed, else a kill could leave more calls in doubt
            # than there are slots. Before the wait for a retry, so that others use the slot
            # (rule 17).
            slot.release()
            self._under_way.discard(ended)
            ended.set_result(None)

    def _check_patience(self, request: Request, faults: list[Fault]) -> None:
        """Raise Stopped if the last fault is final, or the retries are used up."""
        fault = faults[-1]
        # Rate limits and empty answers have bounds of their own: patience, EMPTY_ATTEMPTS.
        failed = sum(one.kind not in ("rate", "empty") for one in faults)
        silent = self._endpoint_pool().seconds_since_success()
        if not fault.rule.retryable:
            why = ""
        elif failed >= self._retry.attempts:
            why = f"; {failed} attempts at {request.id} have failed"
        elif silent >= self._retry.patience:
            why = f"; nothing has been answered for {silent:.0f} seconds"
        else:
            return
        raise Stopped(f"{fault}{why}; {fault.rule.advice}")

    async def _attempt(
        self,
        request: Request,
        slot: Slot,
        before: list[Fault],
        race: Race | None = None,
        reservation: Reservation | None = None,
    ) -> CallOutcome | Fault | None:
        """Make one attempt within the budget.

        An attempt that was cancelled, or cut off before its cost was known, counts with its
        largest cost: the provider may have generated the answer, and bill it.

        Args:
            request: the question.
            slot: the place in flight that it uses.
            before: faults of the earlier attempts, in order.
            race: this attempt and a second one beside it; None: there can be none.
            reservation: what is reserved for the second attempt; None: this is the first.

        Returns:
            The call's outcome, the fault after which it may be tried again, or None if the other
            attempt was quicker.
        """
        _, account = self._journal_and_account()
        most, usd = self._largest_cost(request)
        attempt = Attempt(request.id, 0, slot.endpoint.name, most, usd)
        attempt.detail = "" if reservation is None else HEDGE
        # Before the intent is committed: a call that the budget refuses leaves nothing in the
        # ledger.
        reservation = reservation or await account.reserve(most, usd)
        try:
            result = await self._call(request, attempt, slot, before, race)
            spent = attempt.usage.prompt_tokens + attempt.usage.completion_tokens
            self._tokens, self._usd = self._tokens + spent, self._usd + attempt.usd
            reservation.settle(spent, attempt.usd, calls=int(isinstance(result, CallOutcome)))
        finally:
            # Only the first settling counts: this one is for an attempt that was cancelled, which
            # the provider may bill.
            reservation.settle(most, usd, calls=0)
        return result

    def _largest_cost(self, request: Request) -> tuple[int, float]:
        """Most tokens that one attempt can cost, and their price in US dollars."""
        longest = self.backend.max_reply_tokens
        most = most_tokens(request, longest)
        return most, self.backend.price(Usage(most - longest, longest))

    async def _call(
        self,
        request: Request,
        attempt: Attempt,
        slot: Slot,
        before: list[Fault],
        race: Race | None,
    ) -> CallOutcome | Fault | None:
        """Commit the intent, call the endpoint once, and commit the outcome."""
        journal, _ = self._journal_and_account()
        # Committed before anything is sent, so a kill leaves the attempt in doubt, never unknown.
        await journal.record_intent(request, attempt)
        began = monotonic()
        outcome: CallOutcome | None = None
        fault: Fault | None = None
        try:
            send = partial(slot.endpoint.complete, request)
            reply = await (send() if race is None else race.run(send))
            outcome = self._read_answer(attempt, reply)
        except Superseded as quicker:
            if quicker.sent:
                self._bill_reservation(attempt)
            else:
                self._bill(attempt, None)
        except Verdict as verdict:
            outcome = CallOutcome.of_verdict(verdict)
            attempt.outcome = outcome.kind
            self._bill(attempt, verdict.usage)
        except Fault as failure:
            fault = failure
            attempt.outcome, attempt.status = fault.kind, fault.status
            attempt.detail = f"{HEDGE}: {fault}" if attempt.hedge else str(fault)
            self._bill(attempt, fault.usage)
            if fault.cost_unknown:
                self._bill_reservation(attempt)
            if [one.kind for one in (*before, fault)].count("empty") == EMPTY_ATTEMPTS:
                outcome = CallOutcome("answer", "")
        attempt.seconds = monotonic() - began
        if fault is not None:
            slot.record_failure(fault)
        elif outcome is not None:
            slot.record_success()
        if race is not None and not (fault is not None and outcome is None):
            outcome = self._settle_race(race, request, attempt, outcome)
        # Its own words come back, or those that another attempt at the call committed first.
        return await journal.record_outcome(request, attempt, outcome) or fault

    def _settle_race(
        self, race: Race, request: Request, attempt: Attempt, outcome: CallOutcome | None
    ) -> CallOutcome | None:
        """The outcome of the call, unless the other attempt has brought it before."""
        # Both replies can arrive before either is committed: only one of them is an answer.
        if race.decided:
            attempt.outcome, outcome = SUPERSEDED, None
        else:
            race.decide()
        # Of second attempts nothing is learnt: one that is given up may have just begun.
        learns = attempt.outcome in (ANSWERED, SUPERSEDED) and not attempt.hedge
        if learns and self._hedge_delay is not None:
            self._hedge_delay.record(request.form.__name__, attempt.seconds)
        return outcome

    def _read_answer(self, attempt: Attempt, reply: Reply) -> CallOutcome:
        """The outcome for a reply; its tokens are billed."""
        attempt.outcome = ANSWERED
        self._bill(attempt, reply.usage)
        return CallOutcome.of_reply(reply)

    def _bill(self, attempt: Attempt, usage: Usage | None) -> None:
        """Note what the provider counted; without a count the attempt costs nothing."""
        if usage is None:
            # False: these are no estimated tokens, none were spent.
            attempt.usage = Usage(estimated=False)
        else:
            attempt.usage, attempt.usd = usage, self.backend.price(usage)

    def _bill_reservation(self, attempt: Attempt) -> None:
        """Note the largest cost that the attempt can have, marked as an estimate."""
        longest = self.backend.max_reply_tokens
        attempt.usage = Usage(attempt.reserved - longest, longest, estimated=True)
        attempt.usd = attempt.reserved_usd

    def _endpoint_pool(self) -> EndpointPool:
        """The pool of slots, the shared one or its own; made at the first use."""
        if self._pool is None and self.shared is not None:
            self._pool = self.shared.pool
        if self._pool is None:
            patience = self._retry.patience
            self._pool = EndpointPool(self.backend.endpoints(), self.in_flight, patience=patience)
        return self._pool

    def _journal_and_account(self) -> tuple[Journal, BudgetAccount]:
        """Journal and budget account, made at the first paid call."""
        journal = self.journal
        if journal is None:
            journal = self.journal = Journal.open(None)
        if self._account is None:
            self._account = BudgetAccount(self._budget, journal.totals().spending)
        return journal, self._account


_ADVICE = (
    "go on with what the run was made with, start anew with --out NEW, or let both stand with "
    "--fork RUN --out NEW"
)


def _settled(request: Request, result: CallOutcome | Fault | None) -> CallOutcome | Fault:
    """The result of an attempt that was not superseded, or of the one that superseded it."""
    if result is None:
        raise Stopped(f"{request.id}: the journal has not kept the answer")
    return result


def _never_made(call: tuple[float, str]) -> str:
    """The message for a call, given by date and id, that a replay does not hold."""
    return (
        f"the call {call[1]} of day {call[0]:g} was never made by the run of this journal: "
        f"scenario, prompts or code have changed, or the run was not finished; {_ADVICE}"
    )
