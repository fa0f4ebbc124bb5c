"""Topics that a scenario gives to its teams, in place of those that they would find themselves."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from virsci_society.agents.config import Part

if TYPE_CHECKING:
    from virsci_society.society.teams.lab import Lab
    from virsci_society.society.teams.team import Team

NEUTRAL = Path(__file__).with_name("neutral_topics.txt")


@cache
def neutral_topics() -> tuple[str, ...]:
    """Twenty topics that belong to no field, made for this project."""
    return tuple(NEUTRAL.read_text(encoding="utf-8").splitlines())


class GivenTopic(Part):
    """``start``: put into the discussion; ``given``, ``one_of``: the discussion is skipped."""

    may_be_free: ClassVar[bool] = False

    start: str | None = Field(default=None, min_length=1)
    """Topic with which the discussion begins. Source: VirSci, table 1: NanoGPT."""
    given: str | None = Field(default=None, min_length=1)
    """The topic itself; nobody is asked to agree or to stay."""
    one_of: Literal["neutral"] | tuple[Annotated[str, Field(min_length=1)], ...] | None = None
    """Topics from which each team is given one; arms with equal seeds share them. ``neutral``: our
    own twenty. Source: Chen et al. 2025 give 20."""

    @model_validator(mode="after")
    def _one_of_them(self) -> GivenTopic:
        stated = [value for value in (self.start, self.given, self.one_of) if value]
        if len(stated) > 1 or not (stated or self.may_be_free):
            raise ValueError("give either start or given, or a list one_of")
        return self

    def topic_for(self, team: Team, lab: Lab) -> str | None:
        """The topic that a team is given, by its founding date; None if it only begins from one."""
        topics = neutral_topics() if self.one_of == "neutral" else self.one_of
        if not topics:
            return self.given
        # Not by the team's id: arms with other leaders would then have other topics.
        rng = lab.world.streams.stream("given topic", team.founded)
        return topics[int(rng.integers(len(topics)))]
