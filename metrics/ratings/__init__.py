"""Blinded rating sheets for people, and the agreement of the raters.

Read ``sheets`` (sheets are written, filled in by people, and read back), then ``agreement``
(Krippendorff's alpha, correlations with measures and reviews, preferences between arms),
``bradley_terry`` (arms on one scale) and ``judge`` (a model in the place of a rater of pairs).
"""

from typing import TYPE_CHECKING

from agents.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from metrics.ratings.agreement import krippendorff_alpha as krippendorff_alpha
    from metrics.ratings.agreement import rater_agreement as rater_agreement
    from metrics.ratings.sheets import Rating as Rating
    from metrics.ratings.sheets import SheetEntry as SheetEntry
    from metrics.ratings.sheets import pair_sheet as pair_sheet
    from metrics.ratings.sheets import rating_sheet as rating_sheet
    from metrics.ratings.sheets import read_sheets as read_sheets

__all__ = [
    "Rating",
    "SheetEntry",
    "krippendorff_alpha",
    "pair_sheet",
    "rater_agreement",
    "rating_sheet",
    "read_sheets",
]
__getattr__ = lazy_exports(
    __name__,
    {
        "Rating": "metrics.ratings.sheets",
        "SheetEntry": "metrics.ratings.sheets",
        "krippendorff_alpha": "metrics.ratings.agreement",
        "pair_sheet": "metrics.ratings.sheets",
        "rater_agreement": "metrics.ratings.agreement",
        "rating_sheet": "metrics.ratings.sheets",
        "read_sheets": "metrics.ratings.sheets",
    },
)
