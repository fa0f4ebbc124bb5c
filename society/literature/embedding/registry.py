"""The table of embedding kinds by the name that a user gives, and making and loading embeddings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from virsci_society.agents.errors import InputError
from virsci_society.society.literature.embedding import hosted, sentence_transformer
from virsci_society.society.literature.embedding.base import SETTINGS_FILE, Embedding, read_settings
from virsci_society.society.literature.embedding.lsa import DIMENSIONS, LSAEmbedding
from virsci_society.society.literature.embedding.sentence_transformer import (
    Announce,
    print_to_stderr,
)


@dataclass(frozen=True)
class EmbeddingKind:
    """One kind of embedding.

    Attributes:
        fitted: whether it is fitted on the past papers, and so cannot be made before they are read.
    """

    syntax: str
    fitted: bool
    make: Callable[..., Embedding]
    load: Callable[[Path, dict[str, Any]], Embedding]


def _lsa(name: str, texts: Sequence[str], seed: int, query_prompt: str, **_: Any) -> Embedding:
    if query_prompt:
        raise InputError("embedding lsa: takes no query prompt")
    dim = name or str(DIMENSIONS)
    if not dim.isdecimal() or int(dim) == 0:
        raise InputError(f"embedding lsa:{dim}: expected a length, such as lsa:64")
    return LSAEmbedding.fit(texts, seed=seed, dim=int(dim))


def _semantic(name: str, query_prompt: str, device: str, announce: Announce, **_: Any) -> Embedding:
    kind = sentence_transformer.KIND
    if not name:
        raise InputError(f"embedding {kind}: name a model: {kind}:MODEL")
    return sentence_transformer.SentenceTransformerEmbedding.from_name(
        name, query_prompt=query_prompt, device=device, announce=announce
    )


def _hosted(name: str, query_prompt: str, hosting: Mapping[str, Any], **_: Any) -> Embedding:
    if not name:
        raise InputError("embedding litellm: name a model: litellm:PROVIDER/MODEL")
    model = hosted.parse_model_settings({"model": name, **hosting})
    return hosted.HostedEmbedding(model, query_prompt=query_prompt)


EMBEDDINGS: Mapping[str, EmbeddingKind] = {
    "lsa": EmbeddingKind("lsa or lsa:LENGTH", True, _lsa, LSAEmbedding.from_settings),
    sentence_transformer.KIND: EmbeddingKind(
        f"{sentence_transformer.KIND}:MODEL[@REVISION]",
        False,
        _semantic,
        sentence_transformer.SentenceTransformerEmbedding.from_settings,
    ),
    hosted.KIND: EmbeddingKind(
        "litellm:PROVIDER/MODEL", False, _hosted, hosted.HostedEmbedding.from_settings
    ),
}
"""Every kind by its name."""


def embedding_kind(name: str) -> EmbeddingKind:
    """Look up the kind of an embedding by its whole name, such as ``lsa:64``."""
    kind = EMBEDDINGS.get(name.partition(":")[0])
    if kind is None:
        known = ", ".join(one.syntax for one in EMBEDDINGS.values())
        raise InputError(f"embedding {name!r} is not known; known: {known}")
    return kind


def make_embedding(
    name: str,
    *,
    texts: Sequence[str] = (),
    seed: int = 0,
    query_prompt: str = "",
    device: str = "cpu",
    hosting: Mapping[str, Any] | None = None,
    announce: Announce = print_to_stderr,
) -> Embedding:
    """Make an embedding by its name, such as ``lsa`` or ``litellm:ollama/mxbai-embed-large``.

    No request is made and no model is loaded, but a model on the hub is downloaded first. An
    embedding that is not ``fitted`` can therefore be made before a source is read.

    Args:
        name: the kind, and its argument after a colon.
        texts: the past papers, for kinds that are fitted on them.
        seed: of the fit.
        query_prompt: put before a text that is searched for, and kept with the ecosystem; none by
            default, as in VirSci.
        device: device of torch for a model on this machine.
        hosting: settings of a hosted model: api_base, key, dimensions, batch, in_flight, ...
        announce: called before a download.

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
    return embedding_kind(name).make(
        name.partition(":")[2],
        texts=texts,
        seed=seed,
        query_prompt=query_prompt,
        device=device,
        hosting=hosting or {},
        announce=announce,
    )


def load_embedding(folder: Path) -> Embedding:
    """Read the embedding that is saved in a folder, whatever its kind.

    No model is loaded and no request is made before the first text.
    """
    settings = read_settings(folder)
    kind = EMBEDDINGS.get(str(settings.get("kind")))
    if kind is None:
        known = ", ".join(map(repr, EMBEDDINGS))
        raise InputError(
            f"{folder / SETTINGS_FILE}: embedding kind {settings.get('kind')!r} is not known; "
            f"known: {known}"
        )
    return kind.load(folder, settings)
