"""A pool of slots for attempts in flight, with a health record and a circuit breaker per endpoint.

Requests wait in one queue, in the order in which the simulation clock will need their answers.
Each endpoint has a limit of attempts at a time that follows AIMD (additive increase,
multiplicative decrease): a success raises it, a rate limit of the provider cuts it. An endpoint
that fails several times in a row is closed for a pause, then tried with one attempt at a time (a
half-open circuit breaker); the others take its share meanwhile. All of it lives on one loop, and
decides only when and where an attempt is made, never what is answered (rule 6).

Written by hand because libraries for circuit breakers and for rate limits neither share one queue
among endpoints nor serve it in the order of simulated dates.
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
"""Failures in a row that open the circuit breaker of an endpoint."""
LIMIT_DECREASE = 0.7
"""Factor of the multiplicative decrease: share of a limit that is left after a rate fault."""
MAX_OPEN_SECONDS = 60.0
"""Longest pause of an open circuit breaker in seconds; each pause is twice the last."""
MIN_TIMER_SECONDS = 0.001
"""Least seconds until closed endpoints are looked at again; timers may fire a little early."""
SWITCH_SECONDS = 0.0005
"""Interpreter switch interval while clocks and loop share the interpreter, in seconds."""
PATIENCE = 10.0
"""Seconds for which a run that ends waits for the loop to wind up its calls."""


class EndpointHealth:
    """Successes and failures of one endpoint, and the limit and breaker that follow from them.

    It knows neither the queue nor the time; ``EndpointPool`` passes the time in.

    Args:
        endpoint: the endpoint.
        in_flight: most attempts at a time over the whole pool (>= 1).
        share: the endpoint's part of ``in_flight``, by weight (> 0).

    Attributes:
        endpoint: the endpoint.
        share: places that are its own, as long as all endpoints take calls.
        limit: most attempts at a time now (>= 1); a fraction counts once it has become a whole.
        busy: attempts under way.
        begun: attempts begun so far.
        cuts: how often the limit was cut.
        closed_until: time until which it gets no attempts, by the pool's clock; 0 if it is open.
        half_open: after a pause: it gets one attempt at a time until one succeeds.
        probe: the slot that holds this one attempt; None if it is free.
        reached: True once anything has answered there, an error included.
        looking: the look whether anything does, which all first attempts share; None so far.
    """

    def __init__(self, endpoint: Endpoint, in_flight: int, share: float) -> None:
        self.endpoint, self.share = endpoint, share
        self._most = self.limit = self._largest(in_flight)
        self.busy = self.begun = self.cuts = 0
        self.closed_until, self.half_open = 0.0, False
        self.probe: object | None = None
        self.reached = False
        self.looking: asyncio.Future[Fault | bool] | None = None
        self._failures_in_row, self._pause = 0, 1.0

    def _largest(self, in_flight: int) -> float:
        return float(min(self.endpoint.in_flight or in_flight, in_flight))

    def resize(self, in_flight: int, share: float) -> None:
        """Take another number of places over the whole pool; a limit that was cut stays cut."""
        whole, self._most, self.share = self.limit >= self._most, self._largest(in_flight), share
        self.limit = self._most if whole else min(self.limit, self._most)

    @property
    def has_capacity(self) -> bool:
        """True if its limit and its breaker allow one more attempt."""
        return self.busy + 1 <= self.limit and not (self.half_open and self.probe is not None)

    @property
    def precedence(self) -> tuple[bool, float]:
        """Sort key among endpoints with capacity; the smallest gets the next attempt.

        Below its share of places, attempts begun follow the weights, also where places are few.
        Above its share, places in use do, so that a slow endpoint gets fewer calls.
        """
        full = self.busy >= self.share
        return full, (self.busy if full else self.begun) / self.endpoint.weight

    def record_success(self) -> None:
        """Raise the limit by one part of itself, and close the breaker."""
        # One part of the limit, so that a whole round of successes raises it by one (AIMD).
        self.limit = min(self._most, self.limit + 1 / self.limit)
        self._failures_in_row, self._pause, self.half_open = 0, 1.0, False

    def reduce_limit(self, cuts: int, until: float) -> None:
        """Cut the limit after a rate limit of the provider (multiplicative decrease).

        ``cuts`` is ``self.cuts`` when the attempt began; ``until`` the time before which the
        provider asks not to be called, 0 if it did not say.
        """
        # Attempts begun before the last cut met the old limit, so one burst cuts only once.
        if cuts == self.cuts:
            self.limit = max(1.0, float(math.floor(self.limit * LIMIT_DECREASE)))
            self.cuts += 1
        self.closed_until = max(self.closed_until, until)

    def record_failure(self, holder: object, now: float, patience: float) -> None:
        """Count a failure that speaks against the endpoint; several in a row close it.

        Args:
            holder: the slot of the attempt.
            now: the time by the pool's clock, in seconds.
            patience: longest pause in seconds.
        """
        if self.half_open and self.probe is not holder:
            return  # It was begun before the pause and says nothing new.
        self._failures_in_row += 1
        if self.half_open or self._failures_in_row >= FAILURES_TO_OPEN:
            self.closed_until, self.half_open = (
                max(self.closed_until, now + min(self._pause, patience)),
                True,
            )
            self._pause = min(2 * self._pause, MAX_OPEN_SECONDS)

    def reset_failures(self) -> None:
        """Begin the count of failures anew: the endpoint did answer."""
        self._failures_in_row = 0


class Slot:
    """One place at an endpoint, held for one attempt.

    Call ``record_success`` or ``record_failure`` if it is known how the attempt ended, and then
    ``release`` in any case.
    """

    __slots__ = ("_cuts", "_held", "_pool", "health")

    def __init__(self, pool: EndpointPool, health: EndpointHealth) -> None:
        self._pool, self._held = pool, True
        self.health, self._cuts = health, health.cuts

    @property
    def endpoint(self) -> Endpoint:
        """The endpoint to ask."""
        return self.health.endpoint

    async def reach(self) -> Fault | None:
        """Look whether anything answers at the endpoint, where nothing has yet.

        Returns:
            The fault of an attempt that need not be made; None: it may be.
        """
        health, probe = self.health, self.endpoint.probe
        if health.reached or probe is None:
            return None
        if health.looking is None or health.looking.done():
            health.looking = asyncio.ensure_future(probe())
        # Shielded: the others go on waiting where one attempt is cancelled.
        answer = await asyncio.shield(health.looking)
        health.reached = health.reached or answer is True
        return answer if isinstance(answer, Fault) else None

    def record_success(self) -> None:
        """Note that the endpoint has answered; a verdict is an answer as well."""
        self.health.reached = True
        self.health.record_success()
        self._pool.record_success()

    def record_failure(self, fault: Fault) -> None:
        """Note the fault by which the attempt ended; its kind decides what follows."""
        now, longest = self._pool.clock(), self._pool.patience
        if fault.sent and fault.status is not None:
            self.health.reached = True
        if fault.rule.endpoint_at_fault:
            if not fault.sent and (contact := self._pool.contact) is not None:
                # A longer pause would end after the time within which a first answer must come.
                longest = min(longest, contact / 10)
            self.health.record_failure(self, now, longest)
            return
        self.health.reset_failures()
        if fault.kind == "rate":
            pause = min(fault.retry_after or 0.0, self._pool.patience)
            self.health.reduce_limit(self._cuts, now + pause if pause > 0 else 0.0)

    def release(self) -> None:
        """Give the place back to the pool; only the first call counts."""
        if self._held:
            self._held = False
            self._pool.take_back_slot(self)


class EndpointPool:
    """All endpoints of one model, with one queue and at most ``in_flight`` attempts at a time.

    Args:
        endpoints: at least one.
        in_flight: most attempts at a time over all of them (>= 1).
        patience: longest time in seconds that an endpoint stays closed before it is tried (>= 0).
        clock: seconds of real time, the same as the loop's.

    Attributes:
        health: one record per endpoint, in their order.
    """

    def __init__(
        self,
        endpoints: tuple[Endpoint, ...],
        in_flight: int,
        *,
        patience: float = 600.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        weights = sum(endpoint.weight for endpoint in endpoints)
        self._parts = tuple(endpoint.weight / weights for endpoint in endpoints)
        self.health = tuple(
            EndpointHealth(endpoint, in_flight, in_flight * part)
            for endpoint, part in zip(endpoints, self._parts, strict=True)
        )
        self.patience, self.clock = patience, clock
        self._free = self._places = in_flight
        self._waiting: list[tuple[float, str, int, int, asyncio.Future[Slot]]] = []
        self._arrivals = count()
        self._timer: asyncio.TimerHandle | None = None
        self._silent_since: float | None = None
        self._resting = True
        self._closed: Stopped | None = None

    async def acquire(self, due: float, id: str, attempt: int) -> Slot:
        """Wait for a slot; the queue is served in the order of due date, id and attempt.

        Args:
            due: simulated date in days on which the answer is due.
            id: call id of the request.
            attempt: number of the re-ask, 0 for the first.

        Returns:
            A slot, to be released by the caller.

        Raises:
            Stopped: the pool has been closed.
        """
        if self._closed is not None:
            raise _copy_of(self._closed)
        if self._resting:
            self._wake_up()
        # While others wait, the due date decides who is next, and not the moment of asking.
        slot = None if self._waiting else self._begin()
        if slot is not None:
            return slot
        turn: asyncio.Future[Slot] = asyncio.get_running_loop().create_future()
        # Runs that share a pool have equal ids; then the order of arrival decides, because futures
        # cannot be compared.
        heapq.heappush(self._waiting, (due, id, attempt, next(self._arrivals), turn))
        self._serve()
        return await _taken(turn)

    @property
    def waiting(self) -> int:
        """Number of requests in the queue."""
        return len(self._waiting)

    @property
    def contact(self) -> float | None:
        """Most seconds to wait while no endpoint has ever answered; None: one has."""
        if any(health.reached for health in self.health):
            return None
        return max(health.endpoint.contact for health in self.health)

    def resize(self, in_flight: int) -> None:
        """Allow another number of attempts at a time (>= 1); none that is under way is ended."""
        # Below 0 while more are under way than there are places now: none begins until they end.
        self._free += in_flight - self._places
        self._places = in_flight
        for health, part in zip(self.health, self._parts, strict=True):
            health.resize(in_flight, in_flight * part)
        self._serve()

    def mark_reached(self) -> None:
        """Take the endpoints for reached: they have answered in an earlier session."""
        for health in self.health:
            health.reached = True

    def seconds_since_success(self) -> float:
        """Seconds since the last success, or since the first ``acquire`` if there was none.

        Times at which nothing was under way do not count.
        """
        return 0.0 if self._silent_since is None else self.clock() - self._silent_since

    def close(self, error: Stopped) -> None:
        """Give out no more slots; all that wait or come later get the error."""
        self._closed = error
        if self._timer is not None:
            self._timer.cancel()
        waiting, self._waiting = self._waiting, []
        for turn in (one[-1] for one in waiting):
            if not turn.done():
                turn.set_exception(_copy_of(error))

    def record_success(self) -> None:
        """Begin to measure silence anew; called by a slot."""
        self._silent_since, self._resting = self.clock(), True

    def take_back_slot(self, slot: Slot) -> None:
        """Free the place of a slot and serve the queue; called by the slot."""
        self._free += 1
        slot.health.busy -= 1
        # Attempts begun before the pause come back too, and are not the probe.
        if slot.health.probe is slot:
            slot.health.probe = None
        if self._waiting:
            self._serve()

    def _wake_up(self) -> None:
        """Begin to measure silence, at the first ``acquire`` after a success."""
        if self._free == self._places or self._silent_since is None:
            self._silent_since = self.clock()
        self._resting = False

    def _begin(self) -> Slot | None:
        """A slot at the endpoint of the smallest precedence; None: no slot."""
        ready = [health for health in self.health if health.has_capacity and self._is_open(health)]
        if self._free < 1 or not ready:
            return None
        chosen = min(ready, key=lambda health: health.precedence)
        slot = Slot(self, chosen)
        self._free -= 1
        chosen.busy += 1
        chosen.begun += 1
        if chosen.half_open:
            chosen.probe = slot
        return slot

    def _is_open(self, health: EndpointHealth) -> bool:
        if health.closed_until and health.closed_until <= self.clock():
            health.closed_until = 0.0
        return not health.closed_until

    def _serve(self) -> None:
        """Hand slots to the queue until it is empty or no endpoint can take more."""
        while self._waiting:
            # A cancelled request stays in the heap, which only gives up its first entry, until its
            # turn.
            turn = self._waiting[0][-1]
            slot = None if turn.done() else self._begin()
            if slot is None and not turn.done():
                self._look_again_later()
                return
            heapq.heappop(self._waiting)
            if slot is not None:
                turn.set_result(slot)

    def _look_again_later(self) -> None:
        """Serve again when the first closed endpoint opens.

        No timer is needed for anything else: a released slot serves the queue itself.
        """
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        # Also those whose pause has ended since ``_begin`` looked at them: no other event serves.
        opening = [
            health.closed_until
            for health in self.health
            if health.closed_until and health.has_capacity
        ]
        if opening and self._free > 0:
            wait = max(min(opening) - self.clock(), MIN_TIMER_SECONDS)
            self._timer = asyncio.get_running_loop().call_later(wait, self._serve)


class SharedEndpoints:
    """One endpoint pool and one loop thread for the gateways of several runs.

    All requests that wait for a slot wait in one queue, so the run that lies back goes first, and
    no slot is free while any run needs one. The dispatchers of those gateways work on its loop.
    Journal, budget and ledger stay each run's own; call ids, which are the same in all runs, never
    meet.

    Args:
        backend: the backend whose endpoints are asked; those of the gateways are equal to it.
        in_flight: most attempts at a time, of all gateways together (>= 1).
        patience: seconds, as ``EndpointPool`` has it (>= 0).

    Attributes:
        loop_thread: the loop on which all of their requests are made.
    """

    def __init__(self, backend: Backend, in_flight: int, patience: float) -> None:
        self.backend, self.in_flight, self._patience = backend, in_flight, patience
        self.loop_thread = LoopThread(
            "answers", wind_up=self._wind_up, switch_interval=SWITCH_SECONDS
        )

    @cached_property
    def pool(self) -> EndpointPool:
        """The endpoint pool; made at the first use, which must be on the loop."""
        return EndpointPool(self.backend.endpoints(), self.in_flight, patience=self._patience)

    def run(self, work: Coroutine[Any, Any, None]) -> None:
        """Run a coroutine on the loop and wait for its end.

        On the loop's own thread it is only begun; after ``close`` nothing is done.

        Raises:
            TimeoutError: the work has not ended within ``PATIENCE`` seconds.
        """
        self.loop_thread.run(work, PATIENCE)

    def close(self) -> None:
        """Stop the loop and close the backend; every run has ended by then."""
        self.loop_thread.stop(PATIENCE)

    async def _wind_up(self) -> None:
        # Only a pool that was ever made: making one would read keys and open endpoints.
        if "pool" in self.__dict__:
            self.pool.close(Stopped("the study has ended"))
        await self.backend.close()


async def _taken(turn: asyncio.Future[Slot]) -> Slot:
    """Wait for a slot; one that comes in the moment of a cancellation is given back."""
    try:
        return await turn
    except asyncio.CancelledError:
        # Nobody else would release it.
        if turn.done() and not turn.cancelled() and turn.exception() is None:
            turn.result().release()
        raise


def _copy_of(error: Stopped) -> Stopped:
    # One exception object for each waiter: raising one twice would mix their tracebacks.
    return type(error)(*error.args)
