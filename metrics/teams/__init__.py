"""Measures of the composition, outcome, concurrency, waiting and peer review of teams.

Read ``teams`` and ``composition`` first, then ``concurrency`` (teams side by side), ``timelines``
and ``waiting`` (where the days of a team go), ``peer_review`` and ``by_protocol``.
"""

from typing import TYPE_CHECKING

from agents.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from metrics.teams.composition import diversity as diversity
    from metrics.teams.composition import freshness as freshness
    from metrics.teams.composition import unique as unique
    from metrics.teams.teams import members_at_end as members_at_end
    from metrics.teams.teams import outcomes_without_defaults as outcomes_without_defaults

__all__ = ["diversity", "freshness", "members_at_end", "outcomes_without_defaults", "unique"]
__getattr__ = lazy_exports(
    __name__,
    {
        "diversity": "metrics.teams.composition",
        "freshness": "metrics.teams.composition",
        "members_at_end": "metrics.teams.teams",
        "outcomes_without_defaults": "metrics.teams.teams",
        "unique": "metrics.teams.composition",
    },
)
