"""Simulated papers compared with those of a real community in the same time.

Read ``assembly_quantities`` first: what is measured of the papers of a window, for a run and for a
real community alike. ``tolerances`` turns two of them into errors and one score. ``dated_papers``
is the form in which the papers of both come, ``topics`` the distance between what they are about,
and ``comparison`` makes the tables that ``society compare`` prints.
"""

from typing import TYPE_CHECKING

from agents.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from metrics.validation.assembly_quantities import AssemblyQuantities as AssemblyQuantities
    from metrics.validation.assembly_quantities import AuthorHistory as AuthorHistory
    from metrics.validation.tolerances import TOLERANCES as TOLERANCES
    from metrics.validation.tolerances import errors_in_tolerances as errors_in_tolerances
    from metrics.validation.tolerances import score as score

__all__ = [
    "TOLERANCES",
    "AssemblyQuantities",
    "AuthorHistory",
    "errors_in_tolerances",
    "score",
]
__getattr__ = lazy_exports(
    __name__,
    {
        "TOLERANCES": "metrics.validation.tolerances",
        "AssemblyQuantities": "metrics.validation.assembly_quantities",
        "AuthorHistory": "metrics.validation.assembly_quantities",
        "errors_in_tolerances": "metrics.validation.tolerances",
        "score": "metrics.validation.tolerances",
    },
)
