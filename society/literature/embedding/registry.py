"""Functions that make, join and load embeddings by the names that a user gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from virsci_society.agents.errors import InputError
from virsci_society.society.literature.embedding import hosted, sentence_transformer, side_by_side
from virsci_society.society.literature.embedding.base import SETTINGS_FILE, Embedding, read_settings
from virsci_society.society.literature.embedding.lsa import DIMENSIONS, LSAEmbedding
from virsci_society.society.literature.embedding.side_by_side import SideBySide

SYNTAX = (
    "lsa, lsa:LENGTH, sentence-transformers:MODEL[@REVISION], litellm:PROVIDER/MODEL, or lsa+ "
    "before one of the last two for both side by side"
)
MOST_DIMENSIONS = 4096


LOADERS: Mapping[str, Callable[[Path, dict[str, Any]], Embedding]] = {
    "lsa": LSAEmbedding.from_settings,
    sentence_transformer.KIND: sentence_transformer.SentenceTransformerEmbedding.from_settings,
    hosted.KIND: hosted.HostedEmbedding.from_settings,
}
"""What reads a saved embedding, by its kind."""


def parts_of(name: str) -> tuple[int | None, str | None]:
    """The length of the LSA and the name of the model of an embedding; None: without that part."""
    if name.startswith(side_by_side.KIND):
        return DIMENSIONS, _model_name(name.removeprefix(side_by_side.KIND))
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
        texts: the past papers, on which an LSA is fitted.
        seed: of the fit.
        hosting: settings of a hosted model: api_base, key, dimensions, batch, in_flight, ...

    Returns:
        The embedding.

    Raises:
        InputError: the name is wrong, an extra is missing, or the model cannot be had.

    Example:
        >>> texts = ["networks of people", "cells and genes", "people cite papers of people"]
        >>> embedding = vs.make_embedding("lsa", texts=texts)
        >>> len(embedding.encode(["people and networks"]))
        1
    """
    model, length = make_model(name, hosting), parts_of(name)[0]
    if length is None and model is not None:
        return model
    return join(LSAEmbedding.fit(texts, seed=seed, dim=length or DIMENSIONS), model, texts)


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
    return model.name if parts_of(name)[0] is None else f"{side_by_side.KIND}{model.name}"


def join(lsa: LSAEmbedding, model: Embedding | None, texts: Sequence[str]) -> Embedding:
    """An LSA alone, or side by side with a model; their spreads are taken from the texts."""
    return lsa if model is None else SideBySide.fit(lsa, model, texts)


def load_embedding(folder: Path) -> Embedding:
    """Read the embedding that is saved in a folder, whatever its kind.

    No model is loaded and no request is made before the first text.
    """
    settings = read_settings(folder)
    kind = settings.get("kind")
    if kind == side_by_side.KIND:
        lsa, model = (load_embedding(folder / part) for part in ("lsa", "model"))
        return SideBySide.from_parts(folder, lsa, model, settings)
    load = LOADERS.get(str(kind))
    if load is None:
        known = ", ".join(map(repr, (*LOADERS, side_by_side.KIND)))
        raise InputError(
            f"{folder / SETTINGS_FILE}: embedding kind {kind!r} is not known; known: {known}"
        )
    return load(folder, settings)
