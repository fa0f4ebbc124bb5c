"""Team assembly, seat by seat, without words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Annotated, Literal, Protocol, Self, TypeVar

from numpy.random import Generator
from pydantic import Field, model_validator

from virsci_society.agents.config import Part
from virsci_society.protocols.policies.coauthorship import Coauthorship
from virsci_society.protocols.team_sizes import TeamSize
from virsci_society.society.formation.seats import NewcomerSeats, RepeatedTeams, ResearchGroups
from virsci_society.society.formation.selection import SelectionPolicy
from virsci_society.society.formation.world_view import PapersView

W = TypeVar("W", bound=PapersView)
W_contra = TypeVar("W_contra", bound=PapersView, contravariant=True)
Bring = Callable[[int, Generator], int]
"""Lets a newcomer come: the row of its mentor and the random stream of the seat; returns its row.
"""


class TeamMembers(Part):
    """How many members a team has, and who is drawn."""

    team_size: TeamSize | Annotated[int, Field(ge=1, le=10_000)] = 4
    """Members (n), the leader included: a number or a distribution. Unit: members. Source: VirSci,
    appendix C.3."""
    min_size: Annotated[int, Field(ge=1, le=10_000)] | Literal["all"] | None = None
    """A smaller team does not start; null: 2 (1 if n = 1); ``all``: n. Unit: members."""
    selection: SelectionPolicy = Field(default_factory=Coauthorship)
    """Policy that chooses members. Source: VirSci, section 3.2."""

    @model_validator(mode="after")
    def _sizes_fit(self) -> Self:
        size, least = self.team_size, self.min_size
        if isinstance(size, int) and isinstance(least, int) and least > size:
            raise ValueError("min_size is larger than team_size; lower it, or raise team_size")
        return self

    @property
    def policy(self) -> SelectionPolicy:
        """The policy by which members are drawn."""
        return self.selection

    def smallest_team(self, wanted: int) -> int:
        """Members below which a team is dissolved."""
        return at_most(wanted, 2 if self.min_size is None else self.min_size)


def at_most(wanted: int, least: int | Literal["all"]) -> int:
    """A smallest size, which is at most the size that is wanted; ``all``: that size."""
    return wanted if least == "all" else min(wanted, least)


class SeatRules(Part):
    """Which seats of a team are not filled by the selection policy."""

    newcomers: NewcomerSeats | None = None
    """Seats filled by newcomers without invitation; null: none."""
    repeat_teams: RepeatedTeams | None = None
    """Teams that begin with co-authors of an earlier paper; null: none."""
    groups: ResearchGroups | None = None
    """Leaders ask newcomers of their own group first; null: no groups."""

    @property
    def newcomer_seats(self) -> NewcomerSeats | None:
        """Which seats newcomers take; None: none."""
        return self.newcomers


class MemberDraw(Protocol[W_contra]):
    """A selection policy that needs no more of a society than a view of it has."""

    def choose(
        self, members: Sequence[int], excluded: AbstractSet[int], world: W_contra, rng: Generator
    ) -> int | None:
        """Draw one person for a team; see ``SelectionPolicy``."""

    def of_run(self, seed: int) -> MemberDraw[W_contra]:
        """The policy for a run of this seed."""


class AssembledTeam(SeatRules, TeamMembers):
    """A team whose seats are all filled by rules, without an invitation."""


def assemble(
    rules: AssembledTeam,
    selection: MemberDraw[W],
    leader: int,
    world: W,
    rng: Callable[..., Generator],
    bring: Bring,
) -> Iterator[int]:
    """Yield the number of members that is wanted, then the row of each that is drawn."""
    members, n = [leader], 0
    if rules.repeat_teams is not None:
        earlier = rules.repeat_teams.earlier_team(leader, world, rng("again"))
        if earlier is not None:
            n = 1 + len(earlier)
            members += rules.repeat_teams.staying(
                earlier, world.unavailable() | {leader}, rng("stay")
            )
    if not n:
        n = draw_size(rules.team_size, world, rng)
    # Newcomers fill any number of seats; without them no team is larger than the society.
    n = n if rules.newcomers is not None else min(n, len(world.population))
    yield n
    yield from members[1:]
    policy = selection.of_run(world.streams.seed)
    seats = rules.newcomers
    # Once for the whole team: teams differ in how many newcomers they take.
    chance = seats.chance(world.day, rng("newcomers")) if seats is not None else 0.0
    while len(members) < n:
        stream = rng("member", len(members))
        # The first draw of the stream decides on the newcomer, so availability shifts no draw.
        if seats is not None and stream.random() < chance:
            lone = rules.groups is not None
            mentor = leader if lone else members[int(stream.integers(len(members)))]
            row: int | None = bring(mentor, stream)
        else:
            row = _draw_incumbent(rules.groups, policy, members, world, stream)
        if row is None:
            return
        members.append(row)
        yield row


def _draw_incumbent(
    groups: ResearchGroups | None,
    policy: MemberDraw[W],
    members: list[int],
    world: W,
    rng: Generator,
) -> int | None:
    """Draw a junior of the leader's group, or else somebody by the policy."""
    excluded = world.unavailable() | {*members}
    if groups is not None:
        row = groups.choose(members[0], excluded, world, rng)
        if row is not None:
            return row
    return policy.choose(members, excluded, world, rng)


def draw_size(size: TeamSize | int, world: PapersView, rng: Callable[..., Generator]) -> int:
    """n, the leader included, as it is stated or drawn."""
    if isinstance(size, TeamSize):
        return size.draw_on(world.day, world.team_sizes, rng("size"))
    return size
