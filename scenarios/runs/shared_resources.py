"""Resources that the runs of one process share: ecosystem, slots, connections, and a lock."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from virsci_society.agents.gateway.slots import SharedEndpoint

if TYPE_CHECKING:
    from virsci_society.scenarios.config.schema import Scenario
    from virsci_society.society.ecosystem.ecosystem import Ecosystem


class SharedResources:
    """The shared resources of one process; without ``shared`` each run has its own slots."""

    def __init__(self, *, shared: bool = False) -> None:
        self.build_lock = threading.RLock()
        self._shared = shared
        self._endpoints: dict[str, SharedEndpoint] = {}
        self._last: tuple[str, Ecosystem] | None = None

    def ecosystem_of(self, scenario: Scenario) -> Ecosystem:
        """The ecosystem of a scenario, read or made only where the run before had another."""
        # Runs at a time have one each: what it computes when first asked is not made for threads.
        from virsci_society.scenarios.runs.build import build_ecosystem_of, require_team

        source: Any = scenario.population.ecosystem
        if self._shared:
            return build_ecosystem_of(scenario)
        key = repr(
            (type(source), source, None if getattr(source, "seedless", False) else scenario.seed)
        )
        if self._last is None or self._last[0] != key:
            self._last = None  # two at a time may be too many for the memory
            self._last = key, build_ecosystem_of(scenario)
        require_team(scenario, self._last[1])
        return self._last[1]

    def endpoint_of(self, scenario: Scenario) -> SharedEndpoint | None:
        """The endpoint that this run shares with those that ask the same model in the same way."""
        speaking, speaker = scenario.backend, scenario.seeded_backend
        if not self._shared or speaker.inline or speaker is not speaking.backend:
            return None
        # The window is no key of a scenario: it was sized to the longest prompt.
        window = getattr(speaker, "window", None)
        key = repr((type(speaker), speaker, window, speaking.in_flight, speaking.retry))
        with self.build_lock:
            if key not in self._endpoints:
                patience = speaking.retry.patience
                self._endpoints[key] = SharedEndpoint(speaker, speaking.in_flight, patience)
            return self._endpoints[key]

    def close(self) -> None:
        """Close the connections; every run has ended by then."""
        for endpoint in self._endpoints.values():
            endpoint.close()
        self._endpoints.clear()
        self._last = None
