"""Hybrid: a language model speaks for some of the teams, rules for all the others.

So a small live part sits in a large living network that costs nothing. Who speaks is a function
of seed and call id alone, never of load or failure (rule 6).
"""

from __future__ import annotations

import hashlib

from pydantic import Field, model_validator

from agents.backend import Backend, Endpoint
from agents.offline.scientist import Offline
from agents.request import Reply, Request, Usage

_WHOLE = 2.0**64


class Hybrid(Backend):
    """A language model for a share of the teams, rule-based scientists for the rest.

    A team is live if it is drawn by ``live_share``, or if one of ``scientists`` leads it; in a
    live team the model answers every call, or those of ``stages``.
    """

    live: Backend = Field(
        json_schema_extra={"hint": "say which model speaks, such as {use: litellm, model: NAME}"}
    )
    """Who speaks for the live part."""
    base: Backend = Field(default_factory=Offline)
    """Who speaks for the rest: a backend that answers at once and for nothing."""
    live_share: float | None = Field(default=None, ge=0, le=1, allow_inf_nan=False)
    """Probability of a team to be live, drawn by its id; null: none but those of ``scientists``,
    or every team where only ``stages`` are named."""
    scientists: tuple[str, ...] = ()
    """Masked names; the teams that they lead are live."""
    stages: tuple[str, ...] = ()
    """Stages of live teams in which the model speaks, such as ``[topic, ideas]``; empty: all."""
    seed: int | None = None
    """Of the draw of teams; null: the seed of the run."""

    @model_validator(mode="after")
    def _fits_together(self) -> Hybrid:
        if not (self.base.rules and self.base.inline):
            raise ValueError("base takes a backend that answers at once, such as offline")
        if isinstance(self.live, Hybrid):
            raise ValueError("live takes one backend, not another hybrid")
        if self.live_share is None and not (self.scientists or self.stages):
            raise ValueError("say which teams are live: give live_share, scientists or stages")
        return self

    def of_run(self, seed: int) -> Hybrid:
        """The backend that draws the teams of this run."""
        return self if self.seed is not None else self.model_copy(update={"seed": seed})

    def voice(self, call: str) -> Backend:
        """The model where the call is of a live team and stage, else the rules."""
        leader, ordinal, stage = (*call.split("/", 3), "", "")[:3]
        spoken = not self.stages or stage in self.stages
        return self.live if spoken and self._is_live(leader, ordinal) else self.base

    def _is_live(self, leader: str, ordinal: str) -> bool:
        if leader in self.scientists:
            return True
        if self.live_share is None:
            return not self.scientists
        name = f"{self.seed or 0}\x1flive\x1f{leader}/{ordinal}".encode()
        drawn = int.from_bytes(hashlib.blake2b(name, digest_size=8).digest(), "big")
        return drawn < self.live_share * _WHOLE

    @property
    def paid(self) -> Backend:
        """The live part."""
        return self.live

    @property
    def voices(self) -> dict[str, Backend]:
        """Both, by their keys."""
        return {"live": self.live, "base": self.base}

    @property
    def inline(self) -> bool:
        """True if nobody is waited for."""
        return self.live.inline

    @property
    def about(self) -> str:
        """Who speaks for which part."""
        named = [f"teams led by {', '.join(self.scientists)}"] if self.scientists else []
        if self.live_share is not None:
            named.insert(0, f"a share of {self.live_share:g} of the teams")
        parts = " and ".join(named) or "every team"
        stages = f", in the stages {', '.join(self.stages)}" if self.stages else ""
        return f"{self.live.about}, for {parts}{stages}; for the rest {self.base.about}"

    @property
    def told(self) -> str:
        """What the model is told; the rules are told nothing."""
        return self.live.told

    @property
    def longest_reply(self) -> int:
        """The model's."""
        return self.live.longest_reply

    @property
    def room(self) -> int | None:
        """The model's."""
        return self.live.room

    @property
    def priced(self) -> bool:
        """Is the price of the model known?"""
        return bool(getattr(self.live, "priced", True))

    def endpoints(self) -> tuple[Endpoint, ...]:
        """The ways to the model."""
        return self.live.endpoints()

    def price(self, usage: Usage) -> float:
        """What the model costs."""
        return self.live.price(usage)

    async def complete(self, request: Request) -> Reply:
        """Whoever speaks answers."""
        return await self.voice(request.id).complete(request)

    async def close(self) -> None:
        """Give back the model's connections."""
        await self.live.close()
