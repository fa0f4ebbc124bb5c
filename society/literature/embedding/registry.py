"""Kinds: every embedding there is, by the name that a user gives it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agents.errors import InputError
from society.literature.embedding import hosted, semantic
from society.literature.embedding.embedding import SETTINGS_FILE, Embedding, read_settings
from society.literature.embedding.lsa import DIMENSIONS, Lsa
from society.literature.embedding.weights import Announce, say


@dataclass(frozen=True)
class Wish:
    """What an embedding is to be made of.

    Attributes:
        name: what follows the kind and a colon.
        texts: what it is fitted on, where it is fitted.
        seed: of the fit.
        query_prompt: what is put before a text that is searched for.
        device: where a model on this machine runs, as torch calls it.
        hosting: further settings of a hosted model; see ``LiteLLMEmbedding``.
        announce: told of a download.
    """

    name: str
    texts: Sequence[str] = ()
    seed: int = 0
    query_prompt: str = ""
    device: str = "cpu"
    hosting: Mapping[str, Any] = field(default_factory=dict)
    announce: Announce = say


@dataclass(frozen=True)
class EmbeddingKind:
    """One kind of embedding.

    Attributes:
        form: how it is named.
        fitted: whether it is made of the past papers, and so cannot be made before they are read.
        make: makes one.
        load: rebuilds one from its folder and settings.
    """

    form: str
    fitted: bool
    make: Callable[[Wish], Embedding]
    load: Callable[[Path, dict[str, Any]], Embedding]


def _lsa(wish: Wish) -> Embedding:
    if wish.query_prompt:
        raise InputError("embedding lsa: takes no query prompt")
    dim = wish.name or str(DIMENSIONS)
    if not dim.isdecimal() or int(dim) == 0:
        raise InputError(f"embedding lsa:{dim}: expected a length, such as lsa:64")
    return Lsa.fit(wish.texts, seed=wish.seed, dim=int(dim))


def _semantic(wish: Wish) -> Embedding:
    if not wish.name:
        raise InputError(f"embedding {semantic.KIND}: name a model: {semantic.KIND}:MODEL")
    return semantic.SentenceTransformers.find(
        wish.name, query_prompt=wish.query_prompt, device=wish.device, announce=wish.announce
    )


def _hosted(wish: Wish) -> Embedding:
    if not wish.name:
        raise InputError("embedding litellm: name a model: litellm:PROVIDER/MODEL")
    model = hosted.model_of({"model": wish.name, **wish.hosting})
    return hosted.Hosted(model, query_prompt=wish.query_prompt)


EMBEDDINGS: Mapping[str, EmbeddingKind] = {
    "lsa": EmbeddingKind("lsa or lsa:LENGTH", True, _lsa, Lsa.from_settings),
    semantic.KIND: EmbeddingKind(
        f"{semantic.KIND}:MODEL[@REVISION]",
        False,
        _semantic,
        semantic.SentenceTransformers.from_settings,
    ),
    hosted.KIND: EmbeddingKind(
        "litellm:PROVIDER/MODEL", False, _hosted, hosted.Hosted.from_settings
    ),
}
"""Every kind there is."""


def embedding_kind(name: str) -> EmbeddingKind:
    """The kind of an embedding by its whole name.

    Raises:
        InputError: there is no such kind.
    """
    kind = EMBEDDINGS.get(name.partition(":")[0])
    if kind is None:
        known = ", ".join(one.form for one in EMBEDDINGS.values())
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
    announce: Announce = say,
) -> Embedding:
    """Make an embedding by its name, such as ``lsa`` or ``litellm:ollama/mxbai-embed-large``.

    Nobody is asked, nothing is loaded but where a model must be downloaded first; what is not
    ``fitted`` can therefore be made before a source is read.

    Args:
        name: the kind, and what it needs to be told.
        texts: the past papers, for what is fitted on them.
        seed: of the fit.
        query_prompt: what is put before a text that is searched for, and kept with the
            ecosystem; none by default, as in VirSci.
        device: of a model on this machine.
        hosting: settings of a hosted model: api_base, key, dimensions, batch, in_flight, ...
        announce: told of a download.

    Raises:
        InputError: the name is wrong, an extra is missing, or the model cannot be had.
    """
    kind = embedding_kind(name)
    wish = Wish(
        name=name.partition(":")[2],
        texts=texts,
        seed=seed,
        query_prompt=query_prompt,
        device=device,
        hosting=hosting or {},
        announce=announce,
    )
    return kind.make(wish)


def load_embedding(folder: Path) -> Embedding:
    """Read the embedding that stands in a folder, whatever its kind.

    No model is loaded and nobody is asked before the first text.
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
