"""Maximal marginal relevance (MMR): a choice of items that are relevant and unlike each other.

Of papers that are all near to a question, several often say the same. MMR chooses one after
another and takes off from the relevance of each what it has in common with those chosen before.

Source: Carbonell and Goldstein 1998.
"""

from __future__ import annotations

import numpy as np

from virsci_society.agents.arrays import FloatArray, VectorArray

DECIMALS = 9
"""Decimals to which scores are rounded: sums that differ only in their last bits are ties."""


def maximal_marginal_relevance(
    relevance: FloatArray, vectors: VectorArray, count: int, diversity: float
) -> list[int]:
    """Choose items by maximal marginal relevance.

    The next item is the one, of those not chosen yet, with the greatest

        (1 - diversity) * relevance(i) - diversity * max over chosen j of cosine(i, j)

    where the maximum over no item is 0. ``1 - diversity`` is the lambda of the source.

    Args:
        relevance: of each item, usually 0..1.
        vectors: one row per item (items x dim), of unit length; a zero row is like no other.
        count: most items to choose.
        diversity: from 0 (by relevance alone) to 1 (the first item, then the most different).

    Returns:
        Places of the chosen items, in the order of choice; of equal ones the first is chosen.
    """
    rows = vectors.astype(np.float64)
    gain = (1.0 - diversity) * relevance
    likeness = np.zeros(len(rows))
    left = np.ones(len(rows), dtype=bool)
    chosen: list[int] = []
    while left.any() and len(chosen) < count:
        scores = np.where(left, np.round(gain - diversity * likeness, DECIMALS), -np.inf)
        # ``argmax`` takes the first of equal scores.
        best = int(np.argmax(scores))
        # Products are summed row by row, because the sums of a matrix product depend on its size.
        common = (rows * rows[best]).sum(axis=1)
        likeness = np.maximum(likeness, common) if chosen else common
        left[best] = False
        chosen.append(best)
    return chosen
