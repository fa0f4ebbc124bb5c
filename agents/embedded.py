"""Embedded: rows of numbers as a provider has sent them, and what of its answer is believed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agents.classify import attribute
from agents.faults import Fault
from agents.request import Usage

BEYOND = 64
"""Tokens a text may count beside those of its characters."""


@dataclass(frozen=True, slots=True)
class Embedded:
    """The answer to one batch.

    Attributes:
        rows: one list of numbers per text, all of one length.
        usage: tokens that were read.
        cut: how many texts were longer than the model reads, and were cut.
        requests: HTTP requests that it took, failed ones included.
    """

    rows: list[list[float]]
    usage: Usage
    cut: int = 0
    requests: int = 1


def rows_of(answer: Any, count: int) -> list[list[float]]:
    """The rows in the order of the texts; raises Fault where they are not all there."""
    data = attribute(answer, "data")
    try:
        by_place = {int(attribute(one, "index")): attribute(one, "embedding") for one in data}
        rows = [[float(number) for number in by_place[place]] for place in range(count)]
    except (KeyError, TypeError, ValueError):
        raise Fault(f"the answer does not hold {count} rows of numbers", "garbled") from None
    if len(data) != count or not rows[0] or len({len(row) for row in rows}) > 1:
        raise Fault(f"the answer does not hold {count} rows of one length", "garbled")
    if not all(math.isfinite(number) for row in rows for number in row):
        raise Fault("the answer holds numbers that are not finite", "garbled")
    return rows


def usage_of(answer: Any, texts: Sequence[str]) -> Usage:
    """Tokens as counted by the provider, or four characters each where that is not believable."""
    characters = sum(map(len, texts))
    told = attribute(attribute(answer, "usage"), "prompt_tokens")
    most = 4 * characters + BEYOND * len(texts)
    if isinstance(told, int) and not isinstance(told, bool) and 0 < told <= most:
        return Usage(told, 0, estimated=False)
    return Usage(sum((len(text) + 3) // 4 for text in texts), 0)
