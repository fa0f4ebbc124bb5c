"""Zollman's model, in which scientists try two methods and hear of results along a network."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar, Literal, Self

from pydantic import Field, model_validator

from virsci_society.agents.errors import Dissolved, InputError
from virsci_society.society.teams.contracts import Manuscript, TeamProtocol

if TYPE_CHECKING:
    from virsci_society.society.kernel.durations import Process
    from virsci_society.society.teams.lab import Lab
    from virsci_society.society.teams.team import Team
    from virsci_society.society.teams.world import World

KNOWN_SUCCESS = 0.5
"""Probability that a trial of the worse method succeeds (Zollman 2010)."""
LARGEST_PRIOR = 4.0
"""Priors are Beta distributions whose parameters are uniform between 0 and this (Zollman 2010)."""
BEGUN = "has begun already"
"""Why a second team of the same scientist ends at once."""

Result = tuple[float, int, int]
"""Date of some trials, the method (0 or 1), and how many of them succeeded."""


class Bandit(TeamProtocol):
    """Single scientists try the apparently better of two methods and share results in a network.

    Every scientist leads one team of one, which works to the end of the run and publishes nothing.
    """

    citation: ClassVar[str] = "Zollman 2010"

    network: Literal["cycle", "wheel", "complete", "coauthors"] = "cycle"
    """Who sees whose results: a ring (``cycle``), a ring with a hub (``wheel``), everybody
    (``complete``) or co-authors before day 0. Source: Zollman 2010; ``coauthors``: ours."""
    community: int | None = Field(default=None, ge=3, le=10_000)
    """Size of a community; the society consists of as many as fit; null: one. Unit: people. Source:
    Zollman 2010: 3 to 11."""
    edge: float = Field(default=0.001, gt=0, le=0.5)
    """Success rate of the better method minus 0.5, the rate of the other. Unit: probability.
    Source: Zollman 2010."""
    trials: int = Field(default=1000, ge=1, le=1_000_000)
    """Trials per scientist and day. Unit: trials. Source: Zollman 2010."""

    @model_validator(mode="after")
    def _one_network(self) -> Self:
        if self.network == "coauthors" and self.community is not None:
            raise ValueError(
                "network: coauthors is one community; leave community out, or choose cycle, wheel "
                "or complete"
            )
        return self

    def run(self, team: Team, lab: Lab) -> Process[Manuscript]:
        """Try a method every day, to the end of the run."""
        return (yield from lab.stage("trials", self._try(team, lab)))

    def _try(self, team: Team, lab: Lab) -> Process[Manuscript]:
        world, rng, row = lab.world, lab.rng("trials"), lab.world.population.rows[team.leader]
        board: dict[int, list[Result]] = world.shared.setdefault("bandit", {})
        if row in board:
            raise Dissolved(BEGUN)
        number, heard_from = self._neighbours(row, world)
        board[row] = []
        read = dict.fromkeys([row, *heard_from], 0)
        # Successes and failures of either method, as a Beta distribution counts them.
        beliefs = rng.uniform(0.0, LARGEST_PRIOR, (2, 2)).tolist()
        team.notes["community"] = number
        while True:
            for other, place in read.items():
                results = board.get(other, [])
                # Strictly before now: the order within a day changes nothing (rule 11).
                while place < len(results) and results[place][0] < lab.now:
                    _, used, successes = results[place]
                    beliefs[used][0] += successes
                    beliefs[used][1] += self.trials - successes
                    place += 1
                read[other] = place
            looks = [successes / (successes + failures) for successes, failures in beliefs]
            method = int(looks[1] > looks[0])
            if method != team.notes.get("better"):
                team.notes |= {"better": method, "since": lab.now}
            chance = KNOWN_SUCCESS + method * self.edge
            board[row].append((lab.now, method, int(rng.binomial(self.trials, chance))))
            yield from lab.wait(1.0)

    def _neighbours(self, row: int, world: World) -> tuple[int, Iterable[int]]:
        """The number of a scientist's community, and the rows of its neighbours there."""
        if self.network == "coauthors":
            return 0, world.network.coauthors(row, 0.0)[0].tolist()
        people = len(world.ecosystem.profiles)
        size = self.community or people
        if people % size:
            raise InputError(
                f"protocol.community: {people} people do not make communities of {size} each; "
                "change it or the number of people"
            )
        number, place = divmod(row, size)
        return number, [
            number * size + neighbour for neighbour in neighbours(self.network, place, size)
        ]


def neighbours(network: str, place: int, size: int) -> list[int]:
    """The positions of a scientist's neighbours in its community."""
    if network == "complete" or (network == "wheel" and place == 0):
        return [index for index in range(size) if index != place]
    first = 1 if network == "wheel" else 0
    ring = size - first
    near = {first + (place - first + step) % ring for step in (-1, 1)} - {place}
    return [*range(first), *sorted(near)]
