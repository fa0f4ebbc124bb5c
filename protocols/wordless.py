"""Wordless: a team gathers, meets and publishes; nobody is asked a word, and no call is made.

For models of who works with whom, where words do not matter, and the base of tests of speed.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, model_validator

from agents.errors import Dissolved
from agents.reference import Reference
from protocols.policies.coauthorship import Coauthorship
from protocols.sizes import TeamSize
from society.durations import Duration, Fixed, parse_days
from society.interfaces import Manuscript, SelectionPolicy, TeamProtocol
from society.steps import Steps

if TYPE_CHECKING:
    import numpy as np

    from society.lab import Lab
    from society.team import Team

KEYWORDS = 3
"""Interests of its members that a paper names."""


@dataclass(frozen=True)
class Page:
    """A paper that nobody has written: its keywords in a sentence."""

    title: str
    abstract: str

    def words(self) -> str:
        """Title and abstract."""
        return f"{self.title}\n{self.abstract}"


class Wordless(TeamProtocol):
    """People are drawn by a policy, join at once, meet some times and publish (this project).

    Whoever is drawn comes: nobody declines, and nobody at the limit of teams is drawn. The paper
    is made up from interests of its authors.
    """

    team_size: TeamSize | Annotated[int, Field(ge=1)] = 4
    """n, the leader included: a number, ``{use: observed}`` or ``{use: stated, weights: ...}``."""
    min_size: Annotated[int, Field(ge=1)] | None = None
    """Below this the team is dissolved; null: 2 (1 when n = 1)."""
    selection: SelectionPolicy = Field(default_factory=Coauthorship)
    """Who is drawn."""
    meetings: int = Field(default=3, ge=0)
    """Meetings, each called with its notice, with homework between two of them."""
    meeting: Duration = Field(default_factory=lambda: Fixed(length=parse_days("1h")))
    """How long a meeting lasts."""
    references: int = Field(default=0, ge=0, le=50)
    """Papers that a paper cites: those nearest to its text among what is published."""

    @model_validator(mode="after")
    def _sizes_fit(self) -> Wordless:
        size, least = self.team_size, self.min_size
        if isinstance(size, int) and least is not None and least > size:
            raise ValueError("min_size is larger than team_size")
        return self

    @property
    def stages(self) -> frozenset[str]:
        """The one stage there is."""
        return frozenset({"meetings"})

    def run(self, team: Team, lab: Lab) -> Generator[Any, Any, Manuscript]:
        """Gather, meet, publish."""
        self._gather(team, lab)
        yield from lab.stage("meetings", self._meet(lab))
        page = _page_on(_keywords(lab, lab.rng("keywords")), team.size)
        team.notes["topic"] = page.title
        found = lab.search(page.words(), self.references) if self.references else ()
        return Manuscript(text=lab.later(_as_is, page), cites=lab.later(_ids, found))

    def _gather(self, team: Team, lab: Lab) -> None:
        """Draw and take in one person after another, each with its own stream."""
        world, n = lab.world, self._wanted(lab)
        names, team.target_size = world.population.names, n
        policy = self.selection.of_run(world.streams.seed)
        members = [world.population.rows[team.leader]]
        while len(members) < n:
            rng = lab.rng("member", len(members))
            row = policy.choose(members, world.closed() | {*members}, world, rng)
            if row is None:
                break
            lab.join(names[row])
            members.append(row)
        if team.size < min(n, 2 if self.min_size is None else self.min_size):
            raise Dissolved("too small")
        team.formed = lab.now if team.size == n else None

    def _wanted(self, lab: Lab) -> int:
        size = self.team_size
        if isinstance(size, TeamSize):
            size = size.draw(lab.world.team_sizes, lab.rng("size"))
        return min(size, len(lab.world.population))

    def _meet(self, lab: Lab) -> Steps:
        for turn in range(1, self.meetings + 1):
            yield from lab.prepare()
            yield from lab.notice()
            with lab.convene(turn) as everybody:
                yield everybody
                yield from lab.wait(self.meeting.draw(lab.rng("meeting", turn)))


def _keywords(lab: Lab, rng: np.random.Generator) -> list[str]:
    """Some interests of the members, in a random order."""
    interests = dict.fromkeys(word for member in lab.members for word in member.interests)
    known = list(interests)
    return [known[place] for place in rng.permutation(len(known))[:KEYWORDS].tolist()]


def _page_on(keywords: list[str], size: int) -> Page:
    told = ", ".join(keywords) or "nothing in particular"
    return Page(f"A paper on {told}", f"{size} people worked on {told}. No words were exchanged.")


def _as_is(page: Page) -> Page:
    return page


def _ids(found: tuple[Reference, ...]) -> tuple[str, ...]:
    return tuple(one.id for one in found)
