"""One attempt at a request, from its slot to the committed outcome.

An attempt takes a slot of an endpoint, its largest cost is reserved in the budget, the intent is
committed to the journal, the request is sent once, and the outcome is committed before anybody may
read it. What follows from how it ended is decided by functions of their arguments alone, which wait
for nothing and send nothing (``conclude``, ``wait_after``). The jitter of a wait comes from a hash
of the call's id, so the same faults get the same waits; retry libraries draw it from a global
generator.
"""

from __future__ import annotations

import asyncio
import hashlib
import math
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from time import monotonic

from pydantic import Field

from virsci_society.agents.config import Part
from virsci_society.agents.errors import BudgetReached, Fault, InputError, Stopped, Verdict
from virsci_society.agents.gateway.backend import Backend
from virsci_society.agents.gateway.endpoint_pool import EndpointPool, Slot
from virsci_society.agents.journal.journal import Journal
from virsci_society.agents.journal.records import (
    ANSWERED,
    HEDGE,
    NANO,
    Attempt,
    CallOutcome,
    Spending,
    nano_bound,
    nano_dollars,
)
from virsci_society.agents.prompts.request import Reply, Request, most_tokens
from virsci_society.agents.usage import Usage


class Budget(Part):
    """What a run may spend, over all times it is resumed; null: no bound."""

    usd: float | None = Field(default=None, ge=0, le=1_000_000_000, allow_inf_nan=False)
    """US dollars, at the prices of the backend."""
    tokens: int | None = Field(default=None, ge=0, le=10**15)
    """Tokens of prompts and replies together."""
    calls: int | None = Field(default=None, ge=0, le=10**12)
    """Model calls that are answered; attempts that fail do not count."""


class Reservation:
    """Cost that is reserved for one attempt, until it is settled or cancelled."""

    __slots__ = ("_account", "_sum")

    def __init__(self, account: BudgetAccount | None, reserved: Spending) -> None:
        self._account, self._sum = account, reserved

    def settle(self, tokens: int, usd: float, calls: int = 1) -> None:
        """Book what the attempt has cost; the rest of the reservation is free again.

        Only the first call of ``settle`` or ``cancel`` counts.

        Args:
            tokens: tokens of prompt and reply.
            usd: their price in US dollars.
            calls: 1 for an answer, 0 for a fault.
        """
        if self._account is not None:
            self._close(Spending(calls, tokens, nano_dollars(usd)))

    def cancel(self) -> None:
        """Free the whole reservation: nothing was spent."""
        self._close(_NOTHING)

    def _close(self, spent: Spending) -> None:
        # The account is forgotten, so that a second settling books nothing: an attempt costs once.
        account, self._account = self._account, None
        if account is not None:
            account.close_reservation(self._sum, spent)


_NOTHING = Spending()
_UNBOUNDED = Reservation(None, _NOTHING)


class BudgetAccount:
    """A budget and what is spent and reserved of it; used on one loop only.

    Args:
        budget: the bounds.
        spent: what earlier sessions of the run have spent.
    """

    def __init__(self, budget: Budget, spent: Spending = _NOTHING) -> None:
        self.budget = budget
        self._bounds = (
            budget.calls,
            budget.tokens,
            None if budget.usd is None else nano_bound(budget.usd),
        )
        self._bounded = any(bound is not None for bound in self._bounds)
        self._spent = spent
        self._reserved = _NOTHING
        self._outstanding = 0
        self._waiting: deque[tuple[Spending, asyncio.Future[Reservation]]] = deque()

    async def reserve(self, tokens: int, usd: float) -> Reservation:
        """Reserve the most that one attempt can cost (tokens, US dollars), as soon as it fits.

        Requests are served in the order in which they come, also where a smaller cost would fit
        already: else a large one could wait for ever. The caller settles the reservation.

        Raises:
            BudgetReached: it does not fit, and no open reservation could free what is missing.
        """
        if not self._bounded:
            return _UNBOUNDED
        # In whole nano-dollars, whose sums do not depend on the order in which attempts end.
        cost = Spending(1, tokens, nano_dollars(usd))
        if not self._waiting and self._exceeded_bound(cost) is None:
            return self._grant(cost)
        turn: asyncio.Future[Reservation] = asyncio.get_running_loop().create_future()
        # The queue is served at once: where nothing is outstanding, no settling would do it later.
        self._waiting.append((cost, turn))
        self._serve()
        try:
            return await turn
        except asyncio.CancelledError:
            # The reservation came in the same moment as the cancellation; nobody else frees it.
            if turn.done() and not turn.cancelled() and turn.exception() is None:
                turn.result().cancel()
            else:
                self._serve()
            raise

    def reserve_at_once(self, tokens: int, usd: float) -> Reservation | None:
        """Reserve the most that an attempt nobody needs can cost; None: not now, or others wait."""
        if not self._bounded:
            return _UNBOUNDED
        cost = Spending(1, tokens, nano_dollars(usd))
        return None if self._waiting or self._exceeded_bound(cost) else self._grant(cost)

    def close_reservation(self, reserved: Spending, spent: Spending) -> None:
        """Book what was spent in place of what was reserved; called by a reservation."""
        self._outstanding -= 1
        self._reserved = self._reserved.minus(reserved)
        self._spent = self._spent.plus(spent)
        if self._waiting:
            self._serve()

    def _grant(self, cost: Spending) -> Reservation:
        self._outstanding += 1
        self._reserved = self._reserved.plus(cost)
        return Reservation(self, cost)

    def _serve(self) -> None:
        """Grant the waiting reservations in their order, until one has to wait on."""
        while self._waiting:
            cost, turn = self._waiting[0]
            over = None if turn.done() else self._exceeded_bound(cost)
            # An open reservation may free what is missing; without one the run has to stop
            # (rule 2).
            if over is not None and self._outstanding:
                return
            # A cancelled request goes too, so that it holds up nobody behind it.
            self._waiting.popleft()
            if turn.done():
                continue
            if over is None:
                turn.set_result(self._grant(cost))
            else:
                turn.set_exception(BudgetReached(self._message(over, cost)))

    def _exceeded_bound(self, cost: Spending) -> str | None:
        """The name of a bound that the cost does not fit into; None if it fits."""
        sums = zip(Spending._fields, self._bounds, self._spent, self._reserved, cost, strict=True)
        for name, bound, spent, aside, more in sums:
            if bound is not None and spent + aside + more > bound:
                return name
        return None

    def _message(self, name: str, cost: Spending) -> str:
        """The text of ``BudgetReached``: what is spent, and the option that raises the bound."""
        spent, budget = self._spent, self.budget
        if name == "calls":
            state = f"{spent.calls} of {budget.calls} calls are made"
            more = str(2 * max(budget.calls or 0, spent.calls, 1))
        elif name == "tokens":
            state = f"{spent.tokens} of {budget.tokens} tokens are spent"
            state += f", and the next call could take up to {cost.tokens}"
            more = str(2 * max(budget.tokens or 0, spent.tokens + cost.tokens))
        else:
            name, used, most = "usd", spent.nano / NANO, cost.nano / NANO
            state = f"{used:.6g} of {budget.usd:.6g} US dollars are spent"
            state += f", and the next call could cost up to {most:.6g}"
            more = f"{math.ceil(2 * max(budget.usd or 0.0, used + most))}"
        return f"the budget is reached: {state}; go on with --set backend.budget.{name}={more}"


EMPTY_ATTEMPTS = 3
"""After so many empty answers to one request, emptiness is what the model has to say."""
UNREACHED = (
    "start the server, give its right address with --set backend.api_base=ADDRESS, or see whether "
    "this machine has a network; for a server that starts slowly raise backend.deadlines.connect"
)
"""What a user can do where no server has ever answered."""
_DOUBLINGS = 60


class Retry(Part):
    """How often and after which waits an attempt at a call is made again."""

    attempts: int = Field(default=8, ge=1, le=1000)
    """Most attempts at one call, of those that fail through the endpoint or its answer; being
    asked to wait (rate limits) does not count."""
    first: float = Field(default=0.5, gt=0, le=3600, allow_inf_nan=False)
    """Seconds before the second attempt; every further wait is twice as long."""
    longest: float = Field(default=30.0, gt=0, le=86_400, allow_inf_nan=False)
    """Seconds at which waits stop growing; each is drawn from half to one and a half of it."""
    patience: float = Field(default=600.0, ge=0, le=604_800, allow_inf_nan=False)
    """Seconds without success at any endpoint, rate limits included, after which the run stops;
    no single wait is longer."""

    def delay(self, id: str, number: int, after: float | None) -> float:
        """Seconds to wait before another attempt.

        Args:
            id: call id, from which the jitter is drawn.
            number: attempts made so far (>= 1).
            after: seconds after which the provider asks to be called again; None if it named none.

        Returns:
            The wait in seconds, from 0 to ``patience``.
        """
        spread, late = _uniform_draws(id, number)
        # The exponent has a bound, because rate limits do not count as attempts and a large power
        # of 2.0 overflows.
        planned: float = min(self.longest, self.first * 2.0 ** min(number - 1, _DOUBLINGS))
        seconds = planned * (0.5 + spread)
        if after is not None:
            # Never sooner than the provider says, and a little apart, so that not all calls come
            # back at once.
            seconds = max(seconds, after * (1 + late / 10))
        return min(seconds, self.patience)


def _uniform_draws(id: str, number: int) -> tuple[float, float]:
    """Two numbers in [0, 1), always the same for the same attempt."""
    digest = hashlib.sha256(f"{id}\0{number}".encode("utf-8", "surrogatepass")).digest()
    # 53 bits, which a float holds exactly; 64 could round up to 1.
    first, second = (int.from_bytes(digest[at : at + 8]) >> 11 for at in (0, 8))
    return first / 2**53, second / 2**53


@dataclass(frozen=True, slots=True)
class Conclusion:
    """What follows from how one attempt ended.

    Attributes:
        recorded: outcome of the attempt in the ledger.
        outcome: outcome of the call; None: the attempt has brought none.
        fault: the fault by which the attempt ended; None: there was none.
        usage: tokens that are billed; None: none were counted, and it costs nothing.
        bills_most: True if it counts with its largest cost, because nobody knows what it cost.
    """

    recorded: str
    outcome: CallOutcome | None = None
    fault: Fault | None = None
    usage: Usage | None = None
    bills_most: bool = False


def conclude(ending: Reply | Verdict | Fault, earlier: Sequence[Fault]) -> Conclusion:
    """What the end of an attempt means for its call, after the faults of earlier attempts."""
    if isinstance(ending, Reply):
        return Conclusion(ANSWERED, CallOutcome.of_reply(ending), usage=ending.usage)
    if isinstance(ending, Verdict):
        outcome = CallOutcome.of_verdict(ending)
        return Conclusion(outcome.kind, outcome, usage=ending.usage)
    kinds = [fault.kind for fault in (*earlier, ending)]
    empty = CallOutcome("answer", "") if kinds.count("empty") == EMPTY_ATTEMPTS else None
    return Conclusion(ending.kind, empty, ending, ending.usage, ending.cost_unknown)


def wait_after(
    id: str, faults: Sequence[Fault], retry: Retry, silent: float, contact: float | None = None
) -> float:
    """Seconds after which a call is attempted again.

    Args:
        id: call id.
        faults: those of all attempts so far; at least one.
        retry: the bounds.
        silent: seconds since any endpoint has answered (>= 0).
        contact: most seconds for which an answer is waited for where none has ever come; None: one
            has.

    Raises:
        InputError: the request can never be sent.
        Stopped: the last fault is final, or the retries are used up.
    """
    fault = faults[-1]
    # Rate limits and empty answers have bounds of their own: patience, EMPTY_ATTEMPTS.
    failed = sum(one.kind not in ("rate", "empty") for one in faults)
    if contact is not None and not (fault.rule.retryable or fault.sent):
        # Refused by the library on this machine: the same command could never go on.
        raise InputError(f"backend.model: {fault}; {fault.rule.advice}")
    if not fault.rule.retryable:
        why = ""
    elif failed >= retry.attempts:
        why = f"; {failed} attempts at {id} have failed"
    elif silent >= retry.patience:
        why = f"; nothing has been answered for {silent:.0f} seconds"
    else:
        delay = retry.delay(id, len(faults), fault.retry_after)
        # A request that was sent may be with a slow model; one that was not meets no server.
        if contact is None or fault.sent or silent + delay <= contact:
            return delay
        raise Stopped(f"{fault}; nothing has ever answered in this run; {UNREACHED}")
    raise Stopped(f"{fault}{why}; {fault.rule.advice}")


Send = Callable[[Request, Slot, Sequence[Fault]], Awaitable[Conclusion]]
"""Sends a request once, after these faults of earlier attempts."""


class Attempts:
    """Makes the attempts of one gateway; used on one loop only.

    Args:
        backend: whose endpoints are asked.
        pool: gives out the slots.
        journal: where every attempt is stored.
        account: the budget.

    Attributes:
        under_way: one future for each attempt that has a slot and has not ended.
        tokens: tokens of the attempts that have ended.
        usd: their price in US dollars.
        ended: True once the run has been stopped; no further attempt is begun.
    """

    def __init__(
        self, backend: Backend, pool: EndpointPool, journal: Journal, account: BudgetAccount
    ) -> None:
        self.backend, self.pool, self.journal, self.account = backend, pool, journal, account
        self.under_way: set[asyncio.Future[None]] = set()
        self.tokens, self.usd, self.ended = 0, 0.0, False
        self._reached: BudgetReached | None = None

    async def make(self, request: Request, earlier: Sequence[Fault]) -> CallOutcome | Fault:
        """Make one attempt as soon as there is a slot and a budget for it.

        Returns:
            The call's committed outcome, or the fault after which it may be tried again.

        Raises:
            Stopped: the run, the budget or the journal has ended it.
        """
        return settled(request, await self.make_in(await self.take_slot(request), request, earlier))

    async def take_slot(self, request: Request) -> Slot:
        """Wait for a slot, in the order of simulated due dates.

        Raises:
            Stopped: the run has been stopped meanwhile.
        """
        slot = await self.pool.acquire(request.due, request.id, request.attempt)
        if self.ended:
            slot.release()
            raise self._end()
        return slot

    async def make_in(
        self,
        slot: Slot,
        request: Request,
        earlier: Sequence[Fault],
        send: Send | None = None,
        reservation: Reservation | None = None,
    ) -> CallOutcome | Fault | None:
        """Make one attempt in a slot, and give the slot back.

        An attempt that was cancelled, or cut off before its cost was known, counts with its
        largest cost: the provider may have generated the answer, and bill it.

        Args:
            slot: the place in flight that it uses.
            request: the question.
            earlier: faults of the earlier attempts, in order.
            send: sends it; None: ``send_once``.
            reservation: what is reserved for a second attempt; None: this is the first.

        Returns:
            As ``make``; None if another attempt at the call was quicker.
        """
        most, usd = self.largest_cost(request)
        attempt = Attempt(request.id, 0, slot.endpoint.name, most, usd)
        attempt.detail = "" if reservation is None else HEDGE
        # For the attempt and not for the task: at a stop only what was sent is worth a wait.
        ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.under_way.add(ended)
        try:
            # Before the intent is committed: a call that the budget refuses leaves nothing in the
            # ledger.
            reservation = reservation or await self._reserve(most, usd)
            try:
                result = await self._record(slot, request, earlier, send or send_once, attempt)
                spent = attempt.usage.prompt_tokens + attempt.usage.completion_tokens
                self.tokens, self.usd = self.tokens + spent, self.usd + attempt.usd
                reservation.settle(spent, attempt.usd, calls=int(isinstance(result, CallOutcome)))
            finally:
                # Only the first settling counts: this one is for an attempt that was cancelled,
                # which the provider may bill.
                reservation.settle(most, usd, calls=0)
        finally:
            # Only after the outcome is committed, else a kill could leave more calls in doubt
            # than there are slots. Before the wait for a retry, so that others use the slot
            # (rule 17).
            slot.release()
            self.under_way.discard(ended)
            ended.set_result(None)
        return result

    async def _reserve(self, most: int, usd: float) -> Reservation:
        try:
            reservation = await self.account.reserve(most, usd)
        except BudgetReached as error:
            # The run stops for it. Where smaller costs were paid for afterwards, its message would
            # name less than what has been spent.
            self.ended, self._reached = True, error
            raise
        if self.ended:
            reservation.cancel()
            raise self._end()
        return reservation

    def _end(self) -> Stopped:
        # A caller of the gateway tells by the class that a larger budget is what is needed.
        reached = self._reached
        return (
            Stopped("the run has been stopped") if reached is None else type(reached)(*reached.args)
        )

    def largest_cost(self, request: Request) -> tuple[int, float]:
        """Most tokens that one attempt can cost, and their price in US dollars."""
        longest = self.backend.max_reply_tokens
        most = most_tokens(request, longest)
        return most, self.backend.price(Usage(most - longest, longest))

    async def _record(
        self, slot: Slot, request: Request, earlier: Sequence[Fault], send: Send, attempt: Attempt
    ) -> CallOutcome | Fault | None:
        """Commit the intent, send the request once, and commit the outcome."""
        # Committed before anything is sent, so a kill leaves the attempt in doubt, never unknown.
        await self.journal.record_intent(request, attempt)
        began = monotonic()
        end = await send(request, slot, earlier)
        attempt.seconds = monotonic() - began
        attempt.outcome = end.recorded
        if end.fault is not None:
            attempt.status = end.fault.status
            attempt.detail = f"{HEDGE}: {end.fault}" if attempt.hedge else str(end.fault)
        self._bill(attempt, end)
        # Its own words come back, or those that another attempt at the call committed first.
        return await self.journal.record_outcome(request, attempt, end.outcome) or end.fault

    def _bill(self, attempt: Attempt, end: Conclusion) -> None:
        """Note what the provider counted; without a count the attempt costs nothing."""
        longest = self.backend.max_reply_tokens
        if end.bills_most:
            attempt.usage = Usage(attempt.reserved - longest, longest, estimated=True)
            attempt.usd = attempt.reserved_usd
        elif end.usage is None:
            # False: these are no estimated tokens, none were spent.
            attempt.usage = Usage(estimated=False)
        else:
            attempt.usage, attempt.usd = end.usage, self.backend.price(end.usage)


async def send_once(request: Request, slot: Slot, earlier: Sequence[Fault]) -> Conclusion:
    """Send a request once, and tell the health record of the endpoint how that ended.

    Args:
        request: the question.
        slot: the place in flight, at the endpoint that is asked.
        earlier: faults of the earlier attempts, in order.
    """
    try:
        unreached = await slot.reach()
        end = conclude(unreached or await slot.endpoint.complete(request), earlier)
    except (Verdict, Fault) as error:
        end = conclude(error, earlier)
    if end.fault is None:
        slot.record_success()
    else:
        slot.record_failure(end.fault)
    return end


def settled(request: Request, result: CallOutcome | Fault | None) -> CallOutcome | Fault:
    """The result of an attempt, or of the one that superseded it.

    Raises:
        Stopped: there is none.
    """
    if result is None:
        raise Stopped(f"{request.id}: the journal has not kept the answer")
    return result
