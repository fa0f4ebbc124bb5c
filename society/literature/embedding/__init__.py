"""Text embeddings, which map texts to unit vectors under a name and a revision.

Read ``base`` (the interface) and ``registry`` (making and loading by name) first. There are three
kinds: ``lsa`` with ``lsa_fit`` (fitted on the past papers); ``sentence_transformer`` with
``model_files`` (neural models on this machine); ``hosted`` (models behind HTTP). The last two are a
``cached`` embedding over the files of ``cache``. Heavy libraries are imported when they are needed.
"""

from typing import TYPE_CHECKING

from agents.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from society.literature.embedding.base import Embedding as Embedding
    from society.literature.embedding.cache import EmbeddingCache as EmbeddingCache
    from society.literature.embedding.lsa import LSAEmbedding as LSAEmbedding
    from society.literature.embedding.registry import EMBEDDINGS as EMBEDDINGS
    from society.literature.embedding.registry import EmbeddingKind as EmbeddingKind
    from society.literature.embedding.registry import embedding_kind as embedding_kind
    from society.literature.embedding.registry import load_embedding as load_embedding
    from society.literature.embedding.registry import make_embedding as make_embedding

__all__ = [
    "EMBEDDINGS",
    "Embedding",
    "EmbeddingCache",
    "EmbeddingKind",
    "LSAEmbedding",
    "embedding_kind",
    "load_embedding",
    "make_embedding",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "EMBEDDINGS": "society.literature.embedding.registry",
        "Embedding": "society.literature.embedding.base",
        "EmbeddingCache": "society.literature.embedding.cache",
        "EmbeddingKind": "society.literature.embedding.registry",
        "LSAEmbedding": "society.literature.embedding.lsa",
        "embedding_kind": "society.literature.embedding.registry",
        "load_embedding": "society.literature.embedding.registry",
        "make_embedding": "society.literature.embedding.registry",
    },
)
