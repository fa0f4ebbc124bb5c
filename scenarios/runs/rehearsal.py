"""Rehearsals, in which rule-based scientists stand in for the model of a scenario.

Runs on Ollama are rehearsed too: it loads the model anew when the context size changes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from virsci_society.agents.backends.context_window import read_window
from virsci_society.agents.backends.http import PER_TOKEN, ChatCompletionsBackend
from virsci_society.agents.errors import InputError
from virsci_society.agents.gateway.backend import Backend
from virsci_society.agents.gateway.gateway import Gateway
from virsci_society.agents.offline.backend import Offline, answer_offline
from virsci_society.agents.prompts.request import Reply, Request, total_characters
from virsci_society.scenarios.config.schema import Scenario

if TYPE_CHECKING:
    from virsci_society.society.ecosystem.ecosystem import Ecosystem
    from virsci_society.society.model import Society

REHEARSED = 2_000
"""Calls after which the longest prompt is known: many teams have gone through all stages then."""
LONGEST_RATIO = 2.0
"""Length of a model's longest prompt as a multiple of the rehearsal's: assumed. Where every text of
a model is twice as long, this is the most; in our protocols it is then 1.3 to 1.7."""
SMALLEST = 4_096
"""Tokens of the shortest window that is requested. The others are twice or one and a half times as
long as one before, so that scenarios of nearly one size request the same."""


class StandIn(Backend):
    """Rule-based scientists in place of a model, inline and free."""

    model: Backend
    note: Callable[[Request], None] | None = None

    @property
    def inline(self) -> bool:
        """True: it never suspends."""
        return True

    @property
    def model_settings(self) -> str:
        """Those of the model."""
        return self.model.model_settings

    @property
    def sends_schema(self) -> bool:
        """That of the model."""
        return self.model.sends_schema

    @property
    def max_prompt_characters(self) -> int | None:
        """Those of the model."""
        return self.model.max_prompt_characters

    def backend_for(self, call: str, who: str = "") -> Backend:
        """Itself in place of the model; the rules of a hybrid answer for themselves."""
        backend = self.model.backend_for(call, who)
        return backend if backend is not self.model and backend.rule_based else self

    async def complete(self, request: Request) -> Reply:
        """Answer by rule."""
        if self.note is not None:
            self.note(request)
        rules = self.model if isinstance(self.model, Offline) else _RULES
        return answer_offline(request, rules.acceptance)


_RULES = Offline()


class Rehearsal:
    """One rehearsal, with the calls it would have made to the model."""

    def __init__(self, scenario: Scenario) -> None:
        self.asked = self.longest = 0
        self.first: dict[str, Request] = {}
        self._scenario = scenario

    def run(
        self,
        ecosystem: Ecosystem | None = None,
        most: float = math.inf,
        step: Callable[[Society], object] = lambda _: None,
    ) -> Society:
        """Go through the scenario; what ends it early does so at the end of a simulated period."""

        def stops(society: Society) -> bool:
            step(society)
            return self.asked >= most

        stand_in = StandIn(model=self._scenario.seeded_backend, note=self._note)
        # One slot: the rules answer at once, so nothing is ever in flight.
        return go_through(self._scenario, Gateway(stand_in, 1), stops, ecosystem)

    def _note(self, request: Request) -> None:
        self.asked += 1
        self.first.setdefault(request.form.__name__, request)
        self.longest = max(self.longest, total_characters(request.messages))


def go_through(
    scenario: Scenario,
    gateway: Gateway,
    enough: Callable[[Society], bool],
    ecosystem: Ecosystem | None = None,
) -> Society:
    """The society of a scenario after its last period, or after the first that was enough."""
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


def longest_prompt(scenario: Scenario, ecosystem: Ecosystem | None = None) -> int:
    """Characters of the longest prompt for the model, untrimmed; 0 without prompts."""
    paid = scenario.backend.backend.paid
    if isinstance(paid, ChatCompletionsBackend) and paid.context is not None:
        scenario = with_paid(scenario, paid.model_copy(update={"context": None}))
    rehearsal = Rehearsal(scenario)
    rehearsal.run(ecosystem, REHEARSED)
    return round(LONGEST_RATIO * rehearsal.longest)


def tokens_needed(backend: Backend, characters: int) -> int:
    """Tokens of a window that holds a prompt and the longest reply to it, if tokens are short."""
    return -(-characters // PER_TOKEN) + backend.max_reply_tokens


def size_window(scenario: Scenario, ecosystem: Ecosystem | None = None) -> Scenario:
    """The scenario with a backend that requests a window in which its longest prompt fits."""
    paid = scenario.backend.backend.paid
    if not isinstance(paid, ChatCompletionsBackend) or not paid.sets_window or paid.window:
        return scenario
    longest = longest_prompt(scenario, ecosystem)
    if not longest:
        return scenario
    return with_paid(scenario, request_window(paid, tokens_needed(paid, longest)))


def request_window(paid: ChatCompletionsBackend, need: int) -> ChatCompletionsBackend:
    """The backend, requesting a window of at least this many tokens in every request."""
    most = read_window(paid).most or math.inf
    if need > most:
        raise InputError(
            f"backend.context: the longest prompt of this scenario takes about {need:,} tokens "
            f"with its reply, and {paid.model} was made for {most:,}; set backend.context={most}, "
            "and longer prompts are trimmed by a fixed rule, or use a model with a longer window"
        )
    return paid.with_window(int(min(window_size(need), most)))


def window_size(need: int) -> int:
    """The window that is requested: the next of 4,096, 6,144, 8,192, 12,288, 16,384, ... tokens."""
    size = SMALLEST
    while size < need:
        # Twice as many, or half as many again, by turns.
        size += size // 2 if size & (size - 1) == 0 else size // 3
    return size
