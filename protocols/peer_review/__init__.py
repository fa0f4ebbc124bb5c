"""Peer review before publication, by reviewers from the population, in rounds.

Read ``protocol`` first (submissions), then ``editor`` (the rounds of one submission). ``rules``
has every key, ``reviewer_selection`` the draw of reviewers, ``decision`` the rule by which
reviews become a decision, ``forms`` the replies, ``prompts`` one text file per page.
"""

from typing import TYPE_CHECKING

from agents.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from protocols.peer_review.decision import Decision as Decision
    from protocols.peer_review.editor import Editor as Editor
    from protocols.peer_review.forms import Report as Report
    from protocols.peer_review.forms import Review as Review
    from protocols.peer_review.protocol import PeerReview as PeerReview
    from protocols.peer_review.rules import ReviewRules as ReviewRules

__all__ = [
    "Decision",
    "Editor",
    "PeerReview",
    "Report",
    "Review",
    "ReviewRules",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "Decision": "protocols.peer_review.decision",
        "Editor": "protocols.peer_review.editor",
        "PeerReview": "protocols.peer_review.protocol",
        "Report": "protocols.peer_review.forms",
        "Review": "protocols.peer_review.forms",
        "ReviewRules": "protocols.peer_review.rules",
    },
)
