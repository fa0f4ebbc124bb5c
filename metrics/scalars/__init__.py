"""Scalar measures, one number per run, the unit of every study.

Read ``measures`` (the table of names), then ``outcomes`` (functions behind it) and ``columns``
(``table.column.statistic``, for everything that has no name in the table).
"""

from typing import TYPE_CHECKING

from agents.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from metrics.scalars.columns import ScalarFunction as ScalarFunction
    from metrics.scalars.columns import parse_dotted_name as parse_dotted_name
    from metrics.scalars.measures import MEASURES as MEASURES
    from metrics.scalars.measures import Measure as Measure
    from metrics.scalars.measures import measure_run as measure_run

__all__ = ["MEASURES", "Measure", "ScalarFunction", "measure_run", "parse_dotted_name"]
__getattr__ = lazy_exports(
    __name__,
    {
        "MEASURES": "metrics.scalars.measures",
        "Measure": "metrics.scalars.measures",
        "ScalarFunction": "metrics.scalars.columns",
        "measure_run": "metrics.scalars.measures",
        "parse_dotted_name": "metrics.scalars.columns",
    },
)
