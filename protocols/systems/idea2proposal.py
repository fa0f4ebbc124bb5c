"""Idea2Proposal, by which scientists in six arrangements discuss a topic and write a proposal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from virsci_society.agents.arrays import BoolArray, IntArray
from virsci_society.agents.errors import Dissolved
from virsci_society.agents.prompts.slots import Utterance
from virsci_society.protocols.engines.forms import Contribution, Proposal
from virsci_society.protocols.engines.research_system import (
    FoundPapers,
    TeamSystem,
    TeamWork,
    proposal_as_idea,
)
from virsci_society.protocols.engines.rounds import merge_searches
from virsci_society.protocols.policies.coauthorship import Coauthorship
from virsci_society.society.careers import career_ages
from virsci_society.society.formation.selection import SelectionPolicy

if TYPE_CHECKING:
    from virsci_society.protocols.ideas import CandidateIdea
    from virsci_society.society.formation.world_view import WorldView
    from virsci_society.society.kernel.answer import Answer
    from virsci_society.society.kernel.durations import Process
    from virsci_society.society.teams.world import World

Arrangement = Literal[
    "solitary", "leaderless", "leader_led", "interdisciplinary", "vertical", "horizontal"
]
COMPOSED = ("interdisciplinary", "vertical", "horizontal")
"""Arrangements that not everybody fits."""
SENIORITY = ("early-career", "mid-career", "senior")
MAX_DRAWS = 100
"""Draws of unsuitable people before everybody suitable is listed."""


def seniority_codes(world: World) -> IntArray:
    """The class of everybody who was ever here, as its place in ``SENIORITY``."""
    people = world.population
    ages = career_ages(world, range(len(people)))
    here = np.ones(len(ages), dtype=bool)
    here[[people.rows[name] for name in sorted(people.departed_names())]] = False
    # By thirds of the careers of those who are present: what counts as long differs by field.
    low, high = np.quantile(ages[here] if here.any() else ages, [1 / 3, 2 / 3])
    return np.where(ages <= low, 0, np.where(ages >= high, 2, 1)).astype(np.int64)


def seniority_of(world: World, who: str) -> str:
    """The class of one scientist as of now."""
    return SENIORITY[int(seniority_codes(world)[world.population.rows[who]])]


def wanted_classes(arrangement: Arrangement, size: int) -> list[str]:
    """The classes of seniority of a whole team; empty where the arrangement asks for none."""
    if arrangement == "horizontal":
        return ["early-career"] * size
    if arrangement == "vertical":
        return [SENIORITY[::-1][index % 3] for index in range(size)]
    return []


class ComposedTeam(SelectionPolicy):
    """A selection policy whose draws are rejected until they fit the arrangement."""

    inner: SelectionPolicy = Coauthorship()
    """The policy by which people are drawn."""
    arrangement: Arrangement = "leaderless"
    """What the team has to be made of."""
    size: int = Field(default=3, ge=1, le=10_000)
    """Members of the whole team."""

    def suitable(self, members: Sequence[int], world: Any) -> BoolArray:
        """Who would fit into a team of these members, as a mask over the rows of the population."""
        if self.arrangement == "interdisciplinary":
            topics = world.topic_numbers
            return ~np.isin(topics, topics[list(members)])
        classes = wanted_classes(self.arrangement, self.size)
        if not classes:
            return np.ones(len(world.population), dtype=bool)
        codes = seniority_codes(world)
        present = Counter(SENIORITY[int(codes[row])] for row in members)
        left = [*(Counter(classes) - present).elements()]
        # The first of a vertical team is its senior one, who leads.
        open_now = left[:1] if self.arrangement == "vertical" and not members else left
        return np.isin(codes, [SENIORITY.index(name) for name in open_now])

    def choose(
        self,
        members: Sequence[int],
        excluded: AbstractSet[int],
        world: WorldView,
        rng: np.random.Generator,
    ) -> int | None:
        """Draw by the inner policy until somebody fits; list those who fit if that takes long."""
        suitable = self.suitable(members, world)
        closed: AbstractSet[int] = excluded
        for _ in range(MAX_DRAWS):
            row = self.inner.choose(members, closed, world, rng)
            if row is None or suitable[row]:
                return row
            closed = closed | {row}
        left = [int(row) for row in np.flatnonzero(suitable) if int(row) not in excluded]
        if not left:
            return None
        weights = self.inner.probabilities(members, left, world)
        mass = float(weights.sum())
        return left[int(rng.choice(len(left), p=weights / mass))] if mass else None

    def probabilities(
        self, members: Sequence[int], candidates: Sequence[int], world: WorldView
    ) -> np.ndarray:
        """The weights of the inner policy, 0 for those who do not fit."""
        suitable = self.suitable(members, world)[list(candidates)]
        return np.where(suitable, self.inner.probabilities(members, candidates, world), 0.0)

    def of_run(self, seed: int) -> ComposedTeam:
        """The policy with what its inner policy fixes once per run."""
        return self.model_copy(update={"inner": self.inner.of_run(seed)})


class Idea2Proposal(TeamSystem):
    """Six arrangements of a discussion that ends in a five-part proposal (Chen et al., 2025)."""

    citation: ClassVar[str] = (
        'Chen et al. 2025, "Beyond Brainstorming: What Drives High-Quality Scientific Ideas? '
        'Lessons from Multi-Agent Collaboration", section 3 and appendix.'
    )

    system: ClassVar[str] = "idea2proposal"
    published: ClassVar[Mapping[str, Any]] = {
        "speaking": "one_a_round",
        "references": 10,
        "profiles": "off",
        "temperatures": {"discussion": 0.7, "opening": 0.7, "proposal": 0.4},
    }

    arrangement: Arrangement = "leaderless"
    """``solitary``: one scientist; ``leaderless``: equals; ``leader_led``: the leader opens each
    round; ``interdisciplinary``: distinct main topics; ``vertical``: mixed career stages;
    ``horizontal``: early-career only. Source: Chen et al. 2025."""
    output: Literal["abstract", "proposal"] = "proposal"
    """The paper: the proposal, or an abstract made from it. Source: Chen et al. 2025."""
    speaking: Literal["everybody", "one_a_round"] = "everybody"
    """In a round everybody speaks in parallel, or one member in turn. Source: Chen et al. 2025,
    section 3; published program: ``one_a_round``."""
    rounds: int = Field(default=5, ge=2, le=50)
    """R: R - 1 rounds of discussion, then the synthesis. Unit: rounds. Source: Chen et al. 2025."""
    shown: int = Field(default=16, ge=1, le=200)
    """Retrieved papers shown for the synthesis. Unit: papers."""

    @model_validator(mode="after")
    def _alone_if_solitary(self) -> Idea2Proposal:
        if self.arrangement != "solitary" and self.team_size == 1:
            raise ValueError("team_size 1 is the arrangement solitary; name it so")
        return self

    @property
    def policy(self) -> SelectionPolicy:
        """The policy by which members are drawn, and leaders by ``leaders: selection``."""
        if self.arrangement not in COMPOSED:
            return self.selection
        size = self.team_size if isinstance(self.team_size, int) else 3
        return ComposedTeam(inner=self.selection, arrangement=self.arrangement, size=size)

    def gather(self, work: TeamWork) -> Process[None]:
        """Invite those who fit the arrangement; a solitary scientist is complete at once."""
        if self.arrangement == "solitary":
            work.team.formed = work.lab.now
            return
        classes = wanted_classes(self.arrangement, 3)
        if classes and seniority_of(work.lab.world, work.team.leader) not in classes:
            raise Dissolved("leader does not fit the arrangement")
        yield from super().gather(work)

    def find_idea(self, work: TeamWork) -> Process[Answer[CandidateIdea]]:
        """Discuss for R - 1 rounds and write the proposal in the last one."""
        proposal = yield from work.lab.stage("ideas", self._discuss(work))
        if self.output == "proposal":
            work.text = proposal
        return work.lab.later(partial(proposal_as_idea, work.team.leader), proposal, *work.found)

    def _discuss(self, work: TeamWork) -> Process[Answer[Proposal]]:
        lab, leader, stage = work.lab, work.team.leader, "discussion towards a proposal"
        said: tuple[Utterance, ...] = ()
        papers: tuple[FoundPapers, ...] = (work.search(work.topic),)
        for number in range(1, self.rounds):
            with (yield from work.hold_round(stage, number, self.rounds)):
                new = yield from self._hold_round(work, number, said, papers)
                papers = tuple(
                    work.search(lab.later(query_of, turn.reply, work.topic)) for turn in new
                )
                said += new
        with (yield from work.hold_round(stage, self.rounds, self.rounds)):
            proposal: Answer[Proposal] = yield from work.ask(
                leader,
                "proposal",
                Proposal,
                idea=None,
                said=said,
                references=lab.later(partial(merge_searches, self.shown), *work.found),
                standing=self.standing(work, leader),
            )
        return proposal

    def _hold_round(
        self,
        work: TeamWork,
        number: int,
        said: tuple[Utterance, ...],
        found: tuple[FoundPapers, ...],
    ) -> Process[tuple[Utterance, ...]]:
        """One round: everybody replies to the earlier rounds in parallel, after the leader."""
        members = list(work.team.members)
        shown = work.lab.later(partial(merge_searches, self.references), *found)
        opening: tuple[Utterance, ...] = ()
        if self.speaking == "one_a_round":
            members = [members[(number - 1) % len(members)]]

        def submit(place: int, who: str, page: str = "discussion") -> Answer[Contribution]:
            return work.submit(
                who,
                page,
                Contribution,
                seat=place + len(opening),
                said=(*said, *opening),
                references=shown,
                searching=True,
                standing=self.standing(work, who),
                alone=work.team.size == 1,
            )

        if self.arrangement == "leader_led" and members[0] == work.team.leader:
            leader = members.pop(0)
            (reply,) = yield from work.lab.ask_each([leader], partial(submit, page="opening"))
            opening = (Utterance(leader, reply),)
        replies = yield from work.lab.ask_each(members, submit)
        return (*opening, *map(Utterance, members, replies))

    def standing(self, work: TeamWork, who: str) -> str:
        """What a scientist reads about its standing in the arrangement; empty without one."""
        if self.arrangement in ("vertical", "horizontal"):
            seniority = seniority_of(work.lab.world, who)
            return f"{'an' if seniority == 'early-career' else 'a'} {seniority} scientist"
        topic = work.lab.people.profile(who).topic
        if self.arrangement == "interdisciplinary" and topic:
            return f"the team's expert in {topic}"
        return ""


def query_of(said: Contribution, topic: Any) -> str:
    """The search that a contribution asks for; the topic where it asks for none."""
    return said.query.strip() or said.direction.strip() or str(topic.words())
