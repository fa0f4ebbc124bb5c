"""Budget: what a run may spend, and the purse from which every attempt is paid.

What an attempt can cost at most is put aside before it is sent, so the bounds hold whatever the
answers cost. The purse counts over all sessions of a run; it does not know prices.
"""

from __future__ import annotations

import asyncio
import math
from collections import deque
from typing import NamedTuple

from pydantic import Field

from agents.errors import BudgetReached
from agents.part import Part
from agents.request import Request

NANO = 1_000_000_000
"""Money is counted in whole billionths of a dollar, whose sums are exact."""
_TOLERANCE = 1e-3
"""Of a billionth: what floating-point noise may add to a price."""


class Budget(Part):
    """What a run may spend, over all times it is resumed; null: no bound."""

    usd: float | None = Field(default=None, ge=0, le=1_000_000_000, allow_inf_nan=False)
    """US dollars, at the prices of the backend."""
    tokens: int | None = Field(default=None, ge=0)
    """Tokens of prompts and replies together."""
    calls: int | None = Field(default=None, ge=0)
    """Model calls that are answered; attempts that fail do not count."""


class _Sum(NamedTuple):
    """Calls, tokens and billionths of a dollar."""

    calls: int = 0
    tokens: int = 0
    nano: int = 0

    def plus(self, other: _Sum, sign: int = 1) -> _Sum:
        return _Sum(
            self.calls + sign * other.calls,
            self.tokens + sign * other.tokens,
            self.nano + sign * other.nano,
        )


class Reservation:
    """What has been put aside for one attempt, until it is settled or dropped."""

    __slots__ = ("_purse", "_sum")

    def __init__(self, purse: Purse | None, put_aside: _Sum) -> None:
        self._purse, self._sum = purse, put_aside

    def settle(self, tokens: int, usd: float, calls: int = 1) -> None:
        """The attempt has cost so much; what is left of the reservation is free again.

        Only the first settling or dropping of a reservation counts.

        Args:
            tokens: of prompt and reply.
            usd: their price.
            calls: 1 for an answer, 0 for a fault.
        """
        if self._purse is not None:
            self._close(_Sum(calls, tokens, _nano(usd)))

    def drop(self) -> None:
        """Nothing was spent."""
        self._close(_Sum())

    def _close(self, spent: _Sum) -> None:
        purse, self._purse = self._purse, None
        if purse is not None:
            purse.take_back(self._sum, spent)


_UNBOUNDED = Reservation(None, _Sum())


class Purse:
    """A budget with what is spent of it; used on one loop only.

    Args:
        budget: the bounds.
        tokens: spent in earlier sessions.
        usd: spent in earlier sessions.
        calls: answered in earlier sessions.
    """

    def __init__(self, budget: Budget, *, tokens: int = 0, usd: float = 0.0, calls: int = 0):
        self.budget = budget
        self._bounds = (
            budget.calls,
            budget.tokens,
            None if budget.usd is None else math.floor(budget.usd * NANO + _TOLERANCE),
        )
        self._bounded = any(bound is not None for bound in self._bounds)
        self._spent = _Sum(calls, tokens, _nano(usd))
        self._aside = _Sum()
        self._outstanding = 0
        self._waiting: deque[tuple[_Sum, asyncio.Future[Reservation]]] = deque()

    async def reserve(self, tokens: int, usd: float) -> Reservation:
        """Put aside what one attempt can cost at most, as soon as it fits.

        Who comes first is served first, also where a smaller sum would fit already.

        Raises:
            BudgetReached: it does not fit, and nothing is outstanding that could come back.
        """
        if not self._bounded:
            return _UNBOUNDED
        cost = _Sum(1, tokens, _nano(usd))
        if not self._waiting and self._over(cost) is None:
            return self._put_aside(cost)
        turn: asyncio.Future[Reservation] = asyncio.get_running_loop().create_future()
        self._waiting.append((cost, turn))
        self._serve()
        try:
            return await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled() and turn.exception() is None:
                turn.result().drop()
            else:
                self._serve()
            raise

    def take_back(self, reserved: _Sum, spent: _Sum) -> None:
        """What a reservation does when it ends."""
        self._outstanding -= 1
        self._aside = self._aside.plus(reserved, -1)
        self._spent = self._spent.plus(spent)
        if self._waiting:
            self._serve()

    def _put_aside(self, cost: _Sum) -> Reservation:
        self._outstanding += 1
        self._aside = self._aside.plus(cost)
        return Reservation(self, cost)

    def _serve(self) -> None:
        """Give to those who wait, in their order, until one has to wait on."""
        while self._waiting:
            cost, turn = self._waiting[0]
            over = None if turn.done() else self._over(cost)
            if over is not None and self._outstanding:
                return
            self._waiting.popleft()
            if turn.done():
                continue
            if over is None:
                turn.set_result(self._put_aside(cost))
            else:
                turn.set_exception(BudgetReached(self._reached(over, cost)))

    def _over(self, cost: _Sum) -> str | None:
        """The name of a bound that the cost does not fit in, if there is one."""
        sums = zip(_Sum._fields, self._bounds, self._spent, self._aside, cost, strict=True)
        for name, bound, spent, aside, more in sums:
            if bound is not None and spent + aside + more > bound:
                return name
        return None

    def _reached(self, name: str, cost: _Sum) -> str:
        spent, budget = self._spent, self.budget
        if name == "calls":
            told = f"{spent.calls} of {budget.calls} calls are made"
            more = str(2 * max(budget.calls or 0, spent.calls, 1))
        elif name == "tokens":
            told = f"{spent.tokens} of {budget.tokens} tokens are spent"
            told += f", and the next call could take up to {cost.tokens}"
            more = str(2 * max(budget.tokens or 0, spent.tokens + cost.tokens))
        else:
            name, used, most = "usd", spent.nano / NANO, cost.nano / NANO
            told = f"{used:.6g} of {budget.usd:.6g} US dollars are spent"
            told += f", and the next call could cost up to {most:.6g}"
            more = f"{math.ceil(2 * max(budget.usd or 0.0, used + most))}"
        return f"the budget is reached: {told}; go on with --set backend.budget.{name}={more}"


def most_tokens(request: Request, longest_reply: int) -> int:
    """Tokens that one attempt can cost at most, whatever tokenizer counts them.

    No tokenizer that works on bytes makes more tokens than there are bytes; 16 for each message
    and 16 for the whole stand for what a chat template adds.

    Args:
        request: its messages and the schema of its form are counted.
        longest_reply: most tokens of a reply.
    """
    told = sum(_bytes(message.content) + 16 for message in request.messages)
    return told + _bytes(request.form.schema_text()) + 16 + longest_reply


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _nano(usd: float) -> int:
    return max(0, math.ceil(usd * NANO - _TOLERANCE))
