"""Embeddings: texts to vectors, under a name and a revision.

Three kinds: the LSA, fitted on the past papers; models of sentence-transformers on this machine;
models behind HTTP, through litellm. Nothing heavy is imported before it is needed.
"""

from society.literature.embedding.cache import EmbeddingCache
from society.literature.embedding.embedding import (
    DECIMALS,
    SETTINGS_FILE,
    Embedding,
    Progress,
    Vectors,
    paper_text,
)
from society.literature.embedding.kinds import (
    EMBEDDINGS,
    EmbeddingKind,
    embedding_kind,
    load_embedding,
    make_embedding,
)
from society.literature.embedding.lsa import ARRAYS_FILE, Lsa
from society.literature.embedding.words import words_and_pairs

__all__ = [
    "ARRAYS_FILE",
    "DECIMALS",
    "EMBEDDINGS",
    "SETTINGS_FILE",
    "Embedding",
    "EmbeddingCache",
    "EmbeddingKind",
    "Lsa",
    "Progress",
    "Vectors",
    "embedding_kind",
    "load_embedding",
    "make_embedding",
    "paper_text",
    "words_and_pairs",
]
