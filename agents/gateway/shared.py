"""Endpoint pool, event loop and connections that the gateways of several runs share.

Runs that share a model share its limits: all requests that wait for a slot wait in one queue,
in the order of simulated dates, so the run that lies back goes first and no slot is free while
any run needs one. Journal, budget and ledger stay each run's own; call ids, which are the same
in all of them, never meet.
"""

from __future__ import annotations

from collections.abc import Coroutine
from functools import cached_property
from typing import Any

from virsci_society.agents.errors import Stopped
from virsci_society.agents.gateway.backend import Backend
from virsci_society.agents.gateway.endpoint_pool import EndpointPool
from virsci_society.agents.loop_thread import LoopThread

SWITCH_SECONDS = 0.0005
"""Interpreter switch interval while clocks and loop share the interpreter, in seconds."""
PATIENCE = 10.0
"""Seconds for which a run that ends waits for the loop to wind up its calls."""


class SharedEndpoints:
    """One endpoint pool and one loop thread for several gateways.

    The dispatchers of those gateways work on its loop.

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
