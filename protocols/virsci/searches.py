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
"""Own papers that a scientist who is consulted is shown."""


class ReferenceUse(Part):
    """Which stages see papers of the past (Tables 3 and 4)."""

    ideas: Switch = "on"
    """In idea generation. Source: VirSci, tables 3 and 4."""
    assessment: Switch = "on"
    """On the ballots. Source: VirSci, tables 3 and 4."""
    topic: Switch = "off"
    """In the topic discussion, as titles. Source: ours, after a reader's report (prompts.md)."""
    draft: Switch = "off"
    """In the prompt of the first abstract, those near the idea; Fig. 22 shows none. Source: VirSci,
    figure 22 shows none."""
    guest: Switch = "off"
    """Its own papers, to a scientist who is consulted. Source: ours, after a reader's report
    (prompts.md)."""
    count: int = Field(default=8, ge=1, le=50)
    """Papers per search (Fig. 35 shows eight). Unit: papers. Source: VirSci, figure 35 (eight
    abstracts)."""
    per_idea: int = Field(default=3, ge=1, le=50)
    """Papers beside each idea on a ballot; papers that several ideas share are listed once. Unit:
    papers. Source: assumed."""
    self_review: Annotated[int, Field(ge=1, le=50)] | None = None
    """Past abstracts with which the self-review compares; null: as ``count``. Unit: papers. Source:
    as `count`; VirSci, figure 35 (eight); the published program of VirSci: 4."""
    query: Literal["idea", "title"] = "idea"
    """What papers near an idea are searched by: its title and text, or its title alone. Source:
    VirSci, equation 2 (the idea); the published program of VirSci: `title`."""
    sentences: Annotated[int, Field(ge=0, le=1000)] | None = 2
    """Sentences of an abstract that a prompt shows, from the first that says what the paper does;
    null: the whole abstract. Unit: sentences. Source: assumed; the paper does not say how much of
    an abstract is shown."""
    queries: Literal["one", "several"] = "one"
    """``several``: papers are searched by the text at hand, the topic and the speaker's own
    interests, so that members bring different literature. Source: ours, after a reader's report
    (prompts.md)."""
    diversity: float = Field(default=0.0, ge=0, le=1)
    """Weight of the distance between the papers chosen, in maximal marginal relevance; 0: the
    nearest papers, whatever they have in common. Unit: share. Source: Carbonell and Goldstein 1998
    (maximal marginal relevance); ours."""

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
