"""Functions that make, join and load embeddings by the names that a user gives."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from virsci_society.agents.arrays import VectorArray
from virsci_society.agents.errors import InputError
from virsci_society.agents.files.atomic_files import make_folder
from virsci_society.agents.files.json_files import read_json_object
from virsci_society.society.literature.embedding import hosted, sentence_transformer
from virsci_society.society.literature.embedding.base import (
    SETTINGS_FILE,
    Embedding,
    Progress,
    unit_rows,
)
from virsci_society.society.literature.embedding.lsa import DIMENSIONS, LSAEmbedding

SYNTAX = (
    "lsa, lsa:LENGTH, sentence-transformers:MODEL[@REVISION], litellm:PROVIDER/MODEL, or lsa+ "
    "before one of the last two for both side by side"
)
MOST_DIMENSIONS = 4096


SIDE_BY_SIDE = "lsa+"
"""Prefix of the name, before the name of the model."""
LSA_WEIGHT = 0.3
"""Weight of the LSA's cosines; the model's cosines have the rest."""
SPREAD_PAPERS = 1_000
"""Past papers between which the spread of cosines is taken, at most."""


class SideBySide(Embedding):
    """The rows of an LSA and of a model, side by side and at unit length.

    Each is divided by the spread of its cosines between past papers, so that neither outweighs the
    other by its scale: a cosine is the weighted mean of both scaled cosines.
    """

    name, revision, title = "", "", ""

    def __init__(self, lsa: Embedding, model: Embedding, spreads: Sequence[float]) -> None:
        self.lsa, self.model, self.spreads = lsa, model, tuple(spreads)
        # A corpus with constant cosines does not determine the scale.
        scales = (spread or 1.0 for spread in self.spreads)
        weights = (LSA_WEIGHT, 1.0 - LSA_WEIGHT)
        self._factors = [(w / s) ** 0.5 for w, s in zip(weights, scales, strict=True)]
        self.name = f"{SIDE_BY_SIDE}{model.name}"
        facts = (lsa.revision, model.revision, self.spreads, LSA_WEIGHT)
        self.revision = hashlib.sha256(repr(facts).encode()).hexdigest()[:16]
        self.title = f"{lsa.title} + {model.title}"

    @classmethod
    def fit(cls, lsa: Embedding, model: Embedding, texts: Sequence[str]) -> SideBySide:
        """Take the spreads of cosines between evenly drawn past papers."""
        some, spreads = texts[:: max(1, -(-len(texts) // SPREAD_PAPERS))], []
        for embedding in (lsa, model):
            exact = embedding.encode(some).astype(np.float64)
            # Row by row: the sums of a matrix product depend on the machine.
            cosines = [(exact[at + 1 :] * row).sum(axis=1) for at, row in enumerate(exact)]
            values = np.concatenate(cosines) if cosines else np.zeros(0)
            spreads.append(round(float(values.std()), 6) if len(values) else 0.0)
        return cls(lsa, model, spreads)

    @classmethod
    def from_parts(
        cls, folder: Path, lsa: Embedding, model: Embedding, settings: dict[str, Any]
    ) -> SideBySide:
        """Rebuild from the files of ``save`` and the two embeddings."""
        try:
            made = cls(lsa, model, [float(spread) for spread in settings["spreads"]])
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"{folder}: not a saved embedding ({error!r}); rebuild it") from error
        if made.revision != settings.get("revision"):
            raise InputError(f"{folder}: its parts do not match its settings; rebuild it")
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
        """Write both embeddings into separate folders, with their weights."""
        for part in ("lsa", "model"):
            make_folder(folder / part)
            getattr(self, part).save(folder / part)
        self.write_settings(folder, SIDE_BY_SIDE, {"spreads": self.spreads})


LOADERS: Mapping[str, Callable[[Path, dict[str, Any]], Embedding]] = {
    "lsa": LSAEmbedding.from_settings,
    sentence_transformer.KIND: sentence_transformer.SentenceTransformerEmbedding.from_settings,
    hosted.KIND: hosted.HostedEmbedding.from_settings,
}
"""What reads a saved embedding, by its kind."""


def parts_of(name: str) -> tuple[int | None, str | None]:
    """The length of the LSA and the name of the model of an embedding; None: without that part."""
    if name.startswith(SIDE_BY_SIDE):
        return DIMENSIONS, _model_name(name.removeprefix(SIDE_BY_SIDE))
    kind, _, length = name.partition(":")
    if kind != "lsa":
        return None, _model_name(name)
    length = length or str(DIMENSIONS)
    if not length.isdecimal() or not 1 <= int(length) <= MOST_DIMENSIONS:
        raise InputError(f"embedding {name}: expected a length, such as lsa:64")
    return int(length), None


def _model_name(name: str) -> str:
    kind, _, model = name.partition(":")
    if kind not in (sentence_transformer.KIND, hosted.KIND):
        raise InputError(f"embedding {name!r} is not known; known: {SYNTAX}")
    if not model:
        raise InputError(f"embedding {kind}: name a model: {kind}:MODEL")
    return name


def is_hosted(name: str) -> bool:
    """Whether an embedding asks a model behind HTTP, which may cost money."""
    return (parts_of(name)[1] or "").startswith(f"{hosted.KIND}:")


def make_embedding(
    name: str, *, texts: Sequence[str] = (), seed: int = 0, hosting: Mapping[str, Any] | None = None
) -> Embedding:
    """Make an embedding by its name, such as ``lsa`` or ``litellm:ollama/mxbai-embed-large``.

    No request is made and no model is loaded, but a model on the hub is downloaded first.

    Args:
        name: the kind, and its argument after a colon; ``lsa+`` before a model: both.
        texts: the past papers used to fit an LSA.
        seed: of the fit.
        hosting: settings of a hosted model: api_base, key, dimensions, batch, in_flight, ...

    Raises:
        InputError: the name is invalid, an extra is missing, or the model is unavailable.

    Example:
        >>> texts = ["networks of people", "cells and genes", "people cite papers of people"]
        >>> embedding = vs.make_embedding("lsa", texts=texts)
        >>> len(embedding.encode(["people and networks"]))
        1
    """
    model, length = make_model(name, hosting), parts_of(name)[0]
    if length is None and model is not None:
        return model
    lsa = LSAEmbedding.fit(texts, seed=seed, dim=length or DIMENSIONS)
    return lsa if model is None else SideBySide.fit(lsa, model, texts)


def make_model(name: str, hosting: Mapping[str, Any] | None = None) -> Embedding | None:
    """Make the model of an embedding, which needs no text to be fitted on; None of an LSA alone."""
    kind, _, named = (parts_of(name)[1] or "").partition(":")
    if kind == hosted.KIND:
        return hosted.HostedEmbedding.of({"model": named, **(hosting or {})})
    return sentence_transformer.SentenceTransformerEmbedding.from_name(named) if kind else None


def name_in_folder(name: str, model: Embedding | None) -> str:
    """The name of an embedding in the manifest of an ecosystem, by the one that was asked for."""
    if model is None:
        return LSAEmbedding.name
    return model.name if parts_of(name)[0] is None else f"{SIDE_BY_SIDE}{model.name}"


def load_embedding(folder: Path) -> Embedding:
    """Read the embedding of a folder; no model is loaded, no request made before the first text."""
    path = folder / SETTINGS_FILE
    try:
        settings = read_json_object(path)
    except FileNotFoundError as error:
        raise InputError(f"{path}: missing; build the ecosystem again") from error
    except InputError as error:
        raise InputError(f"{error}; build the ecosystem again") from error
    kind = settings.get("kind")
    if kind == SIDE_BY_SIDE:
        lsa, model = (load_embedding(folder / part) for part in ("lsa", "model"))
        return SideBySide.from_parts(folder, lsa, model, settings)
    load = LOADERS.get(str(kind))
    if load is None:
        names = ", ".join(map(repr, (*LOADERS, SIDE_BY_SIDE)))
        raise InputError(f"{path}: embedding kind {kind!r} is not known; known: {names}")
    return load(folder, settings)
