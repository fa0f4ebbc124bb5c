"""Waits a second in SimPy and in Mesa 4, whose alpha has events and timed actions of its own.

10,000 parties wait twenty times each, one simulated day at a time: as processes of SimPy, as
events of a Mesa model, and as actions of Mesa agents. It needs Mesa 4, which wants Python 3.12, and
nothing of this project, so it runs in an environment of its own:

    pip install --pre mesa==4.0.0a0 networkx simpy
    python benchmarks/mesa_waits.py
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import mesa
import simpy
from mesa.experimental.actions import Action

PARTIES, WAITS = 10_000, 20


def simpy_waits() -> None:
    """Processes that wait."""
    env = simpy.Environment()

    def party() -> Iterator[Any]:
        for _ in range(WAITS):
            yield env.timeout(1.0)

    for _ in range(PARTIES):
        env.process(party())
    env.run()


class Wait(Action):
    """An action after which its agent waits again."""

    def on_complete(self) -> None:
        """Begin the next wait."""
        self.agent.wait_by_action()


class Party(mesa.Agent):
    """An agent that begins its next wait when one has ended."""

    left = WAITS

    def wait_by_event(self) -> None:
        """Schedule the end of a wait."""
        if self.left:
            self.left -= 1
            self.model.schedule_event(self.wait_by_event, after=1.0)

    def wait_by_action(self) -> None:
        """Begin an action that lasts as long."""
        if self.left:
            self.left -= 1
            self.start_action(Wait(self, 1.0))


def mesa_waits(begin: Callable[[Party], None]) -> None:
    """Agents of a Mesa model that wait."""
    model = mesa.Model()
    for _ in range(PARTIES):
        begin(Party(model))
    model.run_until(WAITS + 1.0)


def main() -> None:
    """Print the waits a second of each, and what they are of SimPy's."""
    ways = {
        "SimPy processes": simpy_waits,
        "Mesa events": lambda: mesa_waits(Party.wait_by_event),
        "Mesa actions": lambda: mesa_waits(Party.wait_by_action),
    }
    first = 0.0
    for name, way in ways.items():
        began = time.perf_counter()
        way()
        rate = PARTIES * WAITS / (time.perf_counter() - began)
        first = first or rate
        print(f"{name}: {rate:,.0f} waits a second, {rate / first:.2f} of SimPy's")


if __name__ == "__main__":
    main()
