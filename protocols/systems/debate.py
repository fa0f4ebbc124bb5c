"""A debate of several scientists, as a baseline for systems with roles and stages.

``docs/protocols/debate.md`` says what is faithful and what is adapted.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field

from virsci_society.agents.arrays import VectorArray
from virsci_society.agents.config import Switch
from virsci_society.protocols.parts.forms import RefinedIdea
from virsci_society.protocols.parts.research_system import TeamSystem
from virsci_society.protocols.parts.steps import pose_refinement, unit_vector
from virsci_society.protocols.parts.team_work import TeamWork

if TYPE_CHECKING:
    from virsci_society.protocols.ideas import CandidateIdea
    from virsci_society.society.kernel.answer import Answer
    from virsci_society.society.kernel.durations import Process

Ideas = tuple["Answer[CandidateIdea]", ...]


class Debate(TeamSystem):
    """Ideas put forward alone, revised in sight of the others', and a count (Du et al., 2023)."""

    citation: ClassVar[str] = (
        'Du et al. 2023, "Improving Factuality and Reasoning in Language Models through '
        'Multiagent Debate", arXiv:2305.14325.'
    )

    system: ClassVar[str] = "debate"

    published: ClassVar[Mapping[str, Any]] = {"rounds": 1, "literature": "off", "profiles": "off"}

    rounds: int = Field(default=2, ge=1, le=50)
    """Rounds of debate, after everybody has put forward an idea. Unit: rounds. Source: Du et al.
    2023 (1); the value is assumed."""
    literature: Switch = "on"
    """Are papers shown? Source: Du et al. 2023 (off); on: this project."""
    similarity: float = Field(default=0.8, gt=0, le=1)
    """Cosine of two ideas from which they count as the same answer. Unit: cosine. Source:
    assumed."""

    def find_idea(self, work: TeamWork) -> Process[Answer[CandidateIdea]]:
        """Put forward, debate, count the answers."""
        ideas = yield from work.lab.stage("ideas", self._debate(work))
        vectors = tuple(work.lab.library.embed(idea) for idea in ideas)
        return work.lab.later(partial(most_frequent, self.similarity), vectors, ideas)

    def _debate(self, work: TeamWork) -> Process[Ideas]:
        rounds = self.rounds + 1
        with (yield from work.hold_round("debate", 1, rounds)):
            # In the meeting, since who is a member may change until it is held.
            authors = tuple(work.team.members)
            ideas = yield from work.propose(authors, self._papers_near(work, work.topic))
        for number in range(2, rounds + 1):
            with (yield from work.hold_round("debate", number, rounds)):
                ideas = yield from self._revise_in_sight(work, authors, ideas)
        return ideas

    def _papers_near(self, work: TeamWork, text: Any) -> Any:
        return work.search(text) if self.literature == "on" else ()

    def _revise_in_sight(
        self, work: TeamWork, authors: tuple[str, ...], ideas: Ideas
    ) -> Process[Ideas]:
        """Every author who is still a member revises its own idea in sight of the others'."""
        places = [place for place, author in enumerate(authors) if author in work.team.members]
        near = {place: self._papers_near(work, ideas[place]) for place in places}

        def pose(index: int, who: str) -> Answer[RefinedIdea]:
            place = places[index]
            others = ideas[:place] + ideas[place + 1 :]
            return pose_refinement(work, who, ideas[place], near[place], place, others=others)

        said = yield from work.lab.ask_each([authors[place] for place in places], pose)
        after = dict(enumerate(ideas))
        for place, one in zip(places, said, strict=True):
            after[place] = work.candidate(authors[place], one, near[place], ideas[place])
        return tuple(after.values())


def most_frequent(
    threshold: float, vectors: tuple[VectorArray, ...], ideas: tuple[CandidateIdea, ...]
) -> CandidateIdea:
    """The answer that most have given: the idea to which most of all ideas are alike.

    Of ideas with equally many, the one nearest to all others; of equally near ones the earliest.

    Args:
        vectors: one per idea, of shape (1, dim) or (dim,).
        ideas: at least one.
    """
    units = [unit_vector(vector) for vector in vectors]
    # Rounded, so that the last digits of a sum on another machine decide nothing.
    cosines = [[round(float(one @ other), 9) for other in units] for one in units]
    alike = [sum(cosine >= threshold for cosine in row) for row in cosines]
    nearness = [round(sum(row), 6) for row in cosines]
    return ideas[max(range(len(ideas)), key=lambda at: (alike[at], nearness[at], -at))]
