"""Demographics of a society, that is who joins it, leaves it or moves to another institution.

Read ``careers`` first, the rule of a scenario; its parts are in ``newcomers``, ``departures`` and
``mobility``, each a rule and a process that runs it. ``poisson`` is the process that newcomers
and moves have in common. ``career_process`` starts all processes of a run and replaces them when
an intervention sets another rule.
"""

from typing import TYPE_CHECKING

from agents.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from society.demographics.careers import Careers as Careers
    from society.demographics.departures import Retirement as Retirement
    from society.demographics.mobility import Mobility as Mobility
    from society.demographics.mobility import institution_of as institution_of
    from society.demographics.newcomers import Newcomers as Newcomers
    from society.demographics.newcomers import StartingProfile as StartingProfile
    from society.demographics.poisson import poisson_process as poisson_process

__all__ = [
    "Careers",
    "Mobility",
    "Newcomers",
    "Retirement",
    "StartingProfile",
    "institution_of",
    "poisson_process",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "Careers": "society.demographics.careers",
        "Mobility": "society.demographics.mobility",
        "Newcomers": "society.demographics.newcomers",
        "Retirement": "society.demographics.departures",
        "StartingProfile": "society.demographics.newcomers",
        "institution_of": "society.demographics.mobility",
        "poisson_process": "society.demographics.poisson",
    },
)
