"""Which stages of VirSci see papers of the past, and the searches by which they find them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from pydantic import Field

from virsci_society.agents.config import Part, Switch
from virsci_society.protocols.ideas import CandidateIdea, Idea
from virsci_society.society.kernel.answer import Answer

if TYPE_CHECKING:
    from virsci_society.agents.prompts.slots import Reference
    from virsci_society.society.teams.lab import Lab

Papers: TypeAlias = "Answer[tuple[Reference, ...]] | tuple[()]"
"""Papers found by a search, unread; empty where the stage sees none."""

GUEST_PAPERS = 3
"""Number of own papers shown to a consulted scientist."""


class ReferenceUse(Part):
    """Which stages see papers of the past (Tables 3 and 4)."""

    ideas: Switch = "on"
    """Papers in idea generation. Source: VirSci, tables 3 and 4."""
    assessment: Switch = "on"
    """Papers on ballots. Source: VirSci, tables 3 and 4."""
    topic: Switch = "off"
    """Titles in the topic discussion."""
    draft: Switch = "off"
    """Papers near the idea, for the first draft. Source: VirSci, figure 22: none."""
    guest: Switch = "off"
    """A consulted scientist sees its own papers."""
    count: int = Field(default=8, ge=1, le=50)
    """Papers per search. Unit: papers. Source: VirSci, figure 35."""
    per_idea: int = Field(default=3, ge=1, le=50)
    """Papers per idea on a ballot. Unit: papers."""
    self_review: Annotated[int, Field(ge=1, le=50)] | None = None
    """Abstracts compared by the self-review; null: as ``count``. Unit: papers. Source: published
    program: 4."""
    query: Literal["idea", "title"] = "idea"
    """Search by the idea's title and text, or its title. Source: VirSci, equation 2; published
    program: ``title``."""
    sentences: Annotated[int, Field(ge=0, le=1000)] | None = 2
    """Sentences shown of an abstract, from its main statement on; null: all. Unit: sentences."""
    queries: Literal["one", "several"] = "one"
    """``several``: search by text, topic and the speaker's interests."""
    diversity: float = Field(default=0.0, ge=0, le=1)
    """Weight of diversity in maximal marginal relevance; 0: nearest papers only. Unit: share.
    Source: Carbonell and Goldstein 1998."""

    def find_for(self, speaker: str, lab: Lab, cue: Any, topic: Any = None) -> Papers:
        """Search the papers that one speaker is shown, by the text or Answer at hand."""
        queries = [self._query_of(lab, cue)]
        if self.queries == "several":
            # The topic is often the text at hand: one query then, not the same twice.
            queries += [topic] if topic is not None and topic is not cue else []
            interests = "; ".join(lab.people.profile(speaker).interests)
            queries += [interests] if interests else []
        if len(queries) == 1 and not self.diversity:
            return lab.library.search(queries[0], self.count)
        return lab.library.search_diverse(tuple(queries), self.count, diversity=self.diversity)

    def find_near(self, lab: Lab, idea: Answer[Any], count: int | None = None) -> Papers:
        """Search the papers near an idea."""
        return lab.library.search(self._query_of(lab, idea), self.count if count is None else count)

    def _query_of(self, lab: Lab, cue: Any) -> Any:
        return lab.later(title_of_idea, cue) if self.query == "title" else cue


def title_of_idea(cue: Any) -> Any:
    """The title of an idea; of anything else, such as a topic, the thing itself."""
    idea = cue.idea if isinstance(cue, CandidateIdea) else cue
    return idea.title if isinstance(idea, Idea) else cue
