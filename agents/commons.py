"""Commons: one loop, one set of slots and one client for the gateways of several runs.

Runs that share a model share what the model can bear: whoever waits for a slot waits in one
queue, in the order of simulated dates, so that a slot is free only if nobody needs it and the run
that lies back goes first. Everything else (journal, budget, ledger) stays each run's own, so call
ids, which are the same in all of them, never meet.
"""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Coroutine
from functools import cached_property
from typing import Any

from agents.backend import Backend
from agents.errors import Stopped
from agents.lanes import Lanes

SWITCH_SECONDS = 0.0005
"""How soon clocks and loop let go of the interpreter for one another."""
PATIENCE = 10.0
"""Seconds for which a run that ends waits for the loop to wind up its calls."""


class Commons:
    """What several gateways have in common; their dispatchers work on its loop.

    Args:
        backend: whose endpoints are asked; those of the gateways are equal to it.
        in_flight: most attempts at a time, of all of them together.
        patience: as ``Lanes`` has it.
    """

    def __init__(self, backend: Backend, in_flight: int, patience: float) -> None:
        self.backend, self.in_flight, self._patience = backend, in_flight, patience
        self._interval = sys.getswitchinterval()
        sys.setswitchinterval(SWITCH_SECONDS)
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, name="answers", daemon=True)
        self._thread.start()

    @cached_property
    def lanes(self) -> Lanes:
        """The slots; asked for on the loop only."""
        return Lanes(self.backend.endpoints(), self.in_flight, patience=self._patience)

    def do(self, work: Coroutine[Any, Any, None]) -> None:
        """Do work on the loop and wait for its end; on the loop's own thread, only begin it."""
        if self.loop.is_closed():
            work.close()
            return
        doing = asyncio.run_coroutine_threadsafe(work, self.loop)
        if threading.current_thread() is not self._thread:
            doing.result(timeout=PATIENCE)

    def close(self) -> None:
        """End the loop; every run has ended by then."""
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(timeout=PATIENCE)
        sys.setswitchinterval(self._interval)

    def _serve(self) -> None:
        loop = self.loop
        asyncio.set_event_loop(loop)
        loop.run_forever()
        if "lanes" in self.__dict__:
            self.lanes.close(Stopped("the study has ended"))
        loop.run_until_complete(self.backend.close())
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()
