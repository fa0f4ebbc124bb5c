"""Resources that the runs of one process share: slots, connections, and a lock for the libraries.

A run by itself has nothing to share. Several at a time share the slots and connections to a model
that they all ask, and take turns where libraries are not safe on several threads.
"""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING

from agents.gateway.shared import SharedEndpoints
from scenarios.config.reader import write_part

if TYPE_CHECKING:
    from scenarios.config.schema import Scenario


class SharedResources:
    """The shared resources of one process.

    Args:
        shared: runs share slots; False: each run has its own, as if it were alone.

    Attributes:
        build_lock: held while a run is built or written: matplotlib and thread pools are not safe
            on several threads.
    """

    def __init__(self, *, shared: bool = False) -> None:
        self.build_lock = threading.RLock()
        self._shared = shared
        self._endpoints: dict[str, SharedEndpoints] = {}

    def endpoints_of(self, scenario: Scenario) -> SharedEndpoints | None:
        """The endpoints that this run shares with those that ask the same model in the same way.

        None where nothing is shared, no call is waited for, or the backend depends on the seed.
        """
        speaking, speaker = scenario.backend, scenario.seeded_backend
        if not self._shared or speaker.inline or speaker is not speaking.backend:
            return None
        settings = {"kind": str(type(speaker)), "in_flight": speaking.in_flight}
        settings |= {"speaker": write_part(speaker), "retry": write_part(speaking.retry)}
        # No key of a scenario: a window that was sized to its pages.
        settings |= {"window": getattr(speaker, "window", None)}
        key = json.dumps(settings, sort_keys=True, default=str)
        with self.build_lock:
            if key not in self._endpoints:
                patience = speaking.retry.patience
                self._endpoints[key] = SharedEndpoints(speaker, speaking.in_flight, patience)
            return self._endpoints[key]

    def close(self) -> None:
        """Close the connections; every run has ended by then."""
        for endpoints in self._endpoints.values():
            endpoints.close()
        self._endpoints.clear()
