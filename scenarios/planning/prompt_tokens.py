"""Tokens of a text, and of the parts of a call, by a public tokenizer.

The vocabulary of cl100k_base is a file of litellm's, which every installation has, so no network is
needed. Models split text in other ways: the counts compare pages and runs with each other, and what
a provider bills is its own count. Counted are the texts alone: what a chat template of a model
adds, a few tokens for each message, is not among them. The schema of the form is counted apart,
because only some servers send it on.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from functools import cache
from hashlib import sha1
from importlib.util import find_spec
from operator import add
from pathlib import Path
from typing import Any

from virsci_society.agents.prompts.request import Message, estimate_tokens

TOKENIZER = "cl100k_base"
VOCABULARY = "https://openaipublic.blob.core.windows.net/encodings/cl100k_base.tiktoken"
"""Address of the vocabulary, which is never asked: tiktoken names its cached file by it."""
FOLDER = "litellm_core_utils/tokenizers"
"""Folder of litellm that holds it."""
CACHE_VARIABLE = "TIKTOKEN_CACHE_DIR"


def count_tokens(text: str) -> int:
    """Tokens of a text; special tokens in it count as the plain text that they are."""
    encoding = _encoding()
    if encoding is None:
        return estimate_tokens(len(text))
    # Halves of surrogate pairs, which no tokenizer takes, count as question marks.
    return len(encoding.encode_ordinary(text.encode("utf-8", "replace").decode()))


def tokenizer_name() -> str:
    """What counts the tokens, in words: the tokenizer, or the estimate in its place."""
    return TOKENIZER if _encoding() is not None else "estimated, one token per four characters"


@cache
def _encoding() -> Any:
    """The tokenizer; None where its vocabulary is not installed."""
    found = find_spec("litellm")
    folder = Path(found.origin).parent / FOLDER if found is not None and found.origin else None
    # Without the file tiktoken would ask the network for it.
    if folder is None or not (folder / sha1(VOCABULARY.encode()).hexdigest()).is_file():  # noqa: S324
        return None
    import tiktoken

    before = os.environ.get(CACHE_VARIABLE)
    os.environ[CACHE_VARIABLE] = str(folder)
    try:
        return tiktoken.get_encoding(TOKENIZER)
    finally:
        if before is None:
            del os.environ[CACHE_VARIABLE]
        else:
            os.environ[CACHE_VARIABLE] = before


@dataclass(frozen=True, slots=True)
class TokenCounts:
    """Tokens of one call, or of several; those of system messages are part of the prompts."""

    calls: int = 0
    system: int = 0
    prompt: int = 0
    schema: int = 0
    reply: int = 0

    def plus(self, other: TokenCounts) -> TokenCounts:
        """The sum of both, field by field."""
        return TokenCounts(*map(add, astuple(self), astuple(other)))


def count_parts(messages: Sequence[Message], schema: str, reply: str) -> TokenCounts:
    """Tokens of one call, from its texts."""
    lengths = [(message.role, count_tokens(message.content)) for message in messages]
    return TokenCounts(
        calls=1,
        system=sum(length for role, length in lengths if role == "system"),
        prompt=sum(length for _, length in lengths),
        schema=count_tokens(schema),
        reply=count_tokens(reply),
    )
