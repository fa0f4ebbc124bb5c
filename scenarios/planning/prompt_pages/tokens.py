"""Tokens of recorded calls, and their totals by stage and by page.

Counted are the texts alone: what a chat template of a model adds, a few tokens for each message,
is not among them. The schema of the form is counted apart, because only some servers send it on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from virsci_society.scenarios.planning.prompt_pages.recording import RecordedCall
from virsci_society.scenarios.planning.tokenizer import count_tokens


@dataclass(frozen=True, slots=True)
class TokenCounts:
    """Tokens of one call, or of several.

    Attributes:
        calls: number of calls.
        system: tokens of system messages, which are part of the prompts.
        prompt: tokens of all messages.
        schema: tokens of the JSON Schemas of the forms.
        reply: tokens of the replies.
    """

    calls: int = 0
    system: int = 0
    prompt: int = 0
    schema: int = 0
    reply: int = 0

    def plus(self, other: TokenCounts) -> TokenCounts:
        """The sum of both, field by field."""
        return TokenCounts(
            self.calls + other.calls,
            self.system + other.system,
            self.prompt + other.prompt,
            self.schema + other.schema,
            self.reply + other.reply,
        )


@dataclass(frozen=True, slots=True)
class CountedCall:
    """A recorded call and its tokens."""

    call: RecordedCall
    tokens: TokenCounts


def count_call(call: RecordedCall) -> CountedCall:
    """A call with its tokens."""
    lengths = [(message.role, count_tokens(message.content)) for message in call.messages]
    tokens = TokenCounts(
        calls=1,
        system=sum(length for role, length in lengths if role == "system"),
        prompt=sum(length for _, length in lengths),
        schema=count_tokens(call.schema),
        reply=count_tokens(call.text),
    )
    return CountedCall(call, tokens)


def totals_by(
    calls: Sequence[CountedCall], name: Callable[[RecordedCall], str]
) -> dict[str, TokenCounts]:
    """Sums of the tokens by a name of each call, in the order of the names' first calls.

    Args:
        calls: what is added up.
        name: the name of a call.
    """
    sums: dict[str, TokenCounts] = {}
    for one in calls:
        key = name(one.call)
        sums[key] = sums.get(key, TokenCounts()).plus(one.tokens)
    return sums
