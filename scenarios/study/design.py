"""Design: a study with everything resolved: its base, its arms, their scenarios and seeds."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scenarios.document import Document
from scenarios.schema import Scenario, read_scenario
from scenarios.study.file import StudyFile
from scenarios.study.settings import Settings, nested
from society.streams import Streams

SEED_BITS = 40
"""Short enough to be read aloud, and for every tool that counts in floating point."""


@dataclass(frozen=True)
class Arm:
    """One arm: how it is called, and the scenario keys that are its own, dotted."""

    name: str
    settings: Settings


@dataclass(frozen=True)
class Design:
    """A study that has been checked.

    Attributes:
        name: of its file or folder.
        path: the file.
        file: what it says.
        base: the scenario of every arm, before the arm's own keys.
        arms: in their order.
        scenarios: of the arms, with the seed and name of the base.
    """

    name: str
    path: Path
    file: StudyFile
    base: Scenario
    arms: tuple[Arm, ...]
    scenarios: tuple[Scenario, ...]

    @property
    def runs(self) -> int:
        """How many runs there are."""
        return len(self.arms) * self.file.replicates

    @property
    def keys(self) -> list[str]:
        """Every key that some arm has of its own, in the order of the file."""
        return list(dict.fromkeys(key for arm in self.arms for key in arm.settings))

    def seeds(self, arm: str) -> list[int]:
        """The seed of every replicate of an arm; the same for all arms of a paired study."""
        return seeds_of(self.file, arm)


def seeds_of(file: StudyFile, arm: str) -> list[int]:
    """Seeds derived from that of the study by hashing, one for each replicate."""
    streams = Streams(file.seed, "study", *(() if file.paired else (arm,)))
    return [streams.key("replicate", r) >> (64 - SEED_BITS) for r in range(file.replicates)]


def scenario_of(
    base: Scenario, settings: Settings, *, trust: bool = False, **more: Any
) -> Scenario:
    """The scenario of an arm: the base with keys of its own.

    Args:
        base: checked.
        settings: dotted keys and values.
        trust: let dotted paths in it be imported.
        **more: further keys, such as the seed.

    Raises:
        InputError: the keys and the base do not fit together.
    """
    own = Document(nested({**settings, **more}))
    return read_scenario(plain(base).lay_over(own), trust=trust)


def plain(scenario: Scenario) -> Document:
    """A checked scenario as a document again, every key with its value but what is implied."""
    return Document(scenario.to_change())
