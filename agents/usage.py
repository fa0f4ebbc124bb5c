"""Sums of tokens, calls and money.

Money is summed in whole billionths of a US dollar (nano-dollars): sums of integers are exact and
do not depend on the order in which calls end.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

NANO = 1_000_000_000
"""Nano-dollars in one US dollar."""
_TOLERANCE = 1e-3
"""Largest error of a price in nano-dollars that counts as floating-point noise."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call.

    Attributes:
        prompt_tokens: tokens of the prompt (>= 0).
        completion_tokens: tokens of the reply (>= 0).
        estimated: True where the provider did not count them.

    Example:
        >>> usage = vs.Usage(prompt_tokens=1200, completion_tokens=80, estimated=False)
        >>> usage.prompt_tokens + usage.completion_tokens
        1280
    """

    prompt_tokens: int = 0
    completion_tokens: int = 0
    estimated: bool = True


def estimate_tokens(characters: int) -> int:
    """Tokens of a text of so many characters: one per four, for words that nobody has counted."""
    return (characters + 3) // 4


class Spending(NamedTuple):
    """Answered calls, their tokens and their price; also a bound on them, or a reservation.

    Attributes:
        calls: calls that were answered.
        tokens: tokens of prompts and replies together.
        nano: price in nano-dollars.
    """

    calls: int = 0
    tokens: int = 0
    nano: int = 0

    def plus(self, other: Spending) -> Spending:
        """The sum of both, field by field."""
        return Spending(
            self.calls + other.calls, self.tokens + other.tokens, self.nano + other.nano
        )

    def minus(self, other: Spending) -> Spending:
        """The difference of both, field by field."""
        return Spending(
            self.calls - other.calls, self.tokens - other.tokens, self.nano - other.nano
        )


def nano_dollars(usd: float) -> int:
    """A price in nano-dollars, rounded up but for floating-point noise; never below 0."""
    return max(0, math.ceil(usd * NANO - _TOLERANCE))


def nano_bound(usd: float) -> int:
    """A bound on prices in nano-dollars, rounded down but for floating-point noise."""
    return math.floor(usd * NANO + _TOLERANCE)
