"""What a scientist knows at a date of its own work, papers, co-authors and teams.

Everything is what the society itself counts on that date: papers and ties that are dated strictly
before it, and no words of a team that nobody has read yet.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from virsci_society.agents.profile import Profile

if TYPE_CHECKING:
    from virsci_society.society.literature.papers import Paper
    from virsci_society.society.teams.team import Team
    from virsci_society.society.teams.world import World

PAPERS = 12
"""Most papers that are told, the newest first."""
COAUTHORS = 10
"""Most co-authors that are told, those with most joint papers first."""
MEMORIES = 8
"""Most lines about teams that have ended, the newest first."""


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What is told to a scientist about itself, as lines of text.

    Attributes:
        profile: as of the date.
        year: calendar year of the date.
        papers: the newest papers, each with its year and co-authors.
        older: number of papers that are not told.
        coauthors: names with numbers of joint papers.
        teams: the teams it works in now.
        memory: how earlier teams ended, and what others asked.
    """

    profile: Profile
    year: int
    papers: tuple[str, ...] = ()
    older: int = 0
    coauthors: tuple[str, ...] = ()
    teams: tuple[str, ...] = ()
    memory: tuple[str, ...] = ()


def knowledge_of(world: World, who: str) -> Knowledge:
    """The knowledge of a scientist as of now.

    Args:
        world: of a society that stands at the date.
        who: masked name.
    """
    row = world.population.rows[who]
    papers = _papers_of(world, who)
    remembered = world.population.scientist(row).memory
    newest = sorted(remembered, key=lambda one: -one.date)[:MEMORIES]
    teams = [team for _, team in sorted(world.teams.items()) if who in team.members]
    return Knowledge(
        profile=world.population.profile(row, world.day),
        year=world.year,
        papers=tuple(_paper_line(paper, who) for paper in papers[:PAPERS]),
        older=max(0, len(papers) - PAPERS),
        coauthors=_coauthors(world, row),
        teams=tuple(_team_line(team, who) for team in teams),
        memory=tuple(one.line for one in newest),
    )


def _papers_of(world: World, who: str) -> list[Paper]:
    """All papers of a scientist before now, the newest first; those of one day by id."""
    past = world.ecosystem.past
    papers = [past[int(row)] for row in past.written_by(who)]
    papers += [p for p in world.literature.published if p.date < world.day and who in p.authors]
    return sorted(papers, key=lambda paper: (-paper.date, paper.id))


def _paper_line(paper: Paper, who: str) -> str:
    others = [author for author in paper.authors if author != who]
    return f"{paper.title} ({paper.year}{', with ' + ', '.join(others) if others else ''})"


def _coauthors(world: World, row: int) -> tuple[str, ...]:
    rows, counts = world.network.coauthors(row, world.day)
    ranked = sorted(zip((-counts).tolist(), rows.tolist(), strict=True))[:COAUTHORS]
    names = world.population.names
    return tuple(
        f"{names[other]} ({-count} joint paper{'s' * (count != -1)})" for count, other in ranked
    )


def _team_line(team: Team, who: str) -> str:
    others = [member for member in team.members if member != who]
    company = f"with {', '.join(others)}" if others else "alone so far"
    role = "you lead it" if who == team.leader else f"{team.leader} leads it"
    stage = f", now at the stage {team.stage}" if team.stage else ""
    return f"since day {team.founded:.0f} {company}; {role}{stage}"
