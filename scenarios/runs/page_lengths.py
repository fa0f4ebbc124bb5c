"""The longest page of a scenario, and a context window that holds it with its reply.

The page comes from a rehearsal by rule-based scientists whose texts are as long as a model's. A
server that takes the window from every request (Ollama's ``num_ctx``) is asked for one size in the
whole run, because it loads the model anew when the size changes.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from virsci_society.agents.backends.context_window import read_windows
from virsci_society.agents.backends.http import PER_TOKEN, ChatCompletionsBackend
from virsci_society.agents.backends.model_mimic import WORDINESS, MimicSettings, ModelMimic
from virsci_society.agents.errors import InputError
from virsci_society.agents.gateway.backend import Backend
from virsci_society.agents.gateway.gateway import Gateway
from virsci_society.agents.journal.records import CallOutcome
from virsci_society.agents.prompts.prompt import total_characters
from virsci_society.agents.prompts.request import Request
from virsci_society.scenarios.config.schema import Scenario

if TYPE_CHECKING:
    from virsci_society.society.ecosystem.ecosystem import Ecosystem

REHEARSED = 2_000
"""Calls of the rehearsal; many teams have run through all their stages by then."""
SMALLEST = 4_096
"""Tokens of the shortest window that is asked for. The others are twice or one and a half times as
long as one before, so that scenarios of nearly one size ask for the same."""


def with_paid(scenario: Scenario, paid: Backend) -> Scenario:
    """The scenario with another backend in the place of the one that is paid for."""
    speaking = scenario.backend
    changed = speaking.model_copy(update={"backend": speaking.backend.with_paid(paid)})
    return scenario.model_copy(update={"backend": changed})


def untrimmed(scenario: Scenario) -> Scenario:
    """The scenario without a stated context, so that a rehearsal trims no page."""
    paid = scenario.backend.backend.paid
    if not isinstance(paid, ChatCompletionsBackend) or paid.context is None:
        return scenario
    return with_paid(scenario, paid.model_copy(update={"context": None}))


def longest_page(scenario: Scenario, ecosystem: Ecosystem | None = None) -> Request | None:
    """The request with the longest messages that a rehearsal asks; the first of several.

    Returns:
        The request; None if the model is asked nothing.
    """
    from virsci_society.scenarios.runs.build import build_society

    longest: Request | None = None
    asked = 0

    def note(request: Request) -> CallOutcome | None:
        nonlocal longest, asked
        asked += 1
        length = total_characters(request.messages)
        if longest is None or length > total_characters(longest.messages):
            longest = request
        return None

    whole = untrimmed(scenario)
    manner = MimicSettings(wordiness=WORDINESS)
    backend = ModelMimic(imitated=whole.seeded_backend, settings=manner, lookup=note)
    society = build_society(whole, ecosystem, Gateway(backend, 1))
    while society.running and asked < REHEARSED:
        society.step()
    society.close()
    return longest


def tokens_needed(backend: Backend, characters: int) -> int:
    """Tokens of a window that holds a page and the longest reply to it, if tokens are short.

    Args:
        backend: bounds the length of a reply.
        characters: of the messages.
    """
    return -(-characters // PER_TOKEN) + backend.max_reply_tokens


def size_window(scenario: Scenario, ecosystem: Ecosystem | None = None) -> Scenario:
    """The scenario with a backend that asks for a window in which its longest page fits.

    It stays as it is where the server does not take the window from requests, or where the scenario
    states one.

    Raises:
        InputError: the model's own window is shorter.
    """
    paid = scenario.backend.backend.paid
    if not isinstance(paid, ChatCompletionsBackend) or not paid.sets_window or paid.window:
        return scenario
    page = longest_page(scenario, ecosystem)
    if page is None:
        return scenario
    need = tokens_needed(paid, total_characters(page.messages))
    return with_paid(scenario, ask_for_window(paid, need))


def ask_for_window(paid: ChatCompletionsBackend, need: int) -> ChatCompletionsBackend:
    """The backend, asking for a window of at least so many tokens in every request.

    Raises:
        InputError: the model was made for fewer.
    """
    most = min((window.most or inf for _, window in read_windows(paid)), default=inf)
    if need > most:
        raise InputError(
            f"backend.context: the longest page of this scenario takes about {need:,} tokens with "
            f"its reply, and {paid.model} was made for {most:,}; set backend.context={most}, and "
            "longer pages are trimmed by a fixed rule, or take a model with a longer window"
        )
    return paid.with_window(int(min(window_size(need), most)))


def window_size(need: int) -> int:
    """The window that is asked for: the next of 4,096, 6,144, 8,192, 12,288, 16,384, ... tokens."""
    size = SMALLEST
    while size < need:
        # Twice as many, or half as many again, by turns.
        size += size // 2 if size & (size - 1) == 0 else size // 3
    return size
