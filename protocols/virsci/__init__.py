"""The VirSci protocol with its five stages from an invitation to an abstract.

Read ``protocol`` first, then the stages in order: ``selection``, ``topic``, ``ideas``,
``novelty``, ``abstract``. ``settings`` has every switch, ``forms`` every reply, ``idea_ranking``
the shortlist and the count of ballots, ``prompts`` one text file per page.
"""

from typing import TYPE_CHECKING

from agents.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from protocols.virsci.abstract import generate_abstract as generate_abstract
    from protocols.virsci.idea_ranking import CandidateIdea as CandidateIdea
    from protocols.virsci.ideas import generate_ideas as generate_ideas
    from protocols.virsci.novelty import assess_novelty as assess_novelty
    from protocols.virsci.protocol import VirSci as VirSci
    from protocols.virsci.selection import TeamBuilding as TeamBuilding
    from protocols.virsci.selection import select_collaborators as select_collaborators
    from protocols.virsci.settings import VirSciSettings as VirSciSettings
    from protocols.virsci.topic import discuss_topic as discuss_topic

__all__ = [
    "CandidateIdea",
    "TeamBuilding",
    "VirSci",
    "VirSciSettings",
    "assess_novelty",
    "discuss_topic",
    "generate_abstract",
    "generate_ideas",
    "select_collaborators",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "CandidateIdea": "protocols.virsci.idea_ranking",
        "TeamBuilding": "protocols.virsci.selection",
        "VirSci": "protocols.virsci.protocol",
        "VirSciSettings": "protocols.virsci.settings",
        "assess_novelty": "protocols.virsci.novelty",
        "discuss_topic": "protocols.virsci.topic",
        "generate_abstract": "protocols.virsci.abstract",
        "generate_ideas": "protocols.virsci.ideas",
        "select_collaborators": "protocols.virsci.selection",
    },
)
