"""Analysis of finished runs against other papers, reality, reviews and ratings.

``rescoring`` measures the novelty of abstracts against other papers, ``observed`` compares a run
with the real papers of its community, ``review`` lets a model judge abstracts, and ``rating`` lets
people do it. A run's own tables and digest stay as they are.
"""

from typing import TYPE_CHECKING

from agents.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from scenarios.analysis.observed import compared_sides as compared_sides
    from scenarios.analysis.rescoring import Baseline as Baseline
    from scenarios.analysis.rescoring import measure_again as measure_again
    from scenarios.analysis.review import ReviewJob as ReviewJob

__all__ = ["Baseline", "ReviewJob", "compared_sides", "measure_again"]

__getattr__ = lazy_exports(
    __name__,
    {
        "Baseline": "scenarios.analysis.rescoring",
        "ReviewJob": "scenarios.analysis.review",
        "compared_sides": "scenarios.analysis.observed",
        "measure_again": "scenarios.analysis.rescoring",
    },
)
