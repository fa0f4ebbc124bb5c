"""Endpoints of a model, simulated in invented time behind the real pool and the real waits.

Nothing is sent: an attempt waits as long as its endpoint takes and ends as the endpoint's state at
that moment says. What is real is which endpoint gets which attempt, and when it is made again.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from dataclasses import dataclass, field

from tests.invented_time import now
from virsci_society.agents.errors import Fault
from virsci_society.agents.gateway.backend import Endpoint
from virsci_society.agents.gateway.endpoint_pool import EndpointPool
from virsci_society.agents.gateway.retry import Retry


@dataclass(frozen=True)
class Server:
    """How one endpoint behaves.

    Attributes:
        seconds: mean time of an answer; each takes from half to one and a half of it.
        down: from when to when it refuses connections, in seconds after the beginning.
        failing: share of attempts that end with an error of the server, half-way.
        most: attempts that it bears at a time; others are asked to come again. None: all.
    """

    seconds: float = 1.0
    down: tuple[float, float] = (0.0, 0.0)
    failing: float = 0.0
    most: int | None = None


@dataclass
class Played:
    """What came of it.

    Attributes:
        seconds: invented time from the first request to the last answer.
        answers: how often each request was answered.
        served: answers of each endpoint.
        faults: kinds of faults of each endpoint.
        held: most attempts at a time of each endpoint.
    """

    seconds: float = 0.0
    answers: Counter[int] = field(default_factory=Counter)
    served: Counter[int] = field(default_factory=Counter)
    faults: dict[int, Counter[str]] = field(default_factory=dict)
    held: Counter[int] = field(default_factory=Counter)

    @property
    def attempts(self) -> int:
        """All attempts that were made."""
        return self.served.total() + sum(kinds.total() for kinds in self.faults.values())


def capacity(servers: tuple[Server, ...], slots: int) -> float:
    """Most answers a second of those servers that do not fail, with so many slots each."""
    whole = (one for one in servers if one.down == (0.0, 0.0) and not one.failing)
    return sum(min(slots, one.most or slots) / one.seconds for one in whole)


async def serve(servers: tuple[Server, ...], slots: int, requests: int) -> Played:
    """Answer so many requests, all of which are asked for at once.

    Args:
        servers: one for each endpoint, by its number.
        slots: most attempts at a time of each endpoint, as the user would set them.
        requests: number of requests; their numbers are their due dates.
    """
    endpoints = tuple(Endpoint(str(number), None, 1.0, slots) for number in range(len(servers)))
    pool = EndpointPool(endpoints, slots * len(servers), clock=asyncio.get_running_loop().time)
    played, busy, retry, start = Played(), Counter[int](), Retry(), now()
    played.faults = {number: Counter() for number in range(len(servers))}

    async def attempt(number: int, rng: random.Random) -> Fault | None:
        """One attempt at an endpoint, and the fault by which it ended."""
        server = servers[number]
        if server.down[0] <= now() - start < server.down[1]:
            await asyncio.sleep(0.01)
            return Fault("refused", "connection")
        if server.most is not None and busy[number] > server.most:
            await asyncio.sleep(0.01)
            return Fault("too many", "rate", retry_after=server.seconds)
        seconds = server.seconds * (0.5 + rng.random())
        failing = rng.random() < server.failing
        await asyncio.sleep(seconds / 2 if failing else seconds)
        return Fault("overloaded", "server") if failing else None

    async def request(due: int) -> None:
        rng, failed = random.Random(due), 0
        while True:
            slot = await pool.acquire(float(due), f"call {due}", 0)
            number = int(slot.endpoint.name)
            busy[number] += 1
            played.held[number] = max(played.held[number], busy[number])
            fault = await attempt(number, rng)
            busy[number] -= 1
            if fault is None:
                slot.record_success()
                slot.release()
                break
            played.faults[number][fault.kind] += 1
            failed += 1
            slot.record_failure(fault)
            slot.release()
            await asyncio.sleep(retry.delay(f"call {due}", failed, fault.retry_after))
        played.served[number] += 1
        played.answers[due] += 1

    await asyncio.gather(*(request(due) for due in range(requests)))
    played.seconds = now() - start
    return played
