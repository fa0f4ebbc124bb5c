"""The protocols by which a team turns people into a paper, with their policies and forms.

Read ``virsci/protocol.py`` first (the five-stage protocol of the paper), then ``discussion``
(turns, speaking order, guests) and ``forms``. ``wordless`` is the smallest protocol, ``mixture``
combines several in one world, ``peer_review`` stands between a manuscript and its paper.
``policies`` has one selection policy per file; ``team_sizes`` and ``composition_targets`` say how
large a team is to be, and of whom.
"""

from typing import TYPE_CHECKING

from agents.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from protocols.composition_targets import CompositionTargets as CompositionTargets
    from protocols.discussion import Discussion as Discussion
    from protocols.discussion import DiscussionSettings as DiscussionSettings
    from protocols.forms import AnotherTurn as AnotherTurn
    from protocols.forms import Choice as Choice
    from protocols.forms import GuestReply as GuestReply
    from protocols.forms import Remark as Remark
    from protocols.forms import Spoken as Spoken
    from protocols.forms import Summary as Summary
    from protocols.mixture import Mixture as Mixture
    from protocols.peer_review.protocol import PeerReview as PeerReview
    from protocols.team_sizes import TeamSize as TeamSize
    from protocols.virsci.protocol import VirSci as VirSci
    from protocols.virsci.settings import VirSciSettings as VirSciSettings
    from protocols.wordless import Wordless as Wordless

__all__ = [
    "AnotherTurn",
    "Choice",
    "CompositionTargets",
    "Discussion",
    "DiscussionSettings",
    "GuestReply",
    "Mixture",
    "PeerReview",
    "Remark",
    "Spoken",
    "Summary",
    "TeamSize",
    "VirSci",
    "VirSciSettings",
    "Wordless",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "AnotherTurn": "protocols.forms",
        "Choice": "protocols.forms",
        "CompositionTargets": "protocols.composition_targets",
        "Discussion": "protocols.discussion",
        "DiscussionSettings": "protocols.discussion",
        "GuestReply": "protocols.forms",
        "Mixture": "protocols.mixture",
        "PeerReview": "protocols.peer_review.protocol",
        "Remark": "protocols.forms",
        "Spoken": "protocols.forms",
        "Summary": "protocols.forms",
        "TeamSize": "protocols.team_sizes",
        "VirSci": "protocols.virsci.protocol",
        "VirSciSettings": "protocols.virsci.settings",
        "Wordless": "protocols.wordless",
    },
)
