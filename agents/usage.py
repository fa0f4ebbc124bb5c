"""The tokens of a call."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call.

    Attributes:
        prompt_tokens: tokens of the prompt (>= 0).
        completion_tokens: tokens of the reply (>= 0).
        estimated: True where the provider did not count them.

    Example:
        >>> usage = vs.Usage(prompt_tokens=1200, completion_tokens=80, estimated=False)
        >>> usage.prompt_tokens + usage.completion_tokens
        1280
    """

    prompt_tokens: int = 0
    completion_tokens: int = 0
    estimated: bool = True


def estimate_tokens(characters: int) -> int:
    """Tokens of a text of so many characters: one per four, for words that nobody has counted."""
    return (characters + 3) // 4
