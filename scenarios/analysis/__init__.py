"""Analysis of finished runs against other papers, reality, reviews and ratings.

``rescoring`` measures the novelty of abstracts against other papers, ``observed`` compares runs
with the real papers of their community, ``review`` lets a model judge abstracts, ``rating``
lets people do it, and ``judging`` lets a model compare pairs. ``interview`` puts a survey to the
scientists of a run. ``question_folder`` is what all of these share that ask a model. A run's own
tables and digest stay as they are.
"""

from typing import TYPE_CHECKING

from agents.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from scenarios.analysis.interview import Interview as Interview
    from scenarios.analysis.judging import JudgeJob as JudgeJob
    from scenarios.analysis.observed import compare_with_ecosystem as compare_with_ecosystem
    from scenarios.analysis.rescoring import Baseline as Baseline
    from scenarios.analysis.rescoring import measure_again as measure_again
    from scenarios.analysis.review import ReviewJob as ReviewJob

__all__ = [
    "Baseline",
    "Interview",
    "JudgeJob",
    "ReviewJob",
    "compare_with_ecosystem",
    "measure_again",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "Baseline": "scenarios.analysis.rescoring",
        "Interview": "scenarios.analysis.interview",
        "JudgeJob": "scenarios.analysis.judging",
        "ReviewJob": "scenarios.analysis.review",
        "compare_with_ecosystem": "scenarios.analysis.observed",
        "measure_again": "scenarios.analysis.rescoring",
    },
)
