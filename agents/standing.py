"""Standing: how one endpoint is doing, and so how many calls it gets.

It counts faults and successes; it knows neither the clock nor those who wait.
"""

from __future__ import annotations

import math

from agents.backend import Endpoint

AILING = 5
"""Faults in a row after which an endpoint gets no calls for a while."""
CUT = 0.7
"""What is left of an endpoint's limit after a rate fault."""
LONGEST_PAUSE = 60.0
"""Seconds at which the pauses of an ailing endpoint, each twice the last, stop growing."""


class Standing:
    """What is known of one endpoint.

    Attributes:
        endpoint: where it leads.
        share: places that are its own, by weight, as long as all endpoints take calls.
        limit: most attempts at a time now; a fraction counts once it has become a whole.
        busy: attempts under way.
        served: attempts begun so far.
        cuts: how often the limit was cut.
        shut: until when nobody is sent there, by the clock; 0 if it is open.
        probing: it ailed: calls go there one at a time until one succeeds.
        probe: whoever holds that one place.
    """

    def __init__(self, endpoint: Endpoint, in_flight: int, share: float) -> None:
        self.endpoint, self.share = endpoint, share
        self._most = self.limit = float(min(endpoint.in_flight or in_flight, in_flight))
        self.busy = self.served = self.cuts = 0
        self.shut, self.probing = 0.0, False
        self.probe: object | None = None
        self._in_a_row, self._pause = 0, 1.0

    @property
    def room(self) -> bool:
        """May another attempt begin here, as far as numbers go?"""
        return self.busy + 1 <= self.limit and not (self.probing and self.probe is not None)

    @property
    def turn(self) -> tuple[bool, float]:
        """The smaller, the sooner it gets a call.

        Below its share of places, it is calls that follow the weights, also where places are
        few; above it, it is places, so that a slow endpoint gets fewer calls.
        """
        full = self.busy >= self.share
        return full, (self.busy if full else self.served) / self.endpoint.weight

    def thrive(self) -> None:
        """An attempt has succeeded."""
        self.limit = min(self._most, self.limit + 1 / self.limit)
        self._in_a_row, self._pause, self.probing = 0, 1.0, False

    def slow_down(self, cuts: int, until: float) -> None:
        """An attempt, begun after so many cuts, met a limit of the provider's."""
        if cuts == self.cuts:
            self.limit = max(1.0, float(math.floor(self.limit * CUT)))
            self.cuts += 1
        self.shut = max(self.shut, until)

    def ail(self, holder: object, now: float, patience: float) -> None:
        """An attempt has failed through the endpoint."""
        if self.probing and self.probe is not holder:
            return  # It was begun before the pause and says nothing new.
        self._in_a_row += 1
        if self.probing or self._in_a_row >= AILING:
            self.shut, self.probing = max(self.shut, now + min(self._pause, patience)), True
            self._pause = min(2 * self._pause, LONGEST_PAUSE)

    def answer(self) -> None:
        """An attempt has failed, but the endpoint is there."""
        self._in_a_row = 0
