"""What a team keeps between its stages, such as failed attempts, reasons, advice and changes.

Which of it a prompt shows depends on the switch ``prompts.carry``; that an earlier attempt failed,
and why, is always told, else the first prompt of a new attempt would be the old one word by word.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from virsci_society.agents.prompts.dialogue import Advice, Excerpt, Utterance

if TYPE_CHECKING:
    from virsci_society.agents.prompts.prompt import Prompts
    from virsci_society.protocols.forms import Summary, Topic
    from virsci_society.protocols.ideas import CandidateIdea
    from virsci_society.protocols.virsci.forms import Revision
    from virsci_society.protocols.virsci.prompts import PromptSwitches
    from virsci_society.protocols.virsci.searches import ReferenceUse
    from virsci_society.society.kernel.answer import Answer


@dataclass
class TeamMemory:
    """What one team remembers of its own work, unread, and what its pages show of it.

    Attributes:
        prompts: the pages of the team.
        switches: what the pages hold.
        references: which stages see papers, and by which searches.
        carries: do later stages see what earlier ones thought?
        ratings: do an idea's ratings of itself stand with it?
        topic_summaries: the leader's summaries of the discussion that found the topic.
        advice: what outsiders were asked and said while ideas were generated.
        failed_topics: lines on topics without consensus.
        failed_ideas: lines on ideas whose abstract was discarded.
    """

    prompts: Prompts
    switches: PromptSwitches
    references: ReferenceUse
    carries: bool
    ratings: bool
    topic_summaries: tuple[Answer[Summary], ...] = ()
    advice: tuple[Answer[Advice | None], ...] = ()
    failed_topics: tuple[Answer[str], ...] = ()
    failed_ideas: tuple[Answer[str], ...] = ()

    @property
    def extras_of_ideas(self) -> tuple[str, ...]:
        """Optional fields of ``Idea`` that are asked for."""
        named = (("gist", self.switches.carry), ("marks", self.switches.marks))
        return tuple(name for name, switch in named if switch == "on")

    def shown(self, kept: Any) -> Any:
        """What is kept, if later stages see it, else nothing."""
        return kept if self.carries else ()


def tell_failed_topic(agreed: int, asked: int, topic: Topic, *, by_leader: bool = False) -> str:
    """A line on a topic that found no consensus."""
    if by_leader:
        return f'The topic "{topic.topic}" was dropped by the leader, who had proposed it.'
    return f'The topic "{topic.topic}" was dropped: {agreed} of {asked} agreed to it.'


def tell_failed_idea(highest: float, idea: CandidateIdea) -> str:
    """A line on an idea whose abstract was discarded.

    Args:
        highest: similarity to the nearest published abstract, 0 to 100.
        idea: the idea.
    """
    title = idea.idea.title
    return (
        f'The idea "{title}" was given up: after a revision its abstract was still too close '
        f"to published work (similarity {highest:g} of 100)."
    )


def tell_changes(speaker: str, revision: Revision) -> Utterance | None:
    """What a reviser changed, as its own words; None where it is the first draft.

    Args:
        speaker: masked name of the reviser.
        revision: the text with its modifications.
    """
    changed = getattr(revision, "modifications", "")
    return Utterance(speaker, Excerpt(changed)) if changed else None
