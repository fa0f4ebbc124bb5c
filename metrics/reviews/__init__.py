"""Reviews of abstracts by a language model.

Read ``kinds`` (the kinds of review and their prompts) and ``forms`` (what a reviewer fills in),
then ``panel`` (the reviewers at work), ``tables`` (what a panel leaves) and ``review_folder``.
``offline_rules`` stand in for a model.
"""

from typing import TYPE_CHECKING

from agents.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from metrics.reviews.kinds import KINDS as KINDS
    from metrics.reviews.kinds import ReviewKind as ReviewKind
    from metrics.reviews.kinds import ReviewQuestion as ReviewQuestion
    from metrics.reviews.panel import Panel as Panel
    from metrics.reviews.panel import ReviewedPaper as ReviewedPaper
    from metrics.reviews.panel import ReviewRound as ReviewRound
    from metrics.reviews.tables import read_averages as read_averages

__all__ = [
    "KINDS",
    "Panel",
    "ReviewKind",
    "ReviewQuestion",
    "ReviewRound",
    "ReviewedPaper",
    "read_averages",
]
__getattr__ = lazy_exports(
    __name__,
    {
        "KINDS": "metrics.reviews.kinds",
        "Panel": "metrics.reviews.panel",
        "ReviewKind": "metrics.reviews.kinds",
        "ReviewQuestion": "metrics.reviews.kinds",
        "ReviewRound": "metrics.reviews.panel",
        "ReviewedPaper": "metrics.reviews.panel",
        "read_averages": "metrics.reviews.tables",
    },
)
