"""The wordless protocol, under which a team gathers, meets and publishes without a call.

It serves models of who works with whom, where words do not matter, and measurements of speed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import Field

from virsci_society.agents.errors import Dissolved
from virsci_society.protocols.team_assembly import AssembledTeam, assemble
from virsci_society.society.kernel.durations import Duration, FixedDuration, Process, parse_days
from virsci_society.society.teams.contracts import Manuscript, TeamProtocol
from virsci_society.society.teams.team import AuthorOrder

if TYPE_CHECKING:
    import numpy as np

    from virsci_society.society.teams.lab import Lab
    from virsci_society.society.teams.team import Team

KEYWORDS = 3
"""Interests of its members that a paper names."""


@dataclass(frozen=True)
class WordlessText:
    """The text of a paper that nobody has written: its keywords in a sentence."""

    title: str
    abstract: str

    def words(self) -> str:
        """Title and abstract."""
        return f"{self.title}\n{self.abstract}"


class Wordless(AssembledTeam, TeamProtocol):
    """People are drawn by a policy, join at once, meet some times and publish (this project).

    Whoever is drawn comes: nobody declines, and nobody at the limit of teams is drawn. The paper
    is made up from interests of its authors.
    """

    author_order: AuthorOrder = "leader_first"
    """``leader_first``: the leader, then the others as they joined. ``leader_last``: the
    others, and the leader at the end. Source: VirSci; `leader_last`: this project."""
    meetings: int = Field(default=3, ge=0, le=10_000)
    """Meetings, each called with its notice, with homework between two of them. Unit: meetings.
    Source: assumed."""
    meeting: Duration = Field(default_factory=lambda: FixedDuration(length=parse_days("1h")))
    """How long a meeting lasts. Unit: days. Source: assumed: one hour."""
    references: int = Field(default=0, ge=0, le=50)
    """Papers that a paper cites: those nearest to its text among what is published. Unit: papers.
    Source: assumed: none."""

    @property
    def stages(self) -> frozenset[str]:
        """The only stage, ``meetings``."""
        return frozenset({"meetings"})

    def run(self, team: Team, lab: Lab) -> Process[Manuscript]:
        """Draw the members, hold the meetings, hand in a manuscript."""
        self._draw_members(team, lab)
        yield from lab.stage("meetings", self._hold_meetings(lab))
        text = _compose(_draw_keywords(lab, lab.rng("keywords")), team.size)
        team.notes["topic"] = text.title
        near = lab.library.search(text.words(), self.references) if self.references else ()
        # The text of a manuscript is an Answer, also where nobody was asked.
        return Manuscript(
            text=lab.later(lambda text: text, text),
            cites=lab.later(lambda near: tuple(paper.id for paper in near), near),
            author_order=self.author_order,
        )

    @property
    def order_of_authors(self) -> AuthorOrder:
        """The order in which authors are named."""
        return self.author_order

    def _draw_members(self, team: Team, lab: Lab) -> None:
        """Draw and take in one member after another, each from its own stream."""
        population = lab.world.population

        def bring(mentor: int, rng: np.random.Generator) -> int:
            who = lab.people.seat_newcomer(population.names[mentor], self.newcomers, rng)
            return population.rows[who]

        leader = population.rows[team.leader]
        drawn = assemble(self, self.selection, leader, lab.world, lab.rng, bring)
        n = team.target_size = next(drawn)
        for row in drawn:
            # A newcomer has joined already, when it was brought.
            if population.names[row] not in team.members:
                lab.people.join(population.names[row])
        if team.size < self.smallest_team(n):
            raise Dissolved("too small")
        team.formed = lab.now if team.size == n else None

    def _hold_meetings(self, lab: Lab) -> Process[None]:
        for turn in range(1, self.meetings + 1):
            yield from lab.prepare()
            yield from lab.notice()
            with lab.convene(turn) as everybody:
                yield everybody
                yield from lab.wait(self.meeting.draw(lab.rng("meeting", turn)))


def _draw_keywords(lab: Lab, rng: np.random.Generator) -> list[str]:
    """Some interests of the members, in a random order."""
    known = lab.people.interests
    return [known[index] for index in rng.permutation(len(known))[:KEYWORDS].tolist()]


def _compose(keywords: list[str], size: int) -> WordlessText:
    subject = ", ".join(keywords) or "nothing in particular"
    return WordlessText(
        f"A paper on {subject}", f"{size} people worked on {subject}. No words were exchanged."
    )
