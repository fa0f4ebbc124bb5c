"""Removal of ideas that say almost the same as an earlier one.

Source: Si et al. 2024, section 3.2: sentence embeddings, cosine similarity above 0.8.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from virsci_society.agents.arrays import VectorArray


def distinct_places(vectors: Sequence[VectorArray], threshold: float) -> list[int]:
    """The places of texts whose cosine with every earlier kept text is below a threshold.

    Args:
        vectors: one per text, of shape (1, dim) or (dim,); a text without known words has the zero
            vector, which is like no other.
        threshold: cosine, 0 to 1, from which two texts count as the same.

    Returns:
        Places in order; the first is always among them.
    """
    kept: list[int] = []
    units = [_unit(np.asarray(vector, dtype=np.float64).ravel()) for vector in vectors]
    for place, unit in enumerate(units):
        # Rounded, so that the last digits of a sum on another machine decide nothing.
        if all(round(float(unit @ units[other]), 9) < threshold for other in kept):
            kept.append(place)
    return kept


def _unit(vector: np.ndarray) -> np.ndarray:
    length = float(np.sqrt(vector @ vector))
    return vector / length if length else vector
