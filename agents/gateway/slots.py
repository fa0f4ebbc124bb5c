"""The slots for attempts in flight at one endpoint, with AIMD and a circuit breaker.

Written by hand because no library serves its queue in the order of simulated dates.
"""

from __future__ import annotations

import asyncio
import heapq
import math
import time
from collections.abc import Callable, Coroutine
from functools import cached_property
from itertools import count
from typing import Any

from virsci_society.agents.errors import Fault, Stopped
from virsci_society.agents.gateway.backend import Backend, Endpoint
from virsci_society.agents.loop_thread import LoopThread

FAILURES_TO_OPEN = 5
"""Failures in a row that open the circuit breaker."""
LIMIT_DECREASE = 0.7
"""Factor of the multiplicative decrease: share of the limit that is left after a rate fault."""
MAX_OPEN_SECONDS = 60.0
"""Longest pause of the open circuit breaker in seconds; each pause is twice the last."""
MIN_TIMER_SECONDS = 0.001
"""Least seconds until a closed endpoint is looked at again; timers may fire a little early."""
SWITCH_SECONDS = 0.00005
"""Interpreter switch interval while clocks and loop share the interpreter, in seconds."""
PATIENCE = 10.0
"""Seconds for which a run that ends waits for the loop to wind up its calls."""


class Slot:
    """The place of one attempt in flight, whose end is recorded before its release."""

    __slots__ = ("_held", "cuts", "pool")

    def __init__(self, pool: SlotPool) -> None:
        self.pool, self._held, self.cuts = pool, True, pool.cuts

    def release(self) -> None:
        """Give the place back to the pool; only the first call counts."""
        if self._held:
            self._held = False
            self.pool.take_back(self)


class SlotPool:
    """The slots of one endpoint, with one queue; ``patience``: longest pause in seconds."""

    def __init__(
        self,
        endpoint: Endpoint,
        in_flight: int,
        *,
        patience: float = 600.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.endpoint, self.patience, self.clock = endpoint, patience, clock
        self._most = self.limit = float(min(in_flight, endpoint.most or in_flight))
        self.busy = self.cuts = 0
        self.half_open, self.reached = False, False
        self.probe: Slot | None = None
        self._failures_in_row, self._pause = 0, 1.0
        self._closed_until = 0.0  # 0: open
        self._waiting: list[tuple[float, str, int, int, asyncio.Future[Slot]]] = []
        self._arrivals = count()
        self._timer: asyncio.TimerHandle | None = None
        self._looking: asyncio.Future[Fault | bool] | None = None
        self._silent_since: float | None = None
        self._resting = True
        self._closed: Stopped | None = None

    async def acquire(self, due: float, id: str, attempt: int) -> Slot:
        """Wait for a slot; the queue is served in the order of due date (days), id and attempt."""
        if self._closed is not None:
            raise _copy_of(self._closed)
        if self._resting:
            # Silence is measured from the first ``acquire`` after a success.
            if not self.busy or self._silent_since is None:
                self._silent_since = self.clock()
            self._resting = False
        # While others wait, the due date decides who is next, and not the moment of asking.
        slot = None if self._waiting else self._begin()
        if slot is not None:
            return slot
        turn: asyncio.Future[Slot] = asyncio.get_running_loop().create_future()
        # Runs that share a pool have equal ids; then the order of arrival decides, because futures
        # cannot be compared.
        heapq.heappush(self._waiting, (due, id, attempt, next(self._arrivals), turn))
        self._serve()
        try:
            return await turn
        except asyncio.CancelledError:
            # The slot came in the moment of the cancellation; nobody else would release it.
            if turn.done() and not turn.cancelled() and turn.exception() is None:
                turn.result().release()
            raise

    @property
    def waiting(self) -> int:
        """Number of requests in the queue."""
        return len(self._waiting)

    @property
    def contact(self) -> float | None:
        """Most seconds to wait while the endpoint has never answered; None: it has."""
        return None if self.reached else self.endpoint.contact

    def seconds_since_success(self) -> float:
        """Seconds with anything under way since the last success or the first ``acquire``."""
        return 0.0 if self._silent_since is None else self.clock() - self._silent_since

    def close(self, error: Stopped) -> None:
        """Give out no more slots; all that wait or come later get the error."""
        self._closed = error
        if self._timer is not None:
            self._timer.cancel()
        waiting, self._waiting = self._waiting, []
        for *_, turn in waiting:
            if not turn.done():
                turn.set_exception(_copy_of(error))

    async def reach(self) -> Fault | None:
        """Check that the endpoint responds, unless it did before; first attempts share a check."""
        probe = self.endpoint.probe
        if self.reached or probe is None:
            return None
        if self._looking is None or self._looking.done():
            self._looking = asyncio.ensure_future(probe())
        # Shielded: the others keep waiting if one attempt is cancelled.
        answer = await asyncio.shield(self._looking)
        self.reached = self.reached or answer is True
        return answer if isinstance(answer, Fault) else None

    def record_success(self) -> None:
        """Note an answer or a verdict: raise the limit by one part of itself, close the breaker."""
        # One part of the limit, so that a whole round of successes raises it by one (AIMD).
        self.limit = min(self._most, self.limit + 1 / self.limit)
        self._failures_in_row, self._pause, self.half_open = 0, 1.0, False
        self.reached, self._silent_since, self._resting = True, self.clock(), True

    def record_failure(self, slot: Slot, fault: Fault) -> None:
        """Count the fault by which an attempt ended, or cut the limit after a rate fault."""
        now = self.clock()
        if fault.sent and fault.status is not None:
            self.reached = True
        if not fault.rule.endpoint_at_fault:
            self._failures_in_row = 0  # It did answer.
            if fault.kind == "rate":
                # Attempts begun before the last cut met the old limit, so one burst cuts only once.
                if slot.cuts == self.cuts:
                    self.limit = max(1.0, float(math.floor(self.limit * LIMIT_DECREASE)))
                    self.cuts += 1
                pause = min(fault.retry_after or 0.0, self.patience)
                self._closed_until = max(self._closed_until, now + pause if pause > 0 else 0.0)
        elif not self.half_open or self.probe is slot:
            # Else it was begun before the pause and says nothing new.
            self._failures_in_row += 1
            if self.half_open or self._failures_in_row >= FAILURES_TO_OPEN:
                longest = self.patience
                if not fault.sent and self.contact is not None:
                    # A longer pause would end after the time within which a first answer must come.
                    longest = min(longest, self.contact / 10)
                self._closed_until = max(self._closed_until, now + min(self._pause, longest))
                self._pause, self.half_open = min(2 * self._pause, MAX_OPEN_SECONDS), True

    def take_back(self, slot: Slot) -> None:
        """Free the place of a slot and serve the queue; called by the slot."""
        self.busy -= 1
        # Attempts begun before the pause come back too, and are not the probe.
        if self.probe is slot:
            self.probe = None
        self._serve()

    @property
    def _has_capacity(self) -> bool:
        """True if the limit and the breaker allow one more attempt, once the pause is over."""
        return self.busy + 1 <= self.limit and not (self.half_open and self.probe is not None)

    def _begin(self) -> Slot | None:
        """A slot, if an attempt may be made now."""
        if not self._has_capacity:
            return None
        if self._closed_until and self._closed_until > self.clock():
            return None
        self._closed_until = 0.0
        slot = Slot(self)
        self.busy += 1
        if self.half_open:
            self.probe = slot
        return slot

    def _serve(self) -> None:
        """Hand slots to the queue until it is empty or no further attempt may be made."""
        while self._waiting:
            # A cancelled request stays in the heap, which only gives up its first entry, until its
            # turn.
            turn = self._waiting[0][-1]
            slot = None if turn.done() else self._begin()
            if slot is None and not turn.done():
                # Only the end of a pause needs a timer: a released slot serves the queue itself.
                # Also if the pause has ended since ``_begin`` looked: no other event serves.
                if self._timer is not None:
                    self._timer.cancel()
                    self._timer = None
                if self._closed_until and self._has_capacity:
                    wait = max(self._closed_until - self.clock(), MIN_TIMER_SECONDS)
                    self._timer = asyncio.get_running_loop().call_later(wait, self._serve)
                return
            heapq.heappop(self._waiting)
            if slot is not None:
                turn.set_result(slot)


class SharedEndpoint:
    """One slot pool and one loop thread for the gateways of several runs, served in one queue."""

    def __init__(self, backend: Backend, in_flight: int, patience: float) -> None:
        self.backend, self.in_flight, self._patience = backend, in_flight, patience
        self.loop_thread = LoopThread(
            "answers", wind_up=self._wind_up, switch_interval=SWITCH_SECONDS
        )

    @cached_property
    def pool(self) -> SlotPool:
        """The slot pool; made at the first use, which must be on the loop."""
        return SlotPool(self.backend.endpoint(), self.in_flight, patience=self._patience)

    def run(self, work: Coroutine[Any, Any, None]) -> None:
        """Run a coroutine on the loop; wait for its end, except on the loop's own thread."""
        self.loop_thread.run(work, PATIENCE)

    def close(self) -> None:
        """Stop the loop and close the backend; every run has ended by then."""
        self.loop_thread.stop(PATIENCE)

    async def _wind_up(self) -> None:
        # Only a pool that was ever made: making one would read keys and open the endpoint.
        if "pool" in self.__dict__:
            self.pool.close(Stopped("the study has ended"))
        await self.backend.close()


def _copy_of(error: Stopped) -> Stopped:
    # One exception object for each waiter: raising one twice would mix their tracebacks.
    return type(error)(*error.args)
