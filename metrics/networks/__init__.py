"""Networks of co-authors and of consultations.

Read ``structure`` first: the adjacency matrix, and the statistics of a network over time. Then
``communities``, ``core_periphery``, ``small_world`` (with ``rewiring``, its null networks),
``degree_tails`` (with ``powerlaw``), ``assembly``, ``team_patterns`` and ``tie_lifetimes`` (who
writes together again, and for how long), ``active_network``, ``consulting`` and ``removals``.
"""

from typing import TYPE_CHECKING

from agents.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from metrics.networks.powerlaw import PowerLawFit as PowerLawFit
    from metrics.networks.powerlaw import fit_power_law as fit_power_law
    from metrics.networks.structure import adjacency as adjacency
    from metrics.networks.structure import network_statistics as network_statistics
    from metrics.networks.structure import network_ties as network_ties

__all__ = ["PowerLawFit", "adjacency", "fit_power_law", "network_statistics", "network_ties"]
__getattr__ = lazy_exports(
    __name__,
    {
        "PowerLawFit": "metrics.networks.powerlaw",
        "adjacency": "metrics.networks.structure",
        "fit_power_law": "metrics.networks.powerlaw",
        "network_statistics": "metrics.networks.structure",
        "network_ties": "metrics.networks.structure",
    },
)
