"""The VirSci protocol, by which a team goes from an invitation to an abstract.

In a scenario all switches stand directly under ``protocol``. Here they are one object,
``VirSci.settings``, whose keys the reader takes from the same section (``inlined``, as for
backends); each stage is handed the few settings that it needs and never sees the others.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

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
    Written,
    abstract_of,
    ask_for_review,
    generate_abstract,
    review_abstract,
)
from virsci_society.protocols.virsci.ideas import Ideas, generate_ideas
from virsci_society.protocols.virsci.novelty import assess_novelty, last_idea
from virsci_society.protocols.virsci.settings import VirSciSettings
from virsci_society.protocols.virsci.team_memory import TeamMemory, tell_failed_idea
from virsci_society.protocols.virsci.topic import discuss_topic
from virsci_society.society.kernel.answer import Answer
from virsci_society.society.kernel.process import Process
from virsci_society.society.teams.contracts import Manuscript, TeamProtocol

if TYPE_CHECKING:
    from virsci_society.society.formation.newcomer_seats import NewcomerSeats
    from virsci_society.society.formation.selection import SelectionPolicy
    from virsci_society.society.teams.lab import Lab
    from virsci_society.society.teams.team import Team


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
        return frozenset({"topic", "ideas", "novelty", "abstract"})

    @property
    def implied(self) -> frozenset[str]:
        """Keys whose values are those of the profile, and would change with it."""
        return self.settings.implied

    @property
    def author_order(self) -> str:
        """The order in which authors are named."""
        return self.settings.author_order

    @property
    def newcomer_seats(self) -> NewcomerSeats | None:
        """Which seats of its teams newcomers take; None: none."""
        return self.settings.newcomers

    @property
    def selection(self) -> SelectionPolicy:
        """The policy by which leaders ask; ``founding.leaders: selection`` draws by it too."""
        return self.settings.selection

    def run(self, team: Team, lab: Lab) -> Process[Manuscript]:
        """Select collaborators, discuss a topic, generate ideas, assess them, write the abstract.

        Raises:
            Dissolved: the team ends without a paper, in one of the stages or because every
                abstract was too near to the past.
        """
        settings = self.settings
        memory = TeamMemory(settings.pages, carries=settings.prompts.carry == "on")
        selection = select_collaborators(team, lab, settings.team_building, memory.prompts)
        yield from lab.stage("selection", selection)
        topic = yield from self._settle_topic(team, lab, memory)
        for _ in range(settings.new_ideas + 1):
            generation = self._generate_ideas(team, lab, topic, memory)
            ideas = yield from lab.stage("ideas", generation)
            if settings.novelty_assessment == "on":
                assessment = self._assess_novelty(team, lab, ideas, memory)
                best = yield from lab.stage("novelty", assessment)
            else:
                best = last_idea(ideas)
            abstract = yield from self._write_abstract(team, lab, best, memory)
            if abstract is not None:
                return self._make_manuscript(lab, abstract, best, ideas)
        raise Dissolved("too close to the past")

    def _settle_topic(
        self, team: Team, lab: Lab, memory: TeamMemory
    ) -> Process[Answer[Topic] | Topic]:
        settings = self.settings
        if isinstance(settings.topic, GivenTopic):
            given = settings.topic.topic_for(team, lab)
            if given is not None:
                team.notes["topic"] = topic = Topic(topic=given)
                return topic

        def make_discussion() -> Discussion:
            turns = settings.turns_of.topic
            return self._discussion(team, lab, memory, "topic", "topic discussion", turns)

        smallest = settings.team_building.smallest_team(team.target_size, after_leaving=True)
        rules = settings.topic_rules
        return (yield from discuss_topic(team, lab, rules, memory, make_discussion, smallest))

    def _generate_ideas(
        self, team: Team, lab: Lab, topic: Answer[Topic] | Topic, memory: TeamMemory
    ) -> Process[Ideas]:
        settings = self.settings
        # Advice to the last speaker is heard by those who write, or the guest joins the team.
        heard = memory.carries or settings.guests == "join"
        discussion = self._discussion(
            team,
            lab,
            memory,
            "ideas",
            "idea generation",
            settings.turns_of.ideas,
            heard=heard or settings.idea_dialogue == "on",
            heard_later=heard,
        )
        return generate_ideas(team, lab, discussion, topic, settings.idea_rules, memory)

    def _assess_novelty(
        self, team: Team, lab: Lab, ideas: Ideas, memory: TeamMemory
    ) -> Process[Answer[CandidateIdea]]:
        settings = self.settings
        turns = settings.turns_of.assessment
        discussion = self._discussion(team, lab, memory, "novelty", "novelty assessment", turns)
        return assess_novelty(team, lab, discussion, ideas, settings.ballot_rules, memory)

    def _write_abstract(
        self, team: Team, lab: Lab, idea: Answer[CandidateIdea], memory: TeamMemory
    ) -> Process[Answer[Abstract] | None]:
        """Generate and, where it is switched on, self-review the abstract.

        The first time that the abstract is too near to the past it is revised, the second time it
        is discarded (None).
        """
        settings = self.settings
        rules = settings.abstract_rules

        def make_discussion() -> Discussion:
            turns = settings.turns_of.abstract
            return self._discussion(
                team, lab, memory, "abstract", "abstract generation", turns, heard_later=False
            )

        writing = generate_abstract(team, lab, make_discussion(), rules, idea, memory)
        draft: Written = yield from lab.stage("abstract", writing)
        if settings.self_review == "off":
            return draft.text
        limits = settings.review_rules
        if settings.self_review == "recorded":
            yield from ask_for_review(team, lab, memory, draft.text, limits)
            return draft.text
        first = yield from review_abstract(team, lab, memory, draft.text, limits)
        if not first.too_near:
            return draft.text
        self._record_strike(team, lab)
        rewriting = generate_abstract(
            team, lab, make_discussion(), rules, idea, memory, draft, first
        )
        revised: Written = yield from lab.stage("abstract", rewriting)
        second = yield from review_abstract(team, lab, memory, revised.text, limits)
        if not second.too_near:
            return revised.text
        self._record_strike(team, lab)
        memory.failed_ideas += (lab.later(partial(tell_failed_idea, second.highest), idea),)
        return None

    @staticmethod
    def _record_strike(team: Team, lab: Lab) -> None:
        team.strikes += 1
        lab.event("strike", strikes=team.strikes)

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
        name: str,
        turns: int,
        *,
        heard: bool = True,
        heard_later: bool = True,
    ) -> Discussion:
        """The discussion of one stage, under the name that prompts give it.

        Outsiders are not consulted where nobody would hear (``heard``) what they answer.
        """
        settings, prompts = self.settings.discussion_of(stage), memory.prompts
        if not heard:
            settings = replace(settings, invitation="off")
        return Discussion(settings, team, lab, turns, prompts, name=name, heard_later=heard_later)
