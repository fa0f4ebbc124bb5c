"""Mixture: vectors of invented papers, drawn from their terms instead of their text.

To embed two million abstracts takes longer than to write them. A vector is the sum of what
each of its paper's terms adds, measured on a sample that is embedded, and noise that leads as
far away from the sum as the sample lies: so it stands in one space with embedded texts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from society.literature.embedding import DECIMALS, Vectors

DRAWN = (
    "vectors of papers are drawn from their topics (field, themes, method) in the space of the "
    "LSA; they are not embeddings of their texts"
)
"""The note of an ecosystem whose vectors were made so."""

Terms = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Mixture:
    """Directions of terms, and how far papers lie from the sum of theirs.

    Attributes:
        directions: a row per term; zero for a term that the sample does not have.
        noise: length of what the terms do not explain, beside a sum of length 1.
    """

    directions: npt.NDArray[np.float64]
    noise: float

    @classmethod
    def of(cls, terms: Terms, vectors: Vectors, count: int) -> Mixture:
        """Measured on papers of known terms and vectors.

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
        directions: npt.NDArray[np.float64] = np.asarray(fitted, dtype=np.float64)
        cosine = float((vectors * _unit(directions[terms].sum(axis=1))).sum(axis=1).mean())
        # The tangent of the mean angle, so that what is drawn lies as far off as the sample.
        return cls(directions, float(np.sqrt(1 / max(cosine, 0.1) ** 2 - 1)))

    def draw(self, terms: Terms, rng: np.random.Generator) -> Vectors:
        """A unit vector for each row of terms, rounded as embedded ones are."""
        dim = self.directions.shape[1]
        spread = rng.standard_normal((len(terms), dim), dtype=np.float32)
        spread *= self.noise / np.sqrt(dim)
        rows = _unit(_unit(self.directions[terms].sum(axis=1)) + spread)
        return np.round(rows, DECIMALS).astype(np.float32)


def _unit(rows: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    unit: npt.NDArray[np.float64] = rows / np.where(lengths > 0, lengths, 1)
    return unit
