"""The VirSci protocol, by which a team goes from an invitation to an abstract.

In a scenario all switches stand directly under ``protocol``. Here they are one object,
``VirSci.settings``, whose keys the reader takes from the same section (``inlined``, as for
backends); each stage is handed its own section as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field, model_validator

from virsci_society.agents.config import nest_inlined_keys
from virsci_society.agents.errors import Dissolved
from virsci_society.protocols.collaborator_selection import select_collaborators
from virsci_society.protocols.discussion import Discussion
from virsci_society.protocols.forms import Topic
from virsci_society.protocols.given_topics import GivenTopic
from virsci_society.protocols.ideas import (
    CandidateIdea,
    idea_text,
    retrieved_references,
    used_references,
)
from virsci_society.protocols.virsci.abstract import (
    Abstract,
    AbstractStage,
    abstract_of,
    write_abstract,
)
from virsci_society.protocols.virsci.ideas import Ideas, generate_ideas
from virsci_society.protocols.virsci.novelty import assess_novelty, last_idea
from virsci_society.protocols.virsci.released_code import ReleasedDiscussion
from virsci_society.protocols.virsci.searches import GUEST_PAPERS
from virsci_society.protocols.virsci.settings import Profile, VirSciSettings
from virsci_society.protocols.virsci.team_memory import TeamMemory
from virsci_society.protocols.virsci.topic import discuss_topic
from virsci_society.society.kernel.answer import Answer
from virsci_society.society.kernel.durations import Process
from virsci_society.society.teams.contracts import Manuscript, TeamProtocol

if TYPE_CHECKING:
    from virsci_society.agents.prompts.prompt import Prompts
    from virsci_society.society.formation.seats import NewcomerSeats
    from virsci_society.society.formation.selection import SelectionPolicy
    from virsci_society.society.teams.lab import Lab
    from virsci_society.society.teams.team import AuthorOrder, Team


STAGES = {
    "topic": "topic discussion",
    "ideas": "idea generation",
    "novelty": "novelty assessment",
    "abstract": "abstract generation",
}
"""The stages that are discussed, and what prompts call them."""


class VirSci(TeamProtocol):
    """The five-stage protocol of VirSci with every switch of its paper (Su et al., 2025)."""

    citation: ClassVar[str] = (
        'Su et al., "Many Heads Are Better Than One: Improved Scientific Idea Generation by A '
        'LLM-Based Multi-Agent System", ACL 2025, sections 3 and appendices B to H.'
    )

    inlined: ClassVar[str] = "settings"

    settings: VirSciSettings = Field(default_factory=VirSciSettings)
    """All switches; their keys stand beside ``use`` in a scenario."""

    @model_validator(mode="before")
    @classmethod
    def _take_keys_of_settings(cls, given: Any) -> Any:
        """Let ``VirSci(turns=3)`` stand for ``VirSci(settings={"turns": 3})``."""
        return nest_inlined_keys(cls, given)

    @property
    def stages(self) -> frozenset[str]:
        """The four stages that are discussed."""
        return frozenset(STAGES)

    @property
    def implied(self) -> frozenset[str]:
        """Keys whose values are those of the profile, and would change with it."""
        return self.settings.implied

    @property
    def pages(self) -> Prompts:
        """The prompts, those of one's own folder among them."""
        return self.settings.pages

    @property
    def order_of_authors(self) -> AuthorOrder:
        """The order in which authors are named."""
        return self.settings.author_order

    @property
    def newcomer_seats(self) -> NewcomerSeats | None:
        """Which seats of its teams newcomers take; None: none."""
        return self.settings.newcomers

    @property
    def policy(self) -> SelectionPolicy:
        """The policy by which leaders ask; ``founding.leaders: selection`` draws by it too."""
        return self.settings.selection

    def turns_of(self, stage: str) -> int:
        """Turns of a stage that is discussed."""
        turns = self.settings.turns
        if isinstance(turns, int):
            return turns
        turns_of_stage: int = getattr(turns, "assessment" if stage == "novelty" else stage)
        return turns_of_stage

    def run(self, team: Team, lab: Lab) -> Process[Manuscript]:
        """Select collaborators, agree on a topic, generate and assess ideas, write the abstract."""
        settings = self.settings
        memory = TeamMemory(settings.pages, settings.prompts, settings.references)
        selection = select_collaborators(
            team, lab, settings, memory.prompts, coded=settings.prompts.choices == "coded"
        )
        yield from lab.stage("selection", selection)
        topic = memory.topic = yield from self._settle_topic(team, lab, memory)
        # After two strikes the team begins again with new ideas, its topic kept.
        for _ in range(settings.abstract.new_ideas + 1):
            generation = self._generate_ideas(team, lab, topic, memory)
            ideas = yield from lab.stage("ideas", generation)
            if settings.novelty_assessment == "on":
                assessment = self._assess_novelty(team, lab, ideas, memory)
                best = yield from lab.stage("novelty", assessment)
            else:
                best = last_idea(ideas)
            team.notes["idea"] = best
            abstract = yield from write_abstract(
                team,
                lab,
                partial(self._discussion, team, lab, memory, "abstract", heard_later=False),
                settings.abstract,
                best,
                memory,
                without_title=settings.found_by == "abstract_only",
            )
            if abstract is not None:
                return self._make_manuscript(lab, abstract, best, ideas)
        raise Dissolved("too close to the past")

    def _settle_topic(
        self, team: Team, lab: Lab, memory: TeamMemory
    ) -> Process[Answer[Topic] | Topic]:
        settings = self.settings
        given = settings.topic.topic_for(team, lab)
        if given is not None:
            team.notes["topic"] = topic = Topic(topic=given)
            return topic
        return (
            yield from discuss_topic(
                team,
                lab,
                settings.topic,
                memory,
                partial(self._discussion, team, lab, memory, "topic"),
                smallest=settings.smallest_after_leaving(team.target_size),
                forced_after=settings.released_code.forced_after,
            )
        )

    def _generate_ideas(
        self, team: Team, lab: Lab, topic: Answer[Topic] | Topic, memory: TeamMemory
    ) -> Process[Ideas]:
        settings = self.settings
        # Advice to the last speaker is heard by those who write, or the guest joins the team.
        later = memory.carries or settings.released_code.guests == "join"
        heard = later or settings.ideas.dialogue == "on"
        discussion = self._discussion(team, lab, memory, "ideas", heard=heard, heard_later=later)
        scored = settings.confidence.first_idea == "scored"
        return generate_ideas(discussion, topic, settings.ideas, memory, first_scored=scored)

    def _assess_novelty(
        self, team: Team, lab: Lab, ideas: Ideas, memory: TeamMemory
    ) -> Process[Answer[CandidateIdea]]:
        settings = self.settings
        discussion = self._discussion(team, lab, memory, "novelty")
        weights, released = settings.confidence.weights, settings.released_code
        return assess_novelty(discussion, ideas, settings.assessment, weights, memory, released)

    def _make_manuscript(
        self, lab: Lab, abstract: Answer[Abstract], best: Answer[CandidateIdea], ideas: Ideas
    ) -> Manuscript:
        """The manuscript, with what it cites and the text that is embedded as the paper."""
        if self.settings.cites == "used":
            cites = lab.later(used_references, best)
        else:
            cites = lab.later(retrieved_references, *ideas)
        found_by: Answer[str] | None = None
        if self.settings.found_by == "idea":
            found_by = lab.later(idea_text, best)
        elif self.settings.found_by == "abstract_only":
            found_by = lab.later(abstract_of, abstract)
        order = self.settings.author_order
        return Manuscript(text=abstract, cites=cites, found_by=found_by, author_order=order)

    def _discussion(
        self,
        team: Team,
        lab: Lab,
        memory: TeamMemory,
        stage: str,
        *,
        heard: bool = True,
        heard_later: bool = True,
    ) -> Discussion:
        """The discussion of one stage, under the name that prompts give it.

        Outsiders are not consulted where nobody would hear (``heard``) what they answer.
        """
        settings, references = self.settings, memory.references
        released = settings.released_code
        # The paper's own discussion stays without what only the published program does.
        make: Callable[..., Discussion] = Discussion
        if released.guests == "join" or released.asking == "by_the_way":
            make = partial(ReleasedDiscussion, released)
        return make(
            settings.discussion.in_stage(stage, heard=heard),
            team,
            lab,
            self.turns_of(stage),
            memory.prompts,
            name=STAGES[stage],
            heard_later=heard_later,
            recalls=settings.memory == "own",
            sentences=references.sentences,
            guest_papers=GUEST_PAPERS if references.guest == "on" else 0,
        )


class SoloVirSci(TeamProtocol):
    """VirSci with a team of one, as a control (Su et al., 2025, n = 1)."""

    citation: ClassVar[str] = "Su et al. 2025 (VirSci), Figure 4, n = 1."

    profile: Profile = "paper"
    """As in ``virsci``. Source: VirSci, n = 1 in kind; the value is assumed."""
    turns: int = Field(default=5, ge=1, le=10_000)
    """K for all stages. Unit: turns. Source: VirSci, n = 1 in kind; the value is assumed."""
    topic: Literal["free"] | GivenTopic = "free"
    """Proposed by the leader (``free``), proposed from a start, or given. Source: VirSci, appendix
    C.3."""
    memory: Literal["off", "own"] = "off"
    """``own``: up to five lines from the scientist's other teams; never in assessment. Source: off
    as in VirSci, whose scientists work once."""
    found_by: Literal["abstract", "abstract_only", "idea"] = "abstract"
    """The text that is embedded as the paper: title and abstract, the abstract without its title,
    or the idea, whose HD, CD and CI are then measured. The self-review searches by the abstract,
    with its title unless ``abstract_only``. Source: VirSci, section 4.1 (the abstract is
    embedded)."""
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
        given = {name: getattr(self, name) for name in type(self).model_fields}
        topic = {} if self.topic == "free" else self.topic.model_dump(exclude_none=True)
        # Of a team of one nobody can leave, so nobody is asked whether it stays.
        given["topic"] = {**topic, "leaving": "off"}
        return VirSci(settings=VirSciSettings(team_size=1, **given))

    def run(self, team: Team, lab: Lab) -> Process[Manuscript]:
        """All five stages by one scientist."""
        return self.virsci.run(team, lab)
