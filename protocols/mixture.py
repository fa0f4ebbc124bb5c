"""Mixture: teams under different protocols, or the same one differently set, in one world."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from pydantic import Field, model_validator

from agents.errors import ProtocolError
from agents.part import Part
from society.interfaces import Manuscript, TeamProtocol

if TYPE_CHECKING:
    from society.lab import Lab
    from society.streams import Streams
    from society.team import Team, Way


class Component(Part):
    """One protocol of a mixture."""

    share: float = Field(gt=0, allow_inf_nan=False)
    """Share of the teams, relative to the other components."""
    protocol: TeamProtocol
    """How these teams work."""
    name: str | None = Field(default=None, min_length=1, max_length=40)
    """Under which tables list these teams; null: the protocol's own name."""

    @property
    def label(self) -> str:
        """The name in the tables."""
        return self.name or self.protocol.name


@dataclass(frozen=True)
class Labelled:
    """A protocol under the name of its component."""

    name: str
    protocol: TeamProtocol

    def run(self, team: Team, lab: Lab) -> Generator[Any, Any, Manuscript]:
        """The life of one team under the protocol."""
        return self.protocol.run(team, lab)


class Mixture(TeamProtocol):
    """Each team works under one of several protocols (this project).

    Which one is a pure function of the seed and the team's id, so two runs that found the same
    team give it the same protocol, whatever else happens in them (rule 6).
    """

    of: tuple[Component, ...] = Field(min_length=2)
    """The protocols: a list of sections with ``share``, ``protocol`` and, where two have the same
    protocol, ``name``."""

    @model_validator(mode="after")
    def _told_apart(self) -> Mixture:
        names = [one.label for one in self.of]
        if any(isinstance(one.protocol, Mixture) for one in self.of):
            raise ValueError("of holds a mixture; list its components instead")
        if len(set(names)) < len(names):
            raise ValueError(f"of has two components of one name ({', '.join(names)}); name them")
        return self

    @property
    def components(self) -> tuple[TeamProtocol, ...]:
        """The protocols it is made of."""
        return tuple(one.protocol for one in self.of)

    @property
    def stages(self) -> frozenset[str] | None:
        """Those of all components; None where one of them states none."""
        of_each = [one.stages for one in self.components]
        stated = [stages for stages in of_each if stages is not None]
        return frozenset().union(*stated) if len(stated) == len(of_each) else None

    def of_team(self, team_id: str, streams: Streams) -> Way:
        """The protocol of a team, under the name of its component."""
        chance = streams.stream("protocol", team_id).random()
        ends = list(accumulate(one.share for one in self.of))
        chosen = next(
            (one for one, end in zip(self.of, ends, strict=True) if chance * ends[-1] < end),
            self.of[-1],
        )
        return Labelled(chosen.label, chosen.protocol)

    def run(self, team: Team, lab: Lab) -> Generator[Any, Any, Manuscript]:
        """No team works under a mixture itself.

        Raises:
            ProtocolError: always.
        """
        raise ProtocolError(f"{team.id}: a mixture has no run of its own; ask it for of_team")
