"""Analysis of finished runs against other papers, reality, reviews and ratings.

``rescoring`` measures the novelty of abstracts against other papers, ``observed`` compares runs
with the real papers of their community, ``review`` lets a model judge abstracts, and ``rating``
lets people do it. A run's own tables and digest stay as they are.
"""

from typing import TYPE_CHECKING

from agents.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from scenarios.analysis.observed import compare_with_ecosystem as compare_with_ecosystem
    from scenarios.analysis.rescoring import Baseline as Baseline
    from scenarios.analysis.rescoring import measure_again as measure_again
    from scenarios.analysis.review import ReviewJob as ReviewJob

__all__ = ["Baseline", "ReviewJob", "compare_with_ecosystem", "measure_again"]

__getattr__ = lazy_exports(
    __name__,
    {
        "Baseline": "scenarios.analysis.rescoring",
        "ReviewJob": "scenarios.analysis.review",
        "compare_with_ecosystem": "scenarios.analysis.observed",
        "measure_again": "scenarios.analysis.rescoring",
    },
)
