"""Retry: when a failed attempt is made again, and when that has been tried often enough.

It computes waits and does not wait itself. Chance comes from a hash of the call's id, so the
same faults are met with the same waits; nothing that happens in the simulated world depends on
them.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime

from pydantic import Field

from agents.part import Part

_DOUBLINGS = 60
_SECONDS = re.compile(r"(-?)([0-9]{1,15}(?:\.[0-9]{0,15})?)")
_LONGEST_HEADER = 100


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

    def wait(self, id: str, number: int, after: float | None) -> float:
        """Seconds to wait before another attempt.

        Args:
            id: of the call.
            number: attempts made so far (>= 1).
            after: seconds after which the provider asks to be called again, if it said so.
        """
        spread, late = _draws(id, number)
        planned: float = min(self.longest, self.first * 2.0 ** min(number - 1, _DOUBLINGS))
        seconds = planned * (0.5 + spread)
        if after is not None:
            seconds = max(seconds, after * (1 + late / 10))
        return min(seconds, self.patience)


def parse_retry_after(value: str | None, now: float) -> float | None:
    """Seconds that a ``Retry-After`` header asks for (>= 0), or None if it cannot be read.

    Args:
        value: a number of seconds or an HTTP date; what lies in the past is 0.
        now: seconds since 1970.
    """
    text = (value or "").strip()
    if not text or len(text) > _LONGEST_HEADER:
        return None
    if number := _SECONDS.fullmatch(text):
        return 0.0 if number[1] else float(number[2])
    try:
        date = parsedate_to_datetime(text)
        return max(0.0, (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp() - now)
    except (ValueError, TypeError, OverflowError, IndexError):
        return None


def retry_after_of(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds that the headers of an answer ask to wait (>= 0), or None if they say nothing.

    ``retry-after-ms`` comes before ``retry-after``; upper and lower case are one.
    """
    found = {str(name).lower(): str(value) for name, value in headers.items()}
    number = _SECONDS.fullmatch(found.get("retry-after-ms", "").strip())
    if number:
        return 0.0 if number[1] else float(number[2]) / 1000
    return parse_retry_after(found.get("retry-after"), now)


def _draws(id: str, number: int) -> tuple[float, float]:
    """Two numbers in [0, 1), always the same for the same attempt."""
    digest = hashlib.sha256(f"{id}\0{number}".encode("utf-8", "surrogatepass")).digest()
    first, second = (int.from_bytes(digest[at : at + 8]) >> 11 for at in (0, 8))
    return first / 2**53, second / 2**53
