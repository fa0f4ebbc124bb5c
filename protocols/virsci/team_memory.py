"""What the prompts of a team hold, by their switches, and what the team keeps between its stages.

That an earlier attempt failed, and why, is always told: else the new attempt would be the old one.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import field_validator

from virsci_society.agents.config import Part, Switch
from virsci_society.agents.prompts.prompt import Prompts
from virsci_society.agents.prompts.slots import Advice, Excerpt, Utterance

if TYPE_CHECKING:
    from virsci_society.protocols.forms import Summary, Topic
    from virsci_society.protocols.ideas import CandidateIdea
    from virsci_society.protocols.virsci.forms import Revision
    from virsci_society.protocols.virsci.searches import ReferenceUse
    from virsci_society.society.kernel.answer import Answer

PROMPTS = Prompts(Path(__file__).with_name("prompts"))
"""The prompts of VirSci, one text file each, in this project's own words."""


class PromptSwitches(Part):
    """Contents of prompts beyond the paper's equations and figures."""

    folder: str | None = None
    """Folder with your own prompts (``idea_turn.txt``, ...), which replace those of the same
    name."""

    @field_validator("folder")
    @classmethod
    def _holds_prompts(cls, folder: str | None) -> str | None:
        if folder is None:
            return None
        own = sorted(path.stem for path in Path(folder).glob("*.txt"))
        names = sorted(prompt.name for prompt in PROMPTS)
        unknown = [name for name in own if name not in names]
        if not own or unknown:
            problem = f"{', '.join(unknown)}: not known" if unknown else "no .txt file is there"
            raise ValueError(f"{folder}: {problem}; the prompts are {', '.join(names)}")
        return folder

    carry: Switch = "off"
    """Later stages see reasons, summaries, advice and revisions of earlier ones."""
    marks: Switch = "off"
    """Speakers criticise and rate the current idea; confidence is the mean of all ratings."""
    critique: Switch = "off"
    """A member who is not the author examines the idea before the draft."""
    comparisons: Switch = "off"
    """Compare each idea with its nearest paper before the vote."""
    idea_order: Literal["fixed", "permuted"] = "fixed"
    """``permuted``: every ballot has its own order."""
    profiles_in_abstract: Switch = "off"
    """Show relevant scientists to the writers of the abstract."""
    choices: Literal["named", "coded"] = "named"
    """Answer invitations by "join" or "decline", or (``coded``) "Action 1" or "Action 2". Source:
    VirSci, figure 17: ``coded``."""
    ratings: Switch = "off"
    """Show an idea's self-ratings to speakers, voters and writers. Source: VirSci, figure 21: none;
    published program: ``on``."""


@dataclass
class TeamMemory:
    """What one team remembers of its own work, unread, and what its pages show of it."""

    prompts: Prompts
    switches: PromptSwitches
    references: ReferenceUse
    topic: Answer[Topic] | Topic | None = None
    topic_summaries: tuple[Answer[Summary], ...] = ()
    advice: tuple[Answer[Advice | None], ...] = ()
    critique: tuple[Answer[Utterance], ...] = ()
    failed_topics: tuple[Answer[str], ...] = ()
    failed_ideas: tuple[Answer[str], ...] = ()

    @property
    def carries(self) -> bool:
        """Do later stages see what earlier ones thought?"""
        return self.switches.carry == "on"

    @property
    def ratings(self) -> bool:
        """Do an idea's ratings of itself stand with it?"""
        return self.switches.ratings == "on"

    @property
    def extras_of_ideas(self) -> tuple[str, ...]:
        """Optional fields of ``Idea`` that are asked for."""
        named = (("gist", self.switches.carry), ("marks", self.switches.marks))
        return tuple(name for name, switch in named if switch == "on")

    def shown(self, kept: Any) -> Any:
        """What is kept, if later stages see it, else nothing."""
        return kept if self.carries and kept is not None else ()


def tell_failed_topic(agreed: int, asked: int, topic: Topic, *, by_leader: bool = False) -> str:
    """A line on a topic that found no consensus."""
    if by_leader:
        return f'The topic "{topic.topic}" was dropped by the leader, who had proposed it.'
    return f'The topic "{topic.topic}" was dropped: {agreed} of {asked} agreed to it.'


def tell_failed_idea(highest: float, idea: CandidateIdea) -> str:
    """A line on an idea whose abstract was discarded, being too like a published one (0 to 100)."""
    title = idea.idea.title
    return (
        f'The idea "{title}" was given up: after a revision its abstract was still too close '
        f"to published work (similarity {highest:g} of 100)."
    )


def tell_changes(speaker: str, revision: Revision) -> Utterance | None:
    """What a reviser changed, as its own words; None where it is the first draft."""
    changed = getattr(revision, "modifications", "")
    return Utterance(speaker, Excerpt(changed)) if changed else None
