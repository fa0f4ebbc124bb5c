"""The LSA, which knows the words of a field, and a model side by side in one embedding.

A row holds both rows, each divided by the spread of its cosines between random papers, so that
neither outweighs the other by its scale, and weighted. The cosine of two rows is then the weighted
mean of both scaled cosines.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from virsci_society.agents.arrays import VectorArray
from virsci_society.agents.errors import InputError
from virsci_society.agents.files.atomic_files import make_folder
from virsci_society.society.literature.embedding.base import Embedding, Progress, unit_rows

KIND = "lsa+"
"""What the name begins with, before that of the model."""
LSA_WEIGHT = 0.3
"""Weight of the LSA's cosines; those of the model have the rest."""
PAPERS = 1_000
"""Past papers between which the spread of cosines is taken, at most."""


class SideBySide(Embedding):
    """The rows of an LSA and of a model, side by side and at unit length.

    Args:
        spreads: standard deviations of the cosines of random pairs, in the LSA and in the model.
    """

    name, revision, title = "", "", ""

    def __init__(self, lsa: Embedding, model: Embedding, spreads: Sequence[float]) -> None:
        self.lsa, self.model, self.spreads = lsa, model, tuple(spreads)
        # A corpus whose cosines do not vary says nothing of the scale.
        scales = (spread or 1.0 for spread in self.spreads)
        weights = (LSA_WEIGHT, 1.0 - LSA_WEIGHT)
        self._factors = [(w / s) ** 0.5 for w, s in zip(weights, scales, strict=True)]
        self.name = f"{KIND}{model.name}"
        facts = (lsa.revision, model.revision, self.spreads, LSA_WEIGHT)
        self.revision = hashlib.sha256(repr(facts).encode()).hexdigest()[:16]
        self.title = f"{lsa.title} + {model.title}"

    @classmethod
    def fit(cls, lsa: Embedding, model: Embedding, texts: Sequence[str]) -> SideBySide:
        """Take the spreads of cosines between evenly drawn past papers."""
        some = texts[:: max(1, -(-len(texts) // PAPERS))]
        return cls(lsa, model, [_spread(one.encode(some)) for one in (lsa, model)])

    @classmethod
    def from_parts(
        cls, folder: Path, lsa: Embedding, model: Embedding, settings: dict[str, Any]
    ) -> SideBySide:
        """Rebuild from what ``save`` wrote and the two embeddings that lie beside it."""
        try:
            made = cls(lsa, model, [float(one) for one in settings["spreads"]])
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"{folder}: not a saved embedding ({error!r}); build again") from error
        if made.revision != settings.get("revision"):
            raise InputError(f"{folder}: its parts are of other revisions; build again")
        return made

    @property
    def dim(self) -> int:
        """The lengths of both rows together."""
        return self.lsa.dim + self.model.dim

    @property
    def label(self) -> str:
        """Both, and the weight of the LSA."""
        return f"{self.lsa.label} (weight {LSA_WEIGHT}), beside {self.model.label}"

    @property
    def notes(self) -> tuple[str, ...]:
        """Those of both."""
        return (*self.lsa.notes, *self.model.notes)

    def encode(self, texts: Sequence[str], progress: Progress | None = None) -> VectorArray:
        """Encode texts, one unit row each (texts x dim), rounded to 1e-5."""
        parts = self.lsa.encode(texts), self.model.encode(texts, progress)
        scaled = [rows * factor for rows, factor in zip(parts, self._factors, strict=True)]
        return unit_rows(np.concatenate(scaled, axis=1))

    def save(self, folder: Path) -> None:
        """Write both embeddings into folders of their own, and how they are joined."""
        for part in ("lsa", "model"):
            make_folder(folder / part)
            getattr(self, part).save(folder / part)
        self.write_settings(folder, KIND, {"spreads": self.spreads})


def _spread(rows: VectorArray) -> float:
    """Standard deviation of the cosines of all pairs of rows, to six decimals."""
    exact = rows.astype(np.float64)
    # In the order of the rows, one by one: the sums of a matrix product depend on the machine.
    cosines = [(exact[at + 1 :] * row).sum(axis=1) for at, row in enumerate(exact)]
    found = np.concatenate(cosines) if cosines else np.zeros(0)
    return round(float(found.std()), 6) if len(found) else 0.0
