"""A mixture of protocols, so that teams work in different ways in one world."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING

from pydantic import Field, model_validator

from virsci_society.agents.config import Part
from virsci_society.agents.errors import ProtocolError
from virsci_society.society.kernel.durations import Process
from virsci_society.society.teams.contracts import Manuscript, TeamProtocol

if TYPE_CHECKING:
    from virsci_society.society.kernel.streams import Streams
    from virsci_society.society.teams.lab import Lab
    from virsci_society.society.teams.team import Team


class Component(Part):
    """One protocol of a mixture."""

    share: float = Field(gt=0, le=1_000_000, allow_inf_nan=False)
    """Relative share of the teams. Unit: weight."""
    protocol: TeamProtocol
    """Protocol of these teams."""
    name: str | None = Field(default=None, min_length=1, max_length=40)
    """Name in tables; null: that of the protocol."""

    @property
    def label(self) -> str:
        """The name in the tables."""
        return self.name or self.protocol.name


class LabelledProtocol(TeamProtocol):
    """A protocol under the name that its component has in the tables."""

    label: str
    """The name in the tables."""
    protocol: TeamProtocol
    """How the team works."""

    @property
    def name(self) -> str:
        """The name in the tables."""
        return self.label

    def run(self, team: Team, lab: Lab) -> Process[Manuscript]:
        """Run one team under the protocol."""
        return self.protocol.run(team, lab)


class Mixture(TeamProtocol):
    """Each team works under one of several protocols.

    Which one is a pure function of the seed and the team's id, so two runs that found the same
    team give it the same protocol, whatever else happens in them (rule 6).
    """

    of: tuple[Component, ...] = Field(min_length=2)
    """Sections with ``share``, ``protocol`` and, if two share a protocol, ``name``."""

    @model_validator(mode="after")
    def _told_apart(self) -> Mixture:
        names = [component.label for component in self.of]
        if any(isinstance(component.protocol, Mixture) for component in self.of):
            raise ValueError("of contains a mixture; list its components instead")
        if len(set(names)) < len(names):
            raise ValueError(f"of has two components of one name ({', '.join(names)}); name them")
        if any(part.newcomer_seats and part.newcomer_seats.lead for part in self.components):
            raise ValueError(
                "of has a component with newcomers.lead above 0; set it to 0, since which protocol "
                "a team has is known only when it has a leader"
            )
        return self

    @property
    def components(self) -> tuple[TeamProtocol, ...]:
        """The protocols of the components."""
        return tuple(component.protocol for component in self.of)

    @property
    def stages(self) -> frozenset[str] | None:
        """The stages of all components; None where one of them states none."""
        of_each = [protocol.stages for protocol in self.components]
        stated = [stages for stages in of_each if stages is not None]
        return frozenset().union(*stated) if len(stated) == len(of_each) else None

    def of_team(self, team_id: str, streams: Streams) -> TeamProtocol:
        """The protocol of a team, under the name of its component."""
        # By the id of the team alone: no other team changes it (rule 6).
        point = streams.stream("protocol", team_id).random()
        ends = list(accumulate(component.share for component in self.of))
        # The last one also where rounding leaves the point behind the last end.
        chosen = self.of[min(bisect_right(ends, point * ends[-1]), len(self.of) - 1)]
        return LabelledProtocol(label=chosen.label, protocol=chosen.protocol)

    def run(self, team: Team, lab: Lab) -> Process[Manuscript]:
        """Refuse: no team works under a mixture itself."""
        raise ProtocolError(
            f"{team.id}: a mixture does not run; use the protocol that of_team returns"
        )
