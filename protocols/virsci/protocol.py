"""The VirSci protocol, by which a team goes from an invitation to an abstract."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from virsci_society.agents.errors import Dissolved
from virsci_society.protocols.collaborator_selection import select_collaborators
from virsci_society.protocols.discussion import Discussion
from virsci_society.protocols.forms import Topic
from virsci_society.protocols.given_topics import GivenTopic
from virsci_society.protocols.ideas import CandidateIdea, idea_text, retrieved_references
from virsci_society.protocols.virsci.abstract import (
    Abstract,
    AbstractStage,
    abstract_of,
    write_abstract,
)
from virsci_society.protocols.virsci.ideas import Ideas, generate_ideas
from virsci_society.protocols.virsci.novelty import assess_novelty
from virsci_society.protocols.virsci.released_code import ReleasedDiscussion
from virsci_society.protocols.virsci.searches import GUEST_PAPERS
from virsci_society.protocols.virsci.settings import Profile, VirSciSettings
from virsci_society.protocols.virsci.team_memory import TeamMemory
from virsci_society.protocols.virsci.topic import discuss_topic
from virsci_society.society.kernel.answer import Answer
from virsci_society.society.kernel.durations import Process
from virsci_society.society.teams.contracts import Manuscript, TeamProtocol

if TYPE_CHECKING:
    from virsci_society.society.teams.lab import Lab
    from virsci_society.society.teams.team import AuthorOrder, Team


STAGES = {
    "topic": "topic discussion",
    "ideas": "idea generation",
    "novelty": "novelty assessment",
    "abstract": "abstract generation",
}
"""The stages that are discussed, and what prompts call them."""


class VirSci(VirSciSettings, TeamProtocol):
    """The five-stage protocol of VirSci with every switch of its paper (Su et al., 2025)."""

    citation: ClassVar[str] = (
        'Su et al., "Many Heads Are Better Than One: Improved Scientific Idea Generation by A '
        'LLM-Based Multi-Agent System", ACL 2025, sections 3 and appendices B to H.'
    )

    @property
    def stages(self) -> frozenset[str]:
        """The four stages that are discussed."""
        return frozenset(STAGES)

    @property
    def order_of_authors(self) -> AuthorOrder:
        """The order in which authors are named."""
        return self.author_order

    def turns_of(self, stage: str) -> int:
        """Turns of a stage that is discussed."""
        if isinstance(self.turns, int):
            return self.turns
        turns: int = getattr(self.turns, "assessment" if stage == "novelty" else stage)
        return turns

    def run(self, team: Team, lab: Lab) -> Process[Manuscript]:
        """Select collaborators, agree on a topic, generate and assess ideas, write the abstract."""
        memory = TeamMemory(self.pages, self.prompts, self.references)
        selection = select_collaborators(
            team, lab, self, memory.prompts, coded=self.prompts.choices == "coded"
        )
        yield from lab.stage("selection", selection)
        given_topic = self.topic.topic_for(team, lab)
        topic: Answer[Topic] | Topic
        if given_topic is not None:
            topic = team.notes["topic"] = Topic(topic=given_topic)
        else:
            topic = yield from discuss_topic(
                team,
                lab,
                self.topic,
                memory,
                partial(self._discussion, team, lab, memory, "topic"),
                smallest=self.smallest_after_leaving(team.target_size),
                forced_after=self.released_code.forced_after,
            )
        memory.topic = topic
        # After two strikes the team begins again with new ideas, its topic kept.
        for _ in range(self.abstract.new_ideas + 1):
            # Advice to the last speaker is heard by those who write, or the guest joins the team.
            later = memory.carries or self.released_code.guests == "join"
            heard = later or self.ideas.dialogue == "on"
            discussion = self._discussion(team, lab, memory, "ideas", heard, later)
            scored = self.confidence.first_idea == "scored"
            steps = generate_ideas(discussion, topic, self.ideas, memory, first_scored=scored)
            ideas = yield from lab.stage("ideas", steps)
            # Without assessment the last scientist's idea is taken (Table 6).
            best = ideas[-1]
            if self.novelty_assessment == "on":
                discussion = self._discussion(team, lab, memory, "novelty")
                weights, released = self.confidence.weights, self.released_code
                assessment = assess_novelty(
                    discussion, ideas, self.assessment, weights, memory, released
                )
                best = yield from lab.stage("novelty", assessment)
            team.notes["idea"] = best
            abstract = yield from write_abstract(
                team,
                lab,
                partial(self._discussion, team, lab, memory, "abstract", heard_later=False),
                self.abstract,
                best,
                memory,
                without_title=self.neighbour_query == "abstract_only",
            )
            if abstract is not None:
                return self._make_manuscript(lab, abstract, best, ideas)
        raise Dissolved("too close to the past")

    def _make_manuscript(
        self, lab: Lab, abstract: Answer[Abstract], best: Answer[CandidateIdea], ideas: Ideas
    ) -> Manuscript:
        """The manuscript, with its citations and the text to embed."""
        if self.cites == "used":
            cites = lab.later(attrgetter("used"), best)
        else:
            cites = lab.later(retrieved_references, *ideas)
        neighbour_query: Answer[str] | None = None
        if self.neighbour_query == "idea":
            neighbour_query = lab.later(idea_text, best)
        elif self.neighbour_query == "abstract_only":
            neighbour_query = lab.later(abstract_of, abstract)
        return Manuscript(
            text=abstract,
            cites=cites,
            neighbour_query=neighbour_query,
            author_order=self.author_order,
        )

    def _discussion(
        self,
        team: Team,
        lab: Lab,
        memory: TeamMemory,
        stage: str,
        heard: bool = True,
        heard_later: bool = True,
    ) -> Discussion:
        """The discussion of one stage, under the name that prompts give it."""
        released, references = self.released_code, self.references
        # The paper's own discussion stays without what only the published program does.
        make: Callable[..., Discussion] = Discussion
        if released.guests == "join" or released.asking == "by_the_way":
            make = partial(ReleasedDiscussion, released)
        return make(
            self.discussion.in_stage(stage, heard=heard),
            team,
            lab,
            self.turns_of(stage),
            memory.prompts,
            name=STAGES[stage],
            heard_later=heard_later,
            recalls=self.memory == "own",
            sentences=references.sentences,
            guest_papers=GUEST_PAPERS if references.guest == "on" else 0,
        )


class SoloVirSci(TeamProtocol):
    """VirSci with a team of one, as a control (Su et al., 2025, n = 1)."""

    citation: ClassVar[str] = "Su et al. 2025 (VirSci), Figure 4, n = 1."

    profile: Profile = "paper"
    """As in ``virsci``."""
    turns: int = Field(default=5, ge=1, le=10_000)
    """Turns of each stage (K). Unit: turns."""
    topic: Literal["free"] | GivenTopic = "free"
    """``free``: the leader proposes a topic; a section gives one, or a start. Source: VirSci,
    appendix C.3."""
    memory: Literal["off", "own"] = "off"
    """``own``: up to five lines from the scientist's other teams, except when assessing."""
    neighbour_query: Literal["abstract", "abstract_only", "idea"] = "abstract"
    """Embedded text of the paper: title and abstract, abstract alone, or idea. Source: VirSci,
    section 4.1."""
    abstract: AbstractStage = Field(default_factory=AbstractStage)
    """How the abstract is written and reviewed. Source: VirSci, section 3.5."""

    @property
    def name(self) -> str:
        """The name in the tables."""
        return "solo_virsci"

    @property
    def stages(self) -> frozenset[str]:
        """The stages of VirSci."""
        return self.virsci.stages

    @property
    def virsci(self) -> VirSci:
        """The protocol that it stands for."""
        values = {name: getattr(self, name) for name in type(self).model_fields}
        topic = {} if self.topic == "free" else self.topic.model_dump(exclude_none=True)
        # Nobody can leave a team of one, so the question is skipped.
        values["topic"] = {**topic, "leaving": "off"}
        return VirSci(team_size=1, **values)

    def run(self, team: Team, lab: Lab) -> Process[Manuscript]:
        """All five stages by one scientist."""
        return self.virsci.run(team, lab)
