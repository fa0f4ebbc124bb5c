"""The wordless protocol, under which a team gathers, meets and publishes without a call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from pydantic import Field

from virsci_society.agents.errors import Dissolved
from virsci_society.protocols.team_assembly import AssembledTeam, assemble
from virsci_society.society.kernel.durations import Duration, FixedDuration, Process, parse_days
from virsci_society.society.literature.landscape import appearance
from virsci_society.society.teams.contracts import Manuscript, TeamProtocol
from virsci_society.society.teams.execution import (
    EVERYBODY,
    REPLICATES,
    landscape_of,
    worth_of_text,
)
from virsci_society.society.teams.team import AuthorOrder

if TYPE_CHECKING:
    import numpy as np

    from virsci_society.agents.prompts.slots import Reference
    from virsci_society.society.kernel.answer import Answer
    from virsci_society.society.literature.papers import Paper
    from virsci_society.society.teams.lab import Lab
    from virsci_society.society.teams.team import Team

KEYWORDS = 3
"""Interests of its members that a paper names."""


@dataclass(frozen=True)
class WordlessText:
    """The text of a paper that nobody has written: its keywords in a sentence."""

    title: str
    abstract: str
    keywords: tuple[str, ...] = ()

    def words(self) -> str:
        """Title and abstract."""
        return f"{self.title}\n{self.abstract}"


class Wordless(AssembledTeam, TeamProtocol):
    """Teams without dialogue: members are drawn by a policy, join at once, meet and publish.

    Whoever is drawn comes: nobody declines, and nobody at the limit of teams is drawn. The paper
    is made up from interests of its authors.
    """

    author_order: AuthorOrder = "leader_first"
    """The leader first or last, the others in order of joining. Source: VirSci: first."""
    meetings: int = Field(default=3, ge=0, le=10_000)
    """Meetings, with homework between them. Unit: meetings."""
    meeting: Duration = Field(default_factory=lambda: FixedDuration(length=parse_days("1h")))
    """Length of a meeting."""
    ideas: int = Field(default=1, ge=1, le=1000)
    """Ideas from which the team takes the most promising (``execution.signal``). Unit: ideas."""
    learning: float = Field(default=0.0, ge=0, le=1)
    """Probability that an idea varies the best outcome known to a member (``execution.informed``).
    Unit: probability."""
    replication: float = Field(default=0.0, ge=0, le=1)
    """Probability of repeating another team's recorded success. Unit: probability."""
    references: int = Field(default=0, ge=0, le=50)
    """Papers cited: those nearest to the text. Unit: papers."""

    @property
    def stages(self) -> frozenset[str]:
        """The only stage, ``meetings``."""
        return frozenset({"meetings"})

    def run(self, team: Team, lab: Lab) -> Process[Manuscript]:
        """Draw the members, hold the meetings, hand in a manuscript."""
        self._draw_members(team, lab)
        yield from lab.stage("meetings", self._hold_meetings(lab))
        repeated = self._draw_replicated(team, lab)
        if repeated is None:
            text = self._choose_idea(team, lab)
        else:
            said = f"{team.size} people repeated it. No words were exchanged."
            text = WordlessText(f"A replication of {repeated.title}", said, repeated.keywords)
            team.notes[REPLICATES] = repeated.id
        team.notes["topic"] = text.title
        near: Answer[tuple[Reference, ...]] | tuple[()] = ()
        if self.references:
            near = lab.library.search(text.words(), self.references)
        # The text of a manuscript is an Answer, also where nobody was asked.
        return Manuscript(
            text=lab.later(lambda text: text, text),
            cites=lab.later(partial(_cited, repeated), near),
            author_order=self.author_order,
        )

    @property
    def needs_execution(self) -> str | None:
        """The first of the keys that work on outcomes, if one is set."""
        usual = type(self).model_fields
        keys = ("ideas", "learning", "replication")
        return next((key for key in keys if getattr(self, key) != usual[key].default), None)

    @property
    def order_of_authors(self) -> AuthorOrder:
        """The order in which authors are named."""
        return self.author_order

    def _draw_replicated(self, team: Team, lab: Lab) -> Paper | None:
        """The paper of another team that this one repeats; None: it has an idea of its own."""
        if not self.replication:
            return None
        rng, literature = lab.rng("replication"), lab.world.literature
        if rng.random() >= self.replication:
            return None
        # In random order, so that only a few of many papers are checked.
        for index in rng.permutation(len(lab.world.on_record)).tolist():
            paper = literature.paper(lab.world.on_record[index])
            # Strictly before today: so are papers found (rule 13).
            if paper.date < lab.now and not set(team.members) & set(paper.authors):
                return paper
        return None

    def _choose_idea(self, team: Team, lab: Lab) -> WordlessText:
        """The idea that looks best of some; the first where they look alike."""
        ideas = [self._have_idea(team, lab, number) for number in range(self.ideas)]
        world, execution = lab.world, lab.world.execution
        if execution is None or len(ideas) == 1:
            return ideas[0]
        rng, looks = lab.rng("appearance"), []
        for number, idea in enumerate(ideas):
            worth = worth_of_text(world, f"{team.id}/idea {number}", idea.words())
            standing = landscape_of(world).standardised(worth)
            looks.append(appearance(execution.signal, standing, float(rng.standard_normal())))
        return ideas[looks.index(max(looks))]

    def _have_idea(self, team: Team, lab: Lab, number: int) -> WordlessText:
        """An idea of some interests of the members, or a step from the best that they know."""
        rng, interests = lab.rng("keywords", *([number] if number else [])), lab.people.interests
        order = rng.permutation(len(interests))[:KEYWORDS].tolist()
        keywords, lessons = [interests[index] for index in order], lab.world.lessons
        heard = [lessons[member] for member in (*team.members, EVERYBODY) if member in lessons]
        if self.learning and heard and rng.random() < self.learning:
            best = max(heard)[1]
            # Its last keywords stay: the first makes room for a new one.
            keywords = list(dict.fromkeys([*best[1:], *keywords]))[: max(len(best), 1)]
        subject = ", ".join(keywords) or "nothing in particular"
        said = f"{team.size} people worked on {subject}. No words were exchanged."
        return WordlessText(f"A paper on {subject}", said, tuple(keywords))

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


def _cited(repeated: Paper | None, near: Sequence[Reference]) -> tuple[str, ...]:
    """The ids of the papers that are cited, what is repeated first."""
    first = () if repeated is None else (repeated.id,)
    return tuple(dict.fromkeys([*first, *(paper.id for paper in near)]))
