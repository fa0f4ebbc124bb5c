"""The page of a study, made from its folder with tables, figures and one HTML file.

Read ``study`` (the folder), ``comparisons`` (the planned tests), ``answer`` (what they say in a
sentence), ``tables`` and ``figures``, then ``page``, which puts them together, and ``export`` (CSV,
LaTeX, SVG). ``sensitivity`` has the indices of Sobol and Morris designs.
"""

from typing import TYPE_CHECKING

from agents.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from metrics.study.comparisons import ComparisonResult as ComparisonResult
    from metrics.study.comparisons import compute_comparisons as compute_comparisons
    from metrics.study.page import StudyPage as StudyPage
    from metrics.study.page import write_study_page as write_study_page
    from metrics.study.sensitivity import morris as morris
    from metrics.study.sensitivity import sobol as sobol
    from metrics.study.study import PlannedComparison as PlannedComparison
    from metrics.study.study import StackedFigure as StackedFigure
    from metrics.study.study import Study as Study
    from metrics.study.study import StudyDescription as StudyDescription

__all__ = [
    "ComparisonResult",
    "PlannedComparison",
    "StackedFigure",
    "Study",
    "StudyDescription",
    "StudyPage",
    "compute_comparisons",
    "morris",
    "sobol",
    "write_study_page",
]
__getattr__ = lazy_exports(
    __name__,
    {
        "ComparisonResult": "metrics.study.comparisons",
        "PlannedComparison": "metrics.study.study",
        "StackedFigure": "metrics.study.study",
        "Study": "metrics.study.study",
        "StudyDescription": "metrics.study.study",
        "StudyPage": "metrics.study.page",
        "compute_comparisons": "metrics.study.comparisons",
        "morris": "metrics.study.sensitivity",
        "sobol": "metrics.study.sensitivity",
        "write_study_page": "metrics.study.page",
    },
)
