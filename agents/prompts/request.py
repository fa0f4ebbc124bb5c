"""One question to a model, and the reply that came back with its tokens."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from virsci_society.agents.profile import Profile
from virsci_society.agents.replies.form import Form, texts_for
from virsci_society.agents.replies.parser import without_thoughts
from virsci_society.agents.spelling import cut_text

LINES = (2000, 1000, 500, 250, 120)
"""Lengths, in characters, that long lines are cut to, one after another."""
CUT = " […]"


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a chat."""

    role: str
    content: str


@dataclass(frozen=True)  # without slots, where cached properties would have no place
class Request:
    """A complete call to one scientist, with all slots settled.

    Attributes:
        id: the call id: team / stage / visit / turn / seat / act / addressee.
        who: profile of the scientist on the date of the call.
        messages: the messages for a language model.
        form: the form that the reply must fill.
        slots: the same content, structured; the offline scientist answers from it.
        seed: derived from the scenario's seed and the call id; 64 bits.
        due: simulated date in days on which the answer is due; the order of service.
        attempt: 0 for the first request, plus one for each re-ask.
        asked: simulated date in days on which it was asked.
        model_settings: model name and sampling, as canonical text.
        temperature: in place of the model's own; None: the model's.

    Example:
        >>> class Essay(vs.Form):
        ...     title: str
        >>> request = vs.Request("Scientist1/1/essay", vs.Profile("Scientist1"), (), Essay, seed=7)
        >>> list(request.form.json_schema()["properties"]), request.attempt, len(request.hash)
        (['title'], 0, 64)
    """

    id: str
    who: Profile
    messages: tuple[Message, ...]
    form: type[Form]
    slots: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    due: float = 0.0
    attempt: int = 0
    asked: float = 0.0
    model_settings: str = ""
    temperature: float | None = None

    @cached_property
    def hash(self) -> str:
        """sha256 over everything that decides the answer: messages, schema, model, sampling."""
        # JSON put together from its texts, in less time than a list of them takes. In ASCII: half
        # of a surrogate pair in a text cannot be encoded, but can be escaped.
        messages = [f"[{json.dumps(m.role)}, {json.dumps(m.content)}]" for m in self.messages]
        decides = [f"[{', '.join(messages)}]"]
        decides += map(json.dumps, (self.schema_text, self.model_settings))
        # Only where it is given: the hashes of all other requests stay as they were.
        decides += [] if self.temperature is None else [json.dumps(self.temperature)]
        return hashlib.sha256(f"[{', '.join(decides)}]".encode()).hexdigest()

    @cached_property
    def schema_text(self) -> str:
        """The JSON Schema that is sent, as text (see ``as_sent``)."""
        return texts_for(self.form, self.slots)[1]


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call.

    Attributes:
        estimated: True where the provider did not count them.
        cached_tokens: tokens of the prompt that the provider took from its cache (at most
            ``prompt_tokens``).

    Example:
        >>> usage = vs.Usage(prompt_tokens=1200, completion_tokens=80, estimated=False)
        >>> usage.prompt_tokens + usage.completion_tokens
        1280
    """

    prompt_tokens: int = 0
    completion_tokens: int = 0
    estimated: bool = True
    cached_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Reply:
    """The reply of a backend.

    Attributes:
        model: the model name as returned.
        cut: True if the reply was cut off at the length limit.
        unruled: True if the offline scientist had no rule for the form.
        speed: tokens of the prompt read, and of the reply written, in a second; None: the server
            does not say.

    Example:
        >>> reply = vs.Reply('{"title": "Networks"}', vs.Usage(120, 9, estimated=False), "small")
        >>> reply.model, reply.usage.completion_tokens, reply.cut
        ('small', 9, False)
    """

    text: str
    usage: Usage
    model: str
    cut: bool = False
    unruled: bool = False
    speed: tuple[float, float] | None = None


def estimate_tokens(characters: int) -> int:
    """Estimate the tokens of a text that no tokenizer has counted, at four characters a token."""
    return (characters + 3) // 4


def words_that_fit(reply_tokens: int) -> int:
    """Words that fit into a reply of this length, at two tokens a word; 0: not known."""
    return reply_tokens // 2


def most_tokens(request: Request, max_reply_tokens: int) -> int:
    """Upper bound of an attempt's tokens: one a byte, and 16 a message for the chat template."""
    prompt = sum(_bytes(message.content) + 16 for message in request.messages)
    return prompt + _bytes(request.schema_text) + 16 + max_reply_tokens


def _bytes(text: str) -> int:
    # Half of a surrogate pair has to be counted and not refused.
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def reask_messages(
    messages: tuple[Message, ...], reply: Reply, error: Exception
) -> tuple[Message, ...]:
    """The messages that ask once more, after a reply that could not be read."""
    why = "it was cut off: be brief" if reply.cut else str(error)
    request = (
        f"That answer could not be read ({why}). Please give it once more, as JSON with exactly "
        "the fields that were asked for."
    )
    if getattr(error, "was_read", False):
        request = f"{error} Please answer once more."
    quoted = without_thoughts(reply.text)
    return (*messages, Message("assistant", quoted), Message("user", request))


def trim_messages(messages: tuple[Message, ...], characters: int) -> tuple[Message, ...]:
    """The messages cut to a number of characters, or as near to it as keeps every message."""
    for longest in LINES:
        if total_characters(messages) <= characters:
            return messages
        shortened = []
        for message in messages:
            lines = [cut_text(line, longest, CUT) for line in message.content.split("\n")]
            shortened.append(Message(message.role, "\n".join(lines)))
        messages = tuple(shortened)
    excess = total_characters(messages) - characters
    if excess <= 0:
        return messages
    # Of equally long messages the first: the same messages are always cut in the same way.
    index = max(range(len(messages)), key=lambda at: len(messages[at].content))
    # Without its middle: the beginning says who and what, the end in which form.
    text = messages[index].content
    left = max(len(text) - excess - len(CUT) - 2, 0)
    head = left // 2
    text = f"{text[:head]}\n{CUT.strip()}\n{text[len(text) - left + head :]}"
    return (*messages[:index], Message(messages[index].role, text), *messages[index + 1 :])


def total_characters(messages: tuple[Message, ...]) -> int:
    """Characters of the contents together."""
    return sum(len(message.content) for message in messages)
