"""The population of a society, with people, their co-authorship network, and counts with dates.

Read ``population`` first (who exists, and the profile of a scientist as of a date), then
``network`` (who has written with whom). Both count with ``event_counts``: dated events, strictly
before now. ``interest_history`` and ``interest_drift`` say what people work on and how a paper
changes it; ``consultations`` who has asked whom; ``growth`` keeps the figures that Mesa collects at
every step. ``outside_seats`` and ``outside_authors`` name people outside the population on papers.
``masked_names`` and ``growable_array`` keep large societies small in memory.
"""

from typing import TYPE_CHECKING

from agents.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from society.population.event_counts import DatedCounts as DatedCounts
    from society.population.interest_drift import Drift as Drift
    from society.population.interest_history import WeightedInterests as WeightedInterests
    from society.population.network import CoauthorNetwork as CoauthorNetwork
    from society.population.population import Population as Population

__all__ = ["CoauthorNetwork", "DatedCounts", "Drift", "Population", "WeightedInterests"]

__getattr__ = lazy_exports(
    __name__,
    {
        "CoauthorNetwork": "society.population.network",
        "DatedCounts": "society.population.event_counts",
        "Drift": "society.population.interest_drift",
        "Population": "society.population.population",
        "WeightedInterests": "society.population.interest_history",
    },
)
