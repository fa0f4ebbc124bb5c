"""Lanes: places in flight at the endpoints of a model, and who gets the next one.

Requests wait in the order in which the clock will need their answers. An endpoint that asks for
fewer calls gets fewer, one that ails gets none for a while, and the others take its share. All
of it lives on one loop, and decides nothing but when and where an attempt is made.
"""

from __future__ import annotations

import asyncio
import heapq
import time
from collections.abc import Callable
from itertools import count

from agents.backend import Endpoint
from agents.errors import Stopped
from agents.faults import Fault
from agents.standing import Standing

MOMENT = 0.001
"""Least seconds to the next look at endpoints that are shut; timers may ring a little early."""


class Lane:
    """One place at an endpoint, held for one attempt.

    Say how the attempt went, or say nothing if that is not known; then give the place back.
    """

    __slots__ = ("_cuts", "_held", "_lanes", "standing")

    def __init__(self, lanes: Lanes, standing: Standing) -> None:
        self._lanes, self._held = lanes, True
        self.standing, self._cuts = standing, standing.cuts

    @property
    def endpoint(self) -> Endpoint:
        """Whom to ask."""
        return self.standing.endpoint

    def succeeded(self) -> None:
        """The endpoint has answered; a verdict is an answer as well."""
        self.standing.thrive()
        self._lanes.note_success()

    def failed(self, fault: Fault) -> None:
        """The attempt has brought no words."""
        now = self._lanes.clock()
        if fault.rule.ailing:
            self.standing.ail(self, now, self._lanes.patience)
            return
        self.standing.answer()
        if fault.kind == "rate":
            wish = min(fault.after or 0.0, self._lanes.patience)
            self.standing.slow_down(self._cuts, now + wish if wish > 0 else 0.0)

    def give_back(self) -> None:
        """Let the next one have the place; only the first time counts."""
        if self._held:
            self._held = False
            self._lanes.take_back(self)


class Lanes:
    """All endpoints of one model, with at most ``in_flight`` attempts at a time over them.

    Args:
        endpoints: at least one.
        in_flight: most attempts at a time.
        patience: most seconds for which an endpoint stays shut before it is tried again (>= 0).
        clock: seconds of real time, the same as the loop's.
    """

    def __init__(
        self,
        endpoints: tuple[Endpoint, ...],
        in_flight: int,
        *,
        patience: float = 600.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        weights = sum(one.weight for one in endpoints)
        self.standings = tuple(
            Standing(one, in_flight, in_flight * one.weight / weights) for one in endpoints
        )
        self.patience, self.clock = patience, clock
        self._free = self._places = in_flight
        self._waiting: list[tuple[float, str, int, int, asyncio.Future[Lane]]] = []
        self._arrivals = count()
        self._timer: asyncio.TimerHandle | None = None
        self._silent_since: float | None = None
        self._resting = True
        self._closed: Stopped | None = None

    async def take(self, due: float, id: str, attempt: int) -> Lane:
        """Wait for a place; those who wait get one in the order of due date, id and attempt.

        Raises:
            Stopped: the lanes have been closed.
        """
        if self._closed is not None:
            raise _again(self._closed)
        if self._resting:
            self._wake_up()
        lane = None if self._waiting else self._begin()
        if lane is not None:
            return lane
        turn: asyncio.Future[Lane] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._waiting, (due, id, attempt, next(self._arrivals), turn))
        self._serve()
        try:
            return await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled() and turn.exception() is None:
                turn.result().give_back()
            raise

    @property
    def waiting(self) -> int:
        """Requests that wait for a place."""
        return len(self._waiting)

    def silent_for(self) -> float:
        """Seconds since the last success, or since the first take; times of rest do not count."""
        return 0.0 if self._silent_since is None else self.clock() - self._silent_since

    def close(self, error: Stopped) -> None:
        """Give no more places; everyone who waits, or comes later, gets the error."""
        self._closed = error
        if self._timer is not None:
            self._timer.cancel()
        waiting, self._waiting = self._waiting, []
        for *_, turn in waiting:
            if not turn.done():
                turn.set_exception(_again(error))

    def note_success(self) -> None:
        """What a lane does when its endpoint has answered."""
        self._silent_since, self._resting = self.clock(), True

    def take_back(self, lane: Lane) -> None:
        """What a lane does when it is given back."""
        self._free += 1
        lane.standing.busy -= 1
        if lane.standing.probe is lane:
            lane.standing.probe = None
        if self._waiting:
            self._serve()

    def _wake_up(self) -> None:
        """The first take after a success: silence begins now, if nothing was under way."""
        if self._free == self._places or self._silent_since is None:
            self._silent_since = self.clock()
        self._resting = False

    def _begin(self) -> Lane | None:
        """A place at the endpoint whose turn it is, if there is any."""
        ready = [one for one in self.standings if one.room and self._is_open(one)]
        if not (self._free and ready):
            return None
        chosen = ready[0] if len(ready) == 1 else min(ready, key=lambda one: one.turn)
        lane = Lane(self, chosen)
        self._free -= 1
        chosen.busy += 1
        chosen.served += 1
        if chosen.probing:
            chosen.probe = lane
        return lane

    def _is_open(self, one: Standing) -> bool:
        if one.shut and one.shut <= self.clock():
            one.shut = 0.0
        return not one.shut

    def _serve(self) -> None:
        """Hand places to those who still wait for one."""
        while self._waiting:
            turn = self._waiting[0][-1]
            lane = None if turn.done() else self._begin()
            if lane is None and not turn.done():
                self._look_again_later()
                return
            heapq.heappop(self._waiting)
            if lane is not None:
                turn.set_result(lane)

    def _look_again_later(self) -> None:
        """If an endpoint is shut, serve when it opens; whatever else helps comes by itself."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        now = self.clock()
        opening = [one.shut for one in self.standings if one.shut > now]
        if opening and self._free:
            wait = max(min(opening) - now, MOMENT)
            self._timer = asyncio.get_running_loop().call_later(wait, self._serve)


def _again(error: Stopped) -> Stopped:
    return type(error)(*error.args)
