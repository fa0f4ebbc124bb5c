"""VirSci with a single scientist, the control without collaboration (n = 1).

It is a protocol of its own, so that teams and single scientists can stand side by side in one
mixture and are told apart in the tables. It has the few keys that such a control needs; all others
of ``virsci`` are as its profile has them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from virsci_society.protocols.given_topics import GivenTopic
from virsci_society.protocols.virsci.protocol import VirSci
from virsci_society.protocols.virsci.settings import Profile, VirSciSettings
from virsci_society.society.teams.contracts import Manuscript, TeamProtocol

if TYPE_CHECKING:
    from virsci_society.society.kernel.process import Process
    from virsci_society.society.teams.lab import Lab
    from virsci_society.society.teams.team import Team


class SoloVirSci(TeamProtocol):
    """VirSci with a team of one, as a control (Su et al., 2025, n = 1)."""

    citation: ClassVar[str] = "Su et al. 2025 (VirSci), Figure 4, n = 1."

    profile: Profile = "paper"
    """As in ``virsci``."""
    turns: int = Field(default=5, ge=1, le=10_000)
    """K for all stages."""
    topic: Literal["free"] | GivenTopic = "free"
    """As in ``virsci``."""
    memory: Literal["off", "own"] = "off"
    """As in ``virsci``."""
    found_by: Literal["abstract", "abstract_only", "idea"] = "abstract"
    """As in ``virsci``."""

    @property
    def name(self) -> str:
        """The name in the tables."""
        return "solo_virsci"

    @property
    def stages(self) -> frozenset[str]:
        """The stages of VirSci."""
        return self.virsci.stages

    @property
    def virsci(self) -> VirSci:
        """The protocol that it stands for."""
        given = {name: getattr(self, name) for name in type(self).model_fields}
        topic = {} if self.topic == "free" else self.topic.model_dump(exclude_none=True)
        given["topic"] = {**topic, "leaving": "off"}
        return VirSci(settings=VirSciSettings(team_size=1, **given))

    def run(self, team: Team, lab: Lab) -> Process[Manuscript]:
        """All five stages by one scientist."""
        return self.virsci.run(team, lab)
