"""Request, Reply, Usage: one question put to a model, and what came back."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from agents.forms import Form
from agents.profile import Profile


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a chat: ``role`` is system, user or assistant."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call; ``estimated`` where the provider did not count them."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    estimated: bool = True


@dataclass(frozen=True)
class Request:
    """One question to one scientist, complete: every slot is settled.

    Attributes:
        id: the call id, team / stage / visit / turn / seat / act / addressee.
        who: profile of the scientist who is asked, as of the date of asking.
        messages: what a language model is told.
        form: the form that the reply must fill.
        slots: the same content, structured; what the offline scientist answers from.
        seed: derived from the scenario's seed and the call id; 64 bits.
        due: simulated date (days) at which the answer is due; the order of service.
        asked: simulated date (days) on which it was asked.
        told: what the backend adds to the messages (model name, sampling), as canonical text.
        attempt: 0 for the first asking, then one more for each re-ask for words.
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
    told: str = ""

    @cached_property
    def hash(self) -> str:
        """sha256 over what the model is told: messages, the form's schema, model, sampling."""
        told = [[m.role, m.content] for m in self.messages]
        body = json.dumps([told, self.form.schema_text(), self.told], ensure_ascii=True)
        return hashlib.sha256(body.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Reply:
    """What a backend returned.

    Attributes:
        text: the words.
        usage: their tokens.
        model: the model's own name for itself.
        cut: the words end because a limit of length was reached.
    """

    text: str
    usage: Usage
    model: str
    cut: bool = False
