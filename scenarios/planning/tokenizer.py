"""Counts the tokens of a text with a public tokenizer, cl100k_base, without a network.

Its vocabulary is a file of litellm's, which every installation has. Models split text in other
ways, so the counts compare pages and runs with each other; what a provider bills is its own count.
"""

from __future__ import annotations

import os
from functools import cache
from hashlib import sha1
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from virsci_society.agents.usage import estimate_tokens

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
