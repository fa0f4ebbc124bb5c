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
    request's hash, so no run is resumed by another model. ``execution`` names the settings
    that change how a call is made, and never what is said; ``about`` is repeated by every output.

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
        """True if rules answer, and not a model."""
        return False

    @property
    def paid(self) -> Backend:
        """The backend that is connected to and paid for: itself, or the live part of a hybrid."""
        return self

    def with_paid(self, paid: Backend) -> Backend:
        """The same backend, with another one in the place of the one that is paid for."""
        return paid

    @property
    def parts(self) -> dict[str, Backend]:
        """Backends of which this one is made, by their keys in the scenario."""
        return {}

    def backend_for(self, call: str, who: str = "") -> Backend:
        """The backend that answers a call, itself or a part, by call and scientist alone."""
        return self

    def of_run(self, seed: int) -> Backend:
        """The backend for a run of this seed: itself, unless it draws at random."""
        return self

    @property
    def about(self) -> str:
        """One sentence for reports: what kind of scientists answers."""
        return type(self).__name__

    @property
    def slots(self) -> int | None:
        """Most calls that it answers at a time; None: any number."""
        return None

    @property
    def served_name(self) -> str:
        """The name that a model of this machine gives itself, with its hash; empty: not known."""
        return ""

    @property
    def record(self) -> dict[str, Any]:
        """What the manifest of a run says of the model beside its settings."""
        return {}

    @property
    def model_settings(self) -> str:
        """Model name and sampling as canonical text; part of every request's hash."""
        return ""

    @property
    def sends_schema(self) -> bool:
        """True if the form's JSON Schema goes along with a request; pages then show no JSON."""
        return False

    @property
    def max_reply_tokens(self) -> int:
        """Most tokens that a reply can have; 0 where that is not known."""
        return 0

    @property
    def max_prompt_characters(self) -> int | None:
        """Most characters of messages that the model can read; None: not known."""
        return None

    @property
    def unreadable_advice(self) -> str:
        """What a user can do where replies cannot be read."""
        return "Use another model"

    def endpoint(self) -> Endpoint:
        """The endpoint, made anew for each run."""
        return Endpoint("", self.complete)

    @property
    def free(self) -> bool:
        """True if the model runs on this machine, and nobody is paid for it."""
        return False

    @property
    def priced(self) -> bool:
        """True if ``price`` knows what the tokens cost."""
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
