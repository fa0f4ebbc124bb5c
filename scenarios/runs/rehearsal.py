"""A rehearsal of a scenario, its longest page, and a context window that holds the page.

A scenario is gone through with rule-based scientists in place of its model: nothing is asked of a
model, nothing is paid and nothing is written. Plans, the doctor and the rates of a model come from
this one. A server that takes the window from every request (Ollama's ``num_ctx``) is asked for one
size in the whole run, because it loads the model anew when the size changes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from virsci_society.agents.backends.context_window import read_window
from virsci_society.agents.backends.http import PER_TOKEN, ChatCompletionsBackend
from virsci_society.agents.backends.model_mimic import WORDINESS, MimicSettings, ModelMimic
from virsci_society.agents.errors import InputError
from virsci_society.agents.gateway.backend import Backend
from virsci_society.agents.gateway.gateway import Gateway
from virsci_society.agents.journal.records import CallOutcome
from virsci_society.agents.prompts.request import Reply, Request, total_characters
from virsci_society.scenarios.config.schema import Scenario

if TYPE_CHECKING:
    from virsci_society.society.ecosystem.ecosystem import Ecosystem
    from virsci_society.society.model import Society

REHEARSED = 2_000
"""Calls of the rehearsal; many teams have run through all their stages by then."""
SMALLEST = 4_096
"""Tokens of the shortest window that is asked for. The others are twice or one and a half times as
long as one before, so that scenarios of nearly one size ask for the same."""


class Rehearsal:
    """One rehearsal, and what it would have asked of the model.

    Attributes:
        asked: requests to the model so far.
        first: the first request of each form by its name, in the order of being asked.
        longest: the request with the longest messages, the first of several.
        longest_characters: of its messages; 0 where nothing was asked.
    """

    def __init__(
        self,
        scenario: Scenario,
        settings: MimicSettings,
        *,
        salt: int = 0,
        known: Callable[[Request], CallOutcome | None] | None = None,
        on_known: Callable[[Request, CallOutcome, Reply], None] | None = None,
    ) -> None:
        self.asked = 0
        self.first: dict[str, Request] = {}
        self.longest: Request | None = None
        self.longest_characters = 0
        self._scenario, self._known = scenario, known
        self._backend = ModelMimic(
            imitated=scenario.seeded_backend,
            settings=settings,
            salt=salt,
            lookup=self._note,
            on_known=on_known,
        )

    def run(
        self,
        ecosystem: Ecosystem | None = None,
        most: float = math.inf,
        enough: Callable[[], bool] = lambda: False,
        step: Callable[[Society], object] = lambda _: None,
    ) -> Society:
        """Go through the scenario; what ends it early does so at the end of a simulated period."""

        def stops(society: Society) -> bool:
            step(society)
            return self.asked >= most or enough()

        # One slot: the mimic answers at once, so nothing is ever in flight.
        return go_through(self._scenario, Gateway(self._backend, 1), stops, ecosystem)

    def _note(self, request: Request) -> CallOutcome | None:
        self.asked += 1
        self.first.setdefault(request.form.__name__, request)
        characters = total_characters(request.messages)
        if self.longest is None or characters > self.longest_characters:
            self.longest, self.longest_characters = request, characters
        return None if self._known is None else self._known(request)


def go_through(
    scenario: Scenario,
    gateway: Gateway,
    enough: Callable[[Society], bool],
    ecosystem: Ecosystem | None = None,
) -> Society:
    """The society of a scenario after its last period, or after the first that was enough.

    The ecosystem is the scenario's own, where it has been built already.
    """
    from virsci_society.scenarios.runs.build import build_society

    society = build_society(scenario, ecosystem, gateway)
    while society.running and not enough(society):
        society.step()
    society.close()
    return society


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
    """The request with the longest messages that a rehearsal asks; the first of several."""
    rehearsal = Rehearsal(untrimmed(scenario), MimicSettings(wordiness=WORDINESS))
    rehearsal.run(ecosystem, REHEARSED)
    return rehearsal.longest


def tokens_needed(backend: Backend, characters: int) -> int:
    """Tokens of a window that holds a page and the longest reply to it, if tokens are short."""
    return -(-characters // PER_TOKEN) + backend.max_reply_tokens


def size_window(scenario: Scenario, ecosystem: Ecosystem | None = None) -> Scenario:
    """The scenario with a backend that asks for a window in which its longest page fits.

    It stays as it is where the server does not take the window from requests, or where the scenario
    states one.
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
    """The backend, asking for a window of at least so many tokens in every request."""
    most = read_window(paid).most or math.inf
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
