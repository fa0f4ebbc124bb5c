"""Measures of citations, productivity, inequality and disruption.

Read ``authorships`` first: the table of who wrote what when, on which other measures build. Then
``impact`` (citations), ``productivity``, ``disruption``; ``inequality`` has Gini and h-index.
"""

from typing import TYPE_CHECKING

from agents.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from metrics.impact.authorships import AuthorshipTable as AuthorshipTable
    from metrics.impact.authorships import authorships_of as authorships_of
    from metrics.impact.inequality import gini as gini
    from metrics.impact.inequality import h_index as h_index

__all__ = ["AuthorshipTable", "authorships_of", "gini", "h_index"]
__getattr__ = lazy_exports(
    __name__,
    {
        "AuthorshipTable": "metrics.impact.authorships",
        "authorships_of": "metrics.impact.authorships",
        "gini": "metrics.impact.inequality",
        "h_index": "metrics.impact.inequality",
    },
)
