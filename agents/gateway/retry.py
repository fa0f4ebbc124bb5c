"""Exponential backoff with jitter for attempts that have failed.

It computes waits and does not wait itself. The jitter comes from a hash of the call's id, so the
same faults get the same waits, and nothing in the simulated world depends on them. Written by
hand because retry libraries draw their jitter from a global generator.
"""

from __future__ import annotations

import hashlib

from pydantic import Field

from virsci_society.agents.config import Part

_DOUBLINGS = 60


class Retry(Part):
    """How often and after which waits an attempt at a call is made again."""

    attempts: int = Field(default=8, ge=1, le=1000)
    """Most attempts at one call, of those that fail through the endpoint or its answer; being
    asked to wait (rate limits) does not count."""
    first: float = Field(default=0.5, gt=0, le=3600, allow_inf_nan=False)
    """Seconds before the second attempt; every further wait is twice as long."""
    longest: float = Field(default=30.0, gt=0, le=86_400, allow_inf_nan=False)
    """Seconds at which waits stop growing; each is drawn from half to one and a half of it."""
    patience: float = Field(default=600.0, ge=0, le=604_800, allow_inf_nan=False)
    """Seconds without success at any endpoint, rate limits included, after which the run stops;
    no single wait is longer."""

    def delay(self, id: str, number: int, after: float | None) -> float:
        """Seconds to wait before another attempt.

        Args:
            id: call id, from which the jitter is drawn.
            number: attempts made so far (>= 1).
            after: seconds after which the provider asks to be called again; None if it named none.

        Returns:
            The wait in seconds, from 0 to ``patience``.
        """
        spread, late = _uniform_draws(id, number)
        # The exponent has a bound, because rate limits do not count as attempts and a large power
        # of 2.0 overflows.
        planned: float = min(self.longest, self.first * 2.0 ** min(number - 1, _DOUBLINGS))
        seconds = planned * (0.5 + spread)
        if after is not None:
            # Never sooner than the provider says, and a little apart, so that not all calls come
            # back at once.
            seconds = max(seconds, after * (1 + late / 10))
        return min(seconds, self.patience)


def _uniform_draws(id: str, number: int) -> tuple[float, float]:
    """Two numbers in [0, 1), always the same for the same attempt."""
    digest = hashlib.sha256(f"{id}\0{number}".encode("utf-8", "surrogatepass")).digest()
    # 53 bits, which a float holds exactly; 64 could round up to 1.
    first, second = (int.from_bytes(digest[at : at + 8]) >> 11 for at in (0, 8))
    return first / 2**53, second / 2**53
