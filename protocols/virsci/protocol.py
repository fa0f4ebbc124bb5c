"""VirSci: one team of virtual scientists from an invitation to an abstract.

Source: Su et al., "Many Heads Are Better Than One: Improved Scientific Idea Generation by A
LLM-Based Multi-Agent System", ACL 2025, sections 3 and appendices B to H.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

from agents.errors import Dissolved
from protocols.discussion import Said
from protocols.virsci.abstract import check, revise, write
from protocols.virsci.forms import Topic
from protocols.virsci.ideas import imagine
from protocols.virsci.novelty import last_idea, weigh
from protocols.virsci.selection import gather
from protocols.virsci.settings import GivenTopic, Settings
from protocols.virsci.standing import found_for, told_as, uses_of
from protocols.virsci.topic import discuss
from society.interfaces import Manuscript
from society.steps import Steps

if TYPE_CHECKING:
    from society.lab import Lab
    from society.team import Team


class VirSci(Settings):
    """The five-stage protocol of VirSci with every switch of its paper (Su et al., 2025)."""

    @property
    def stages(self) -> frozenset[str]:
        """The four that are discussed."""
        return frozenset({"topic", "ideas", "novelty", "abstract"})

    def run(self, team: Team, lab: Lab) -> Generator[Any, Any, Manuscript]:
        """Select, discuss, imagine, weigh, write."""
        yield from lab.stage("selection", gather(self, team, lab))
        topic = yield from self._find_topic(team, lab)
        for _ in range(self.new_ideas + 1):
            ideas = yield from lab.stage("ideas", imagine(self, team, lab, topic))
            if self.novelty_assessment == "on":
                best = yield from lab.stage("novelty", weigh(self, team, lab, ideas))
            else:
                best = last_idea(ideas)
            abstract = yield from lab.stage("abstract", write(self, team, lab, best))
            if self.self_review == "on":
                abstract = yield from self._past_review(team, lab, abstract)
            if abstract is not None:
                return self._hand_in(lab, abstract, best, ideas)
        raise Dissolved("too close to the past")

    def _find_topic(self, team: Team, lab: Lab) -> Steps:
        if isinstance(self.topic, GivenTopic) and self.topic.given is not None:
            team.notes["topic"] = topic = Topic(topic=self.topic.given)
            return topic
        return (yield from discuss(self, team, lab))

    def _hand_in(self, lab: Lab, abstract: Any, best: Any, ideas: Said) -> Manuscript:
        """The manuscript, with what it cites and what it is found by."""
        cites = lab.later(uses_of, best) if self.cites == "used" else lab.later(found_for, *ideas)
        found_by = lab.later(told_as, best) if self.found_by == "idea" else None
        return Manuscript(text=abstract, cites=cites, found_by=found_by)

    def _past_review(self, team: Team, lab: Lab, abstract: Any) -> Steps:
        """Two strikes: once too near, revise; twice, the abstract is discarded (None)."""
        too_near, review, near = yield from check(self, team, lab, abstract)
        if not too_near:
            return abstract
        team.strikes += 1
        lab.event("strike", strikes=team.strikes)
        revised = yield from lab.stage("abstract", revise(self, team, lab, abstract, review, near))
        too_near, _, _ = yield from check(self, team, lab, revised)
        if not too_near:
            return revised
        team.strikes += 1
        lab.event("strike", strikes=team.strikes)
        return None
