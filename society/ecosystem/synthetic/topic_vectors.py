"""Vectors of invented papers, drawn from their terms instead of their text.

To embed two million abstracts takes longer than to write them. A vector is the sum of the
directions of its paper's terms, measured on a sample that is embedded, and noise whose angle is
that of the sample: so it lies in one space with embedded texts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from virsci_society.agents.arrays import FloatArray, IntArray, VectorArray
from virsci_society.society.literature.embedding.base import DECIMALS

DRAWN_VECTORS = (
    "vectors of papers are drawn from their topics (field, themes, method) in the space of the "
    "LSA; they are not embeddings of their texts"
)
"""The note of an ecosystem whose vectors were made so."""


@dataclass(frozen=True, eq=False)
class TopicVectors:
    """Directions of terms, and the distance of papers from the sum of theirs.

    Attributes:
        directions: a row per term; zero for a term that the sample does not have.
        noise: length of the noise, beside a sum of length 1.
    """

    directions: FloatArray
    noise: float

    @classmethod
    def of(cls, terms: IntArray, vectors: VectorArray, count: int) -> TopicVectors:
        """Measure directions and noise on papers of known terms and vectors.

        Args:
            terms: a row per paper, of numbers from 0 to ``count`` - 1.
            vectors: its unit vector.
            count: number of terms.
        """
        sums, together = np.zeros((count, vectors.shape[1])), np.zeros((count, count))
        for column in terms.T:
            np.add.at(sums, column, vectors.astype(np.float64))
            for other in terms.T:
                np.add.at(together, (column, other), 1)
        # Least squares: what each term adds beside the others.
        fitted = np.linalg.lstsq(together, sums, rcond=None)[0]
        directions: FloatArray = np.asarray(fitted, dtype=np.float64)
        cosine = float((vectors * _unit(directions[terms].sum(axis=1))).sum(axis=1).mean())
        # The tangent of the mean angle, so that what is drawn lies as far off as the sample.
        return cls(directions, float(np.sqrt(1 / max(cosine, 0.1) ** 2 - 1)))

    def draw(self, terms: IntArray, rng: np.random.Generator) -> VectorArray:
        """Draw a unit vector for each row of terms, rounded as embedded ones are."""
        dim = self.directions.shape[1]
        spread = rng.standard_normal((len(terms), dim), dtype=np.float32)
        spread *= self.noise / np.sqrt(dim)
        rows = _unit(_unit(self.directions[terms].sum(axis=1)) + spread)
        return np.round(rows, DECIMALS).astype(np.float32)


def _unit(rows: FloatArray) -> FloatArray:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    unit: FloatArray = rows / np.where(lengths > 0, lengths, 1)
    return unit
