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
from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from virsci_society.agents.prompts.request import Reply

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
        """Count an attempt that was answered, or given up for another one.

        Args:
            kind: class name of the form.
            seconds: how long it lasted (>= 0).
        """
        self._recent[kind].add(seconds)

    def seconds(self, kind: str) -> float | None:
        """Seconds after which an attempt is hedged; None: too few of its kind are known."""
        return self._recent[kind].percentile(self._share)


class Superseded(Exception):
    """Another attempt at the request has brought its outcome; used inside the gateway only.

    Args:
        sent: False if this attempt had not been sent by then, so that it costs nothing.
    """

    def __init__(self, *, sent: bool) -> None:
        super().__init__("another attempt was quicker")
        self.sent = sent


class Race:
    """Two attempts at one request, of which the first outcome counts.

    Attributes:
        sent: set once the first attempt is sent.
        hedged: True once the second attempt has begun.
        decided: True once one of them has brought the outcome.
    """

    def __init__(self) -> None:
        self.sent = asyncio.Event()
        self.hedged = self.decided = False
        self._calls: set[asyncio.Future[Reply]] = set()

    async def run(self, call: Callable[[], Awaitable[Reply]]) -> Reply:
        """Make one attempt and wait for its reply.

        Raises:
            Superseded: the other attempt was quicker, and this one is not made or is cancelled.
        """
        if self.decided:
            raise Superseded(sent=False)
        task = asyncio.ensure_future(call())
        self._calls.add(task)
        self.sent.set()
        try:
            # ``wait`` tells a cancelled attempt from a caller who is cancelled.
            await asyncio.wait([task])
        finally:
            self._calls.discard(task)
            task.cancel()
        if task.cancelled() and self.decided:
            raise Superseded(sent=True)
        return task.result()

    def decide(self) -> None:
        """Take the outcome of the attempt that calls this, and cancel the other one."""
        self.decided = True
        for task in self._calls:
            task.cancel()
