"""Asked: one body of a chat completion, understood as far as the server answers it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import unquote

from tests.faultserver.slots import Unheard, heard
from virsci_society.agents.prompts.request import Message, Request


class Misunderstood(ValueError):
    """The request is none that this server answers; the message says why."""


@dataclass(frozen=True)
class Asked:
    """One question."""

    id: str
    model: str
    messages: tuple[Message, ...]
    request: Request | None
    form: Mapping[str, Any]
    limit: int | None

    @classmethod
    def read(cls, body, headers):
        """Understand one body."""
        data = read_object(body)
        if data.get("stream"):
            raise Misunderstood("streaming is not served by the test server; leave stream out")
        messages = _messages(data.get("messages"))
        try:
            request = heard(data["slots"], messages) if "slots" in data else None
        except Unheard as error:
            raise Misunderstood(str(error)) from None
        form = data.get("response_format")
        limit = data.get("max_completion_tokens", data.get("max_tokens"))
        named = unquote(headers.get("x-call-id", "")) if request is None else request.id
        return cls(
            id=named or _hash(messages),
            model=str(data.get("model", "test")),
            messages=messages,
            request=request,
            form=form if isinstance(form, dict) else {},
            limit=limit if type(limit) is int and limit > 0 else None,
        )

    @property
    def first(self):
        """True unless it asks once more for words that could not be read."""
        if self.request is not None:
            return self.request.attempt == 0
        return all(message.role != "assistant" for message in self.messages)

    @cached_property
    def prompt_tokens(self):
        """Tokens of the messages."""
        return tokens(sum(len(message.content) for message in self.messages))


def tokens(characters):
    """Four characters a token, rounded up: the count of ``agents/offline/backend.py``."""
    return (characters + 3) // 4


def read_object(body):
    """A JSON object."""
    try:
        data = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise Misunderstood(f"the body is no JSON: {error}") from None
    if not isinstance(data, dict):
        raise Misunderstood("the body is no JSON object")
    return data


def _messages(data):
    if not isinstance(data, list) or not data:
        raise Misunderstood("messages: expected a list of at least one message")
    messages = []
    for one in data:
        if not isinstance(one, dict) or "role" not in one:
            raise Misunderstood("messages: expected objects with role and content")
        content = one.get("content") or ""
        text = content if isinstance(content, str) else json.dumps(content)
        messages.append(Message(str(one["role"]), text))
    return tuple(messages)


def _hash(messages):
    told = json.dumps([[one.role, one.content] for one in messages])
    return hashlib.sha256(told.encode()).hexdigest()[:16]
