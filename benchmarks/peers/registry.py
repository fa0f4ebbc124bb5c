"""The systems that are compared: their packages, versions, adapters, and what sets them apart."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Peer:
    """One row of the table.

    Attributes:
        name: as the table says it.
        adapter: file in this folder that drives it.
        package: name on PyPI; empty: nothing but Python, or this project.
        version: pinned version of the package.
        protocol: what teams of this project do; other systems have no use for it.
        long_only: the row is in the long form only.
    """

    name: str
    adapter: str
    package: str = ""
    version: str = ""
    protocol: str = "chain"
    long_only: bool = False

    @property
    def lock(self) -> Path:
        """The file with all packages of its environment, each at a pinned version."""
        return HERE / "locks" / f"{self.package}.txt"

    @property
    def title(self) -> str:
        """Name and version."""
        return f"{self.name} {self.version}".strip()


PEERS = (
    Peer("plain asyncio", "plain_asyncio.py"),
    Peer("this project", "society_teams.py"),
    Peer("this project, VirSci", "society_teams.py", protocol="virsci", long_only=True),
    Peer("Concordia", "concordia_entities.py", "gdm-concordia", "2.1.0"),
    Peer("mesa-llm", "mesa_llm_agents.py", "mesa-llm", "0.2.0"),
    Peer("OASIS", "oasis_agents.py", "camel-oasis", "0.2.5"),
)
