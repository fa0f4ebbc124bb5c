"""Team formation, that is when teams are founded, who leads them, and who is drawn into them.

Read ``founding`` (rules for dates), ``leaders`` (rules for leaders) and ``selection`` (the base
class of selection policies) first; they see the society through ``world_view``. The draws are in
``rejection_sampling`` and ``cumulative_advantage``, with the sets of ``excluded_rows``.
``incumbents`` tells who has published, ``observed_sizes`` how large past teams were.
"""

from typing import TYPE_CHECKING

from agents.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from society.formation.cumulative_advantage import count_weights as count_weights
    from society.formation.cumulative_advantage import sample_by_count as sample_by_count
    from society.formation.excluded_rows import ExcludedRows as ExcludedRows
    from society.formation.founding import Founding as Founding
    from society.formation.incumbents import Incumbents as Incumbents
    from society.formation.leaders import Leaders as Leaders
    from society.formation.observed_sizes import ObservedSizes as ObservedSizes
    from society.formation.rejection_sampling import sample_by_rejection as sample_by_rejection
    from society.formation.rejection_sampling import sample_exactly as sample_exactly
    from society.formation.rejection_sampling import sample_uniformly as sample_uniformly
    from society.formation.selection import SelectionPolicy as SelectionPolicy
    from society.formation.world_view import WorldView as WorldView

__all__ = [
    "ExcludedRows",
    "Founding",
    "Incumbents",
    "Leaders",
    "ObservedSizes",
    "SelectionPolicy",
    "WorldView",
    "count_weights",
    "sample_by_count",
    "sample_by_rejection",
    "sample_exactly",
    "sample_uniformly",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "ExcludedRows": "society.formation.excluded_rows",
        "Founding": "society.formation.founding",
        "Incumbents": "society.formation.incumbents",
        "Leaders": "society.formation.leaders",
        "ObservedSizes": "society.formation.observed_sizes",
        "SelectionPolicy": "society.formation.selection",
        "WorldView": "society.formation.world_view",
        "count_weights": "society.formation.cumulative_advantage",
        "sample_by_count": "society.formation.cumulative_advantage",
        "sample_by_rejection": "society.formation.rejection_sampling",
        "sample_exactly": "society.formation.rejection_sampling",
        "sample_uniformly": "society.formation.rejection_sampling",
    },
)
