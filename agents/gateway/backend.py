"""Base class of everything that answers requests, and its endpoint."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from virsci_society.agents.config import Part
from virsci_society.agents.errors import Fault
from virsci_society.agents.prompts.request import Reply, Request, Usage


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The address at which a model can be asked."""

    name: str
    complete: Callable[[Request], Awaitable[Reply]]
    probe: Callable[[], Awaitable[Fault | bool]] | None = None
    """Whether anything answers: True, a fault if nothing does, False if that cannot be known."""
    contact: float = 10.0
    """Seconds to wait for the first answer of all."""
    most: int | None = None
    """Largest number of attempts at a time; None: any."""


class Backend(Part):
    """Base of all backends: subclass it and write ``complete``.

    A scenario names the subclass under ``backend.use``. ``model_settings`` is part of every
    request's hash, so that no run is resumed with another model. ``execution`` names the settings
    that affect how a call is made but never the reply; every output repeats ``about``.

    Example:
        >>> class Echo(vs.Backend):
        ...     async def complete(self, request):
        ...         return vs.Reply(request.messages[-1].content, vs.Usage(), "echo")
        >>> Echo().about, Echo().rule_based
        ('Echo', False)
    """

    execution: ClassVar[frozenset[str]] = frozenset()

    @property
    def inline(self) -> bool:
        """True if ``complete`` never suspends, so the clock's own thread can run it."""
        return False

    @property
    def rule_based(self) -> bool:
        """True if rules answer instead of a model."""
        return False

    @property
    def paid(self) -> Backend:
        """The backend that makes billed calls: itself, or the live part of a hybrid."""
        return self

    def with_paid(self, paid: Backend) -> Backend:
        """The same backend with another ``paid`` part."""
        return paid

    @property
    def parts(self) -> dict[str, Backend]:
        """Component backends, by their keys in the scenario."""
        return {}

    def backend_for(self, call: str, who: str = "") -> Backend:
        """The backend (itself or a part) that answers a call, by call id and scientist only."""
        return self

    def of_run(self, seed: int) -> Backend:
        """The backend for a run of this seed: itself, unless it draws at random."""
        return self

    @property
    def about(self) -> str:
        """What answers, in one sentence for reports."""
        return type(self).__name__

    @property
    def slots(self) -> int | None:
        """Maximum number of parallel calls; None: unlimited."""
        return None

    @property
    def served_name(self) -> str:
        """Name and hash that a local model reports; empty: unknown."""
        return ""

    @property
    def record(self) -> dict[str, Any]:
        """Facts about the model for the manifest, beside its settings."""
        return {}

    @property
    def model_settings(self) -> str:
        """Model name and sampling as canonical text; part of every request's hash."""
        return ""

    @property
    def sends_schema(self) -> bool:
        """True if requests include the form's JSON Schema; prompts then show no JSON."""
        return False

    @property
    def max_reply_tokens(self) -> int:
        """Maximum tokens of a reply; 0: unknown."""
        return 0

    @property
    def max_prompt_characters(self) -> int | None:
        """Maximum characters of a prompt; None: unknown."""
        return None

    @property
    def unreadable_advice(self) -> str:
        """Advice for users when replies cannot be parsed."""
        return "Use another model"

    def endpoint(self) -> Endpoint:
        """The endpoint, made anew for each run."""
        return Endpoint("", self.complete)

    @property
    def free(self) -> bool:
        """True if the model runs on this machine, free of charge."""
        return False

    @property
    def priced(self) -> bool:
        """True if the price of tokens is known."""
        return True

    def price(self, usage: Usage) -> float:
        """Price of these tokens in US dollars (>= 0)."""
        return 0.0

    async def complete(self, request: Request) -> Reply:
        """Make one attempt at one request, without retries.

        Raises:
            Verdict: the outcome is a refusal, or the prompt is too long.
            Fault: no words came; the gateway tries again or stops the run.
        """
        raise NotImplementedError

    async def close(self) -> None:
        """Close connections; called once, on the loop that made the calls."""
