"""How full the slots of this process are while requests wait for them.

At the end of a run too few teams are left to fill all slots, whatever serves them. So what a slot
loses between two calls is measured in the time in which at least one request waits.
"""

from __future__ import annotations

import time
from collections.abc import Mapping

from virsci_society.agents.gateway.slots import Slot, SlotPool


class SlotUse:
    """Counts, inside a ``with`` block, the calls that end while another request waits.

    Attributes:
        first: second of the first request for a slot.
        last: second of the last release.
        waited: seconds in which a request waits.
        ended: ids of the calls that end in them.
    """

    def __init__(self) -> None:
        self.first = self.last = self.waited = 0.0
        self.ended: list[str] = []
        self._calls: dict[Slot, str] = {}
        self._seen, self._waits = 0.0, False
        self._acquire, self._release = SlotPool.acquire, Slot.release

    def slots_over_calls(self, seconds: Mapping[str, float], slots: int) -> float:
        """Slots over calls in flight while requests wait, given the seconds of each call by id."""
        return slots * self.waited / sum(seconds[id] for id in self.ended)

    def __enter__(self) -> SlotUse:
        use = self

        async def acquire(self: SlotPool, due: float, id: str, attempt: int) -> Slot:
            use.first = use.first or time.perf_counter()
            slot = await use._acquire(self, due, id, attempt)
            use._look(self)
            use._calls[slot] = id
            return slot

        def release(self: Slot) -> None:
            call = use._calls.pop(self, None)
            if call is not None and use._waits:
                use.ended.append(call)
            use._release(self)
            use._look(self.pool)
            use.last = use._seen

        SlotPool.acquire, Slot.release = acquire, release  # type: ignore[method-assign]
        return self

    def __exit__(self, *_: object) -> None:
        SlotPool.acquire, Slot.release = self._acquire, self._release  # type: ignore[method-assign]

    def _look(self, pool: SlotPool) -> None:
        now = time.perf_counter()
        self.waited += (now - self._seen) * self._waits
        self._seen, self._waits = now, pool.waiting > 0
