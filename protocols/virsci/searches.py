"""The searches in the literature by which the stages of VirSci find papers for their prompts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from virsci_society.agents.config import Switch
from virsci_society.protocols.ideas import CandidateIdea, Idea
from virsci_society.society.kernel.answer import Answer

if TYPE_CHECKING:
    from virsci_society.agents.reference import Reference
    from virsci_society.society.teams.lab import Lab

Papers: TypeAlias = "Answer[tuple[Reference, ...]] | tuple[()]"
"""Papers found by a search, unread; empty where the stage sees none."""


@dataclass(frozen=True, slots=True)
class SearchRules:
    """How one stage searches the literature.

    Attributes:
        shown: does the stage see papers?
        count: papers per search (>= 1).
        several: are the topic and the speaker's own interests queries, beside the text at hand?
        diversity: weight of the distance between the papers chosen, 0 to 1.
        title_only: of an idea, is its title the query, without its text?
    """

    shown: Switch = "off"
    count: int = 8
    several: bool = False
    diversity: float = 0.0
    title_only: bool = False


NO_PAPERS = SearchRules()
"""The stage sees no papers."""


def find_papers(lab: Lab, rules: SearchRules, speaker: str, cue: Any, topic: Any = None) -> Papers:
    """The papers that one speaker is shown.

    Args:
        lab: the team's access to the world.
        rules: whether papers are shown, how many, and by which queries.
        speaker: masked name; its own interests are a query where there are several.
        cue: text or Answer at hand.
        topic: text or Answer that the team works on; None: none yet.
    """
    if rules.shown == "off":
        return ()
    query = lab.later(title_of_idea, cue) if rules.title_only else cue
    queries = [query]
    if rules.several:
        queries += [topic] if topic is not None and topic is not cue else []
        interests = "; ".join(lab.people.profile(speaker).interests)
        queries += [interests] if interests else []
    if len(queries) == 1 and not rules.diversity:
        return lab.library.search(query, rules.count)
    return lab.library.search_diverse(tuple(queries), rules.count, diversity=rules.diversity)


def title_of_idea(cue: Any) -> Any:
    """The title of an idea; of anything else, such as a topic, the thing itself.

    Args:
        cue: a settled value that papers are searched by.
    """
    idea = cue.idea if isinstance(cue, CandidateIdea) else cue
    return idea.title if isinstance(idea, Idea) else cue
