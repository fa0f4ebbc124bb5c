"""One attempt at a request: slot, reserved cost, committed intent, request, committed outcome."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from time import monotonic

from virsci_society.agents.errors import Fault, Stopped, Verdict
from virsci_society.agents.gateway.backend import Backend
from virsci_society.agents.gateway.budget import BudgetAccount
from virsci_society.agents.gateway.retry import Conclusion, conclude
from virsci_society.agents.gateway.slots import Slot, SlotPool
from virsci_society.agents.journal.journal import Journal
from virsci_society.agents.journal.records import SECOND_DECIMALS, Attempt, CallOutcome
from virsci_society.agents.prompts.request import Request, Usage, most_tokens


class Attempts:
    """Makes the attempts of one gateway, and sums their tokens and price; used on one loop only."""

    def __init__(
        self,
        backend: Backend,
        pool: SlotPool,
        journal: Journal,
        account: BudgetAccount,
        *,
        pool_is_own: bool,
    ) -> None:
        self.backend, self.pool, self.journal, self.account = backend, pool, journal, account
        self.pool_is_own = pool_is_own
        self.under_way: set[asyncio.Future[None]] = set()
        self.tokens, self.usd, self.ended = 0, 0.0, False

    async def make(self, request: Request, earlier: Sequence[Fault]) -> CallOutcome | Fault:
        """Make one attempt; one that is cut off may be billed, so its largest cost counts."""
        # In the order of simulated due dates.
        slot = await self.pool.acquire(request.due, request.id, request.attempt)
        if self.ended:
            slot.release()
            raise Stopped("the run was stopped")
        longest = self.backend.max_reply_tokens
        most = most_tokens(request, longest)
        usd = self.backend.price(Usage(most - longest, longest))
        attempt = Attempt(request.id, 0, slot.pool.endpoint.name, most, usd)
        # For the attempt and not for the task: at a stop only what was sent is worth a wait.
        ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.under_way.add(ended)
        try:
            # Before the intent is committed: a call that the budget refuses leaves nothing in the
            # ledger.
            reservation = await self.account.reserve(most, usd)
            try:
                result = await self._record(slot, request, earlier, attempt)
                spent = attempt.usage.prompt_tokens + attempt.usage.completion_tokens
                self.tokens, self.usd = self.tokens + spent, self.usd + attempt.usd
                reservation.settle(spent, attempt.usd, calls=int(isinstance(result, CallOutcome)))
            finally:
                # Only the first settling counts: this one is for an attempt that was cancelled,
                # which the provider may bill.
                reservation.settle(most, usd, calls=0)
        finally:
            # Before the wait for a retry, so that others use the slot (rule 17).
            slot.release()
            self.under_way.discard(ended)
            ended.set_result(None)
        if result is None:
            raise Stopped(f"{request.id}: the journal lost the answer")
        return result

    async def _record(
        self, slot: Slot, request: Request, earlier: Sequence[Fault], attempt: Attempt
    ) -> CallOutcome | Fault | None:
        """Commit the intent, send the request once, and commit the outcome."""
        # Committed before anything is sent, so a kill leaves the attempt in doubt, never unknown.
        await self.journal.record_intent(request, attempt)
        began = monotonic()
        end = await send_once(request, slot, earlier)
        attempt.seconds = round(monotonic() - began, SECOND_DECIMALS)
        attempt.outcome = end.recorded
        if end.fault is not None:
            attempt.status = end.fault.status
            attempt.detail = str(end.fault)
        self._bill(attempt, end)
        # A kill must not leave more calls in doubt than there are slots. So the slot is given back
        # once the outcome is queued: the intent of whoever gets it is committed no earlier. Only a
        # pool of several runs, which have a journal each, has to wait for the commit.
        queued = slot.release if self.pool_is_own else None
        committed = await self.journal.record_outcome(request, attempt, end.outcome, queued)
        # Its own outcome, or the one that an earlier attempt at the call committed.
        return committed or end.fault

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
    """Send a request once, and record at its slot how that ended."""
    try:
        unreached = await slot.pool.reach()
        end = conclude(unreached or await slot.pool.endpoint.complete(request), earlier)
    except (Verdict, Fault) as error:
        end = conclude(error, earlier)
    if end.fault is None:
        slot.pool.record_success()
    else:
        slot.pool.record_failure(slot, end.fault)
    return end
