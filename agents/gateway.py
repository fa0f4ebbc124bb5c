"""Gateway: the calls in flight, and the order in which waiting ones are served.

It lives on the thread that asks the backend. Waiting requests are served by simulated due
date, then id, so that what the clock will need first is asked first. It decides nothing: the
words of an answer never depend on when they were fetched.
"""

from __future__ import annotations

import asyncio
import heapq

from agents.backend import Backend
from agents.request import Reply, Request


class Gateway:
    """At most ``in_flight`` calls at a time to one backend."""

    def __init__(self, backend: Backend, in_flight: int) -> None:
        self.backend = backend
        self._free = in_flight
        self._waiting: list[tuple[float, str, int, asyncio.Future[None]]] = []

    async def complete(self, request: Request) -> Reply:
        """Answer one request as soon as a slot is free; whatever the backend raises passes."""
        if self._free:
            self._free -= 1
        else:
            turn = asyncio.get_running_loop().create_future()
            entry = (request.due, request.id, request.attempt, turn)
            heapq.heappush(self._waiting, entry)
            try:
                await turn
            except asyncio.CancelledError:
                if not turn.cancelled():
                    self._release()
                raise
        try:
            return await self.backend.complete(request)
        finally:
            self._release()

    def _release(self) -> None:
        """Hand a slot to the next who still waits for one."""
        while self._waiting:
            turn = heapq.heappop(self._waiting)[-1]
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1
