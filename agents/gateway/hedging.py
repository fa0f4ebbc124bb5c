"""Second attempts at a request whose first attempt is unusually slow (hedged requests).

Where a few replies take very long, all that depends on them waits, and so may the simulated clock.
A second attempt at the same request is then likely to end sooner. It decides when a reply comes,
and never what is asked (rule 6): both attempts send the same request, and one reply is kept.

Source: Dean and Barroso (2013), The tail at scale, Communications of the ACM 56(2).
"""

from __future__ import annotations

import asyncio
import math
import re
from bisect import bisect_left, insort
from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from time import monotonic
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from virsci_society.agents.errors import Fault
from virsci_society.agents.gateway.attempt import Attempts, send_once, settled
from virsci_society.agents.gateway.endpoint_pool import Slot
from virsci_society.agents.gateway.retry import Conclusion
from virsci_society.agents.journal.records import ANSWERED, SUPERSEDED, CallOutcome
from virsci_society.agents.prompts.request import Request

LEAST = 20
"""Attempts of a kind that must have been answered before one of that kind is hedged."""
RECENT = 500
"""Attempts of a kind that are remembered, the latest ones: a server can become slower."""

_PERCENTILE = r"^p[5-9][0-9](\.[0-9])?$"


def _check_percentile(value: Any) -> Any:
    if value is None or (isinstance(value, str) and re.search(_PERCENTILE, value)):
        return value
    raise ValueError("expected a percentile from p50 to p99.9, such as p95, or null")


HedgePercentile = Annotated[
    Annotated[str, Field(pattern=_PERCENTILE)] | None, BeforeValidator(_check_percentile)
]
"""A percentile, such as ``p95``; None: nothing is hedged."""


class _Recent:
    """The latest durations of one kind, in order of time and in order of length."""

    def __init__(self) -> None:
        self._by_time: deque[float] = deque()
        self._sorted: list[float] = []

    def add(self, seconds: float) -> None:
        if len(self._by_time) == RECENT:
            del self._sorted[bisect_left(self._sorted, self._by_time.popleft())]
        self._by_time.append(seconds)
        insort(self._sorted, seconds)

    def percentile(self, share: float) -> float | None:
        number = len(self._sorted)
        # The nearest rank, so that the result is one of the durations.
        return self._sorted[math.ceil(share * number) - 1] if number >= LEAST else None


class HedgeDelay:
    """The time after which an attempt is hedged: a percentile of earlier ones of its kind.

    An attempt that was given up for another counts with the time that it had lasted. If it were
    left out, only quick ones would be counted, and ever more requests would be hedged.

    Args:
        percentile: such as ``p95``.
    """

    def __init__(self, percentile: str) -> None:
        self._share = float(percentile.removeprefix("p")) / 100
        self._recent: defaultdict[str, _Recent] = defaultdict(_Recent)

    def record(self, kind: str, seconds: float) -> None:
        """Count the seconds of an attempt that was answered, or given up for another."""
        self._recent[kind].add(seconds)

    def seconds(self, kind: str) -> float | None:
        """Seconds after which an attempt is hedged; None: too few of its kind are known."""
        return self._recent[kind].percentile(self._share)


class Race:
    """Two attempts at one request, of which the first outcome counts.

    Args:
        delay: learns from the first attempt how long one takes.

    Attributes:
        sent: set once the first attempt is sent.
        hedged: True once the second attempt has begun.
        decided: True once one of them has brought the outcome.
    """

    def __init__(self, delay: HedgeDelay) -> None:
        self.sent = asyncio.Event()
        self.hedged = self.decided = False
        self._delay = delay
        self._calls: set[asyncio.Future[Conclusion]] = set()

    async def send(
        self, request: Request, slot: Slot, earlier: Sequence[Fault], *, first: bool = True
    ) -> Conclusion:
        """Send the request as ``send_once`` does, unless or until the other attempt is quicker.

        Args:
            request: the question.
            slot: the place in flight that this attempt uses.
            earlier: faults of the earlier attempts, in order.
            first: False for the second attempt.

        Returns:
            What follows; an attempt that came second has no outcome and is superseded.
        """
        if self.decided:
            return Conclusion(SUPERSEDED)
        began = monotonic()
        task = asyncio.ensure_future(send_once(request, slot, earlier))
        self._calls.add(task)
        self.sent.set()
        try:
            # ``wait`` tells a cancelled attempt from a caller who is cancelled.
            await asyncio.wait([task])
        finally:
            self._calls.discard(task)
            task.cancel()
        if task.cancelled() and self.decided:
            # It was sent, so the provider may have generated its answer.
            end = Conclusion(SUPERSEDED, bills_most=True)
        else:
            end = self._place(task.result())
        # Of second attempts nothing is learnt: one that is given up may have just begun.
        if first and end.recorded in (ANSWERED, SUPERSEDED):
            self._delay.record(request.form.__name__, monotonic() - began)
        return end

    def _place(self, end: Conclusion) -> Conclusion:
        """The end of an attempt, without an outcome if the other one has brought it before."""
        if end.outcome is None:
            return end
        # Both replies can arrive before either is committed: only one of them is an answer.
        if self.decided:
            return replace(end, recorded=SUPERSEDED, outcome=None)
        self.decided = True
        for task in self._calls:
            task.cancel()
        return end


class Hedging:
    """Makes attempts as ``Attempts`` does, and a second one beside each that is slow.

    Args:
        attempts: makes them one by one.
        percentile: of earlier durations, after which a second attempt is made.
    """

    def __init__(self, attempts: Attempts, percentile: str) -> None:
        self._attempts, self._delay = attempts, HedgeDelay(percentile)
        self.pool = attempts.pool

    async def make(self, request: Request, earlier: Sequence[Fault]) -> CallOutcome | Fault:
        """Make one attempt, and a second one beside it if the first is slow.

        Returns:
            The first outcome; if there is none, the fault of the first attempt.
        """
        attempts = self._attempts
        if not attempts.backend.hedgeable(request.id, request.who.id):
            return await attempts.make(request, earlier)
        slot = await attempts.take_slot(request)
        race, after = Race(self._delay), self._delay.seconds(request.form.__name__)
        if after is None:
            return settled(request, await attempts.make_in(slot, request, earlier, race.send))
        second = asyncio.create_task(self._second(request, slot, earlier, race, after))
        # Its exception is that of the call only if the first attempt raises none.
        second.add_done_callback(lambda task: task.cancelled() or task.exception())
        try:
            result = await attempts.make_in(slot, request, earlier, race.send)
            if not race.hedged:
                second.cancel()
            await asyncio.wait([second])
        finally:
            # It goes on by itself only if this request has failed or is cancelled.
            second.cancel()
        other = second.result() if race.hedged else None
        # A fault of the second attempt counts nowhere: without it there would be none.
        return settled(request, other if isinstance(other, CallOutcome) else result)

    async def _second(
        self, request: Request, slow: Slot, earlier: Sequence[Fault], race: Race, after: float
    ) -> CallOutcome | Fault | None:
        """Make the second attempt after so many seconds, if there is a place and a budget for it.

        Another endpoint than that of the slow slot is preferred.

        Returns:
            As ``Attempts.make_in``; None also if there was no second attempt.
        """
        attempts = self._attempts
        await race.sent.wait()
        await asyncio.sleep(after)
        slot = await attempts.pool.acquire_spare(slow.health)
        cost = attempts.largest_cost(request)
        held = attempts.ended or attempts.paused
        reservation = None if held else attempts.account.reserve_at_once(*cost)
        if reservation is None:
            slot.release()
            return None
        # From here on the first attempt waits for it, so nothing that is sent stays unsettled.
        race.hedged = True
        send = partial(race.send, first=False)
        return await attempts.make_in(slot, request, earlier, send, reservation)
