"""The bounds on what a run may spend; the largest cost of an attempt is reserved before it."""

from __future__ import annotations

import asyncio
import math
from collections import deque

from pydantic import Field

from virsci_society.agents.config import Part
from virsci_society.agents.errors import BudgetReached
from virsci_society.agents.journal.records import NANO, Spending, nano_bound, nano_dollars


class Budget(Part):
    """Spending limits of a run over all its sessions; null: none."""

    usd: float | None = Field(default=None, ge=0, le=1_000_000_000, allow_inf_nan=False)
    """US dollars, at the prices of the backend."""
    tokens: int | None = Field(default=None, ge=0, le=10**15)
    """Prompt and reply tokens."""
    calls: int | None = Field(default=None, ge=0, le=10**12)
    """Answered model calls; failed attempts do not count."""


class Reservation:
    """Cost that is reserved for one attempt, until it is settled or cancelled."""

    __slots__ = ("_account", "_sum")

    def __init__(self, account: BudgetAccount, reserved: Spending) -> None:
        self._account: BudgetAccount | None = account
        self._sum = reserved

    def settle(self, tokens: int, usd: float, calls: int = 1) -> None:
        """Book what the attempt has cost and free the rest; only the first settling counts."""
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


class BudgetAccount:
    """A budget and what is spent and reserved of it; used on one loop only."""

    def __init__(self, budget: Budget, spent: Spending = _NOTHING) -> None:
        self.budget = budget
        usd = None if budget.usd is None else nano_bound(budget.usd)
        self._bounds = (budget.calls, budget.tokens, usd)
        self._spent = spent
        self._reserved = _NOTHING
        self._outstanding = 0
        self._waiting: deque[tuple[Spending, asyncio.Future[Reservation]]] = deque()
        self._refusal: str | None = None

    async def reserve(self, tokens: int, usd: float) -> Reservation:
        """Reserve the largest cost of an attempt, first come first served, none after a refusal."""
        if self._refusal is not None:
            raise BudgetReached(self._refusal)
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
            if over is not None and self._refusal is None:
                self._refusal = self._message(over, cost)
            if turn.done():
                continue
            if self._refusal is None:
                turn.set_result(self._grant(cost))
            else:
                turn.set_exception(BudgetReached(self._refusal))

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
        return f"the budget is reached: {state}; resume with --set backend.budget.{name}={more}"
