"""Company: what the runs of one process have in common.

A run by itself has nothing to share. Several at a time share loop, slots and connections to a
model that they all ask, and take turns where libraries know one thread only.
"""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING

from agents.commons import Commons
from scenarios.sections import write_part

if TYPE_CHECKING:
    from scenarios.schema import Scenario


class Company:
    """The runs of one process.

    Args:
        shared: they share slots; False: each run has its own, as if it were alone.

    Attributes:
        alone: held by whoever builds or writes: figures and thread pools know one thread only.
    """

    def __init__(self, *, shared: bool = False) -> None:
        self.alone = threading.RLock()
        self._shared = shared
        self._commons: dict[str, Commons] = {}

    def commons_of(self, scenario: Scenario) -> Commons | None:
        """What this run shares with those that ask the same model in the same way.

        None where nothing is shared, nothing is waited for, or who speaks depends on the seed.
        """
        speaking, speaker = scenario.backend, scenario.speaker
        if not self._shared or speaker.inline or speaker is not speaking.backend:
            return None
        told = {"kind": str(type(speaker)), "in_flight": speaking.in_flight}
        told |= {"speaker": write_part(speaker), "retry": write_part(speaking.retry)}
        key = json.dumps(told, sort_keys=True, default=str)
        with self.alone:
            if key not in self._commons:
                patience = speaking.retry.patience
                self._commons[key] = Commons(speaker, speaking.in_flight, patience)
            return self._commons[key]

    def close(self) -> None:
        """Give back the connections; every run has ended by then."""
        for commons in self._commons.values():
            commons.close()
        self._commons.clear()
