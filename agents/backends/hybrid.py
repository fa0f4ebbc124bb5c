"""A backend in which a model answers for some teams, by seed and call id alone (rule 6)."""

from __future__ import annotations

import hashlib
from typing import Any, ClassVar

from pydantic import Field, PrivateAttr, model_validator

from virsci_society.agents.gateway.backend import Backend, Endpoint
from virsci_society.agents.offline.backend import Offline
from virsci_society.agents.prompts.request import Reply, Request, Usage

_WHOLE = 2.0**64


def _of_live(name: str) -> Any:
    """A property that has the value of the live part, which alone is connected to and paid."""
    return property(lambda self: getattr(self.live, name), doc="That of the live part.")


class Hybrid(Backend):
    """A model for teams drawn by ``live_share`` or led by ``scientists``; rules for the rest."""

    live: Backend = Field(
        json_schema_extra={
            "hint": "name the model that answers, such as {use: litellm, model: NAME}"
        }
    )
    """Backend of the live teams."""
    base: Backend = Field(default_factory=Offline)
    """Backend of all others; it must answer at once and free of charge."""
    live_share: float | None = Field(default=None, ge=0, le=1, allow_inf_nan=False)
    """Probability that a team is live; null: only teams of ``scientists``, or all if only
    ``stages`` is given. Unit: probability."""
    scientists: tuple[str, ...] = ()
    """Scientists (masked names) whose teams are live."""
    stages: tuple[str, ...] = ()
    """Stages of live teams answered by the model, such as ``[topic, ideas]``; empty: all."""

    _seed: int = PrivateAttr(default=0)

    inline: ClassVar[Any] = _of_live("inline")
    free: ClassVar[Any] = _of_live("free")
    priced: ClassVar[Any] = _of_live("priced")
    model_settings: ClassVar[Any] = _of_live("model_settings")
    sends_schema: ClassVar[Any] = _of_live("sends_schema")
    max_reply_tokens: ClassVar[Any] = _of_live("max_reply_tokens")
    max_prompt_characters: ClassVar[Any] = _of_live("max_prompt_characters")

    @model_validator(mode="after")
    def _fits_together(self) -> Hybrid:
        if not (self.base.rule_based and self.base.inline):
            raise ValueError("base needs a backend that answers at once, such as offline")
        if isinstance(self.live, Hybrid):
            raise ValueError("live needs one backend, not another hybrid")
        if self.live_share is None and not (self.scientists or self.stages):
            raise ValueError("say which teams are live: give live_share, scientists or stages")
        return self

    def of_run(self, seed: int) -> Hybrid:
        """The backend with the seed of this run for its draw of teams."""
        of_run = self.model_copy()
        of_run._seed = seed
        return of_run

    def backend_for(self, call: str, who: str = "") -> Backend:
        """The model for calls of live teams and stages, else the rules."""
        leader, ordinal, stage = (*call.split("/", 3), "", "")[:3]
        spoken = not self.stages or stage in self.stages
        return self.live if spoken and self._is_live(leader, ordinal) else self.base

    def _is_live(self, leader: str, ordinal: str) -> bool:
        if leader in self.scientists:
            return True
        if self.live_share is None:
            return not self.scientists
        # Drawn by the team and not by the call, so that one model speaks for all of its members.
        name = f"{self._seed}\x1flive\x1f{leader}/{ordinal}".encode()
        drawn = int.from_bytes(hashlib.blake2b(name, digest_size=8).digest(), "big")
        return drawn < self.live_share * _WHOLE

    @property
    def paid(self) -> Backend:
        """The live part."""
        return self.live

    def with_paid(self, paid: Backend) -> Hybrid:
        """The same hybrid with another live part."""
        return self.model_copy(update={"live": paid})

    @property
    def parts(self) -> dict[str, Backend]:
        """Both backends, by their keys."""
        return {"live": self.live, "base": self.base}

    @property
    def about(self) -> str:
        """The sentence for reports: which part answers for which teams."""
        named = [f"teams led by {', '.join(self.scientists)}"] if self.scientists else []
        if self.live_share is not None:
            named.insert(0, f"a share of {self.live_share:g} of the teams")
        parts = " and ".join(named) or "every team"
        stages = f", in the stages {', '.join(self.stages)}" if self.stages else ""
        return f"{self.live.about}, for {parts}{stages}; for the rest {self.base.about}"

    @property
    def unreadable_advice(self) -> str:
        """The live backend's advice, with its keys as in a hybrid."""
        return self.live.unreadable_advice.replace("backend.", "backend.live.")

    def endpoint(self) -> Endpoint:
        """The endpoint of the model."""
        return self.live.endpoint()

    def price(self, usage: Usage) -> float:
        """Price of these tokens at the model, in US dollars."""
        return self.live.price(usage)

    async def complete(self, request: Request) -> Reply:
        """Make one attempt at the backend that answers this call."""
        return await self.backend_for(request.id, request.who.id).complete(request)

    async def close(self) -> None:
        """Close the model's connections."""
        await self.live.close()
