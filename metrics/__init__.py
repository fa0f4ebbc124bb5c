"""Measures, statistics and pages computed from the tables of a run; nothing here changes a run.

``registry`` names every measure (a table per run) and ``scalars.measures`` every scalar (a number
per run). The measures are in ``novelty``, ``teams``, ``networks``, ``impact``, ``cost`` and
``population``. ``inference`` has the statistics over replicates, ``report`` and ``study`` the
pages, ``ratings`` and ``reviews`` the judgement by people and by models, ``validation`` the
comparison with a real community.
"""

from typing import TYPE_CHECKING

from agents.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from metrics.exports import write_networks as write_networks
    from metrics.registry import FAMILIES as FAMILIES
    from metrics.registry import METRICS as METRICS
    from metrics.registry import Metric as Metric
    from metrics.registry import measure as measure
    from metrics.report.page import render_page as render_page
    from metrics.report.page import write_page as write_page
    from metrics.scalars.measures import MEASURES as MEASURES
    from metrics.scalars.measures import Measure as Measure
    from metrics.scalars.measures import measure_run as measure_run
    from metrics.study.page import write_study_page as write_study_page
    from metrics.summary import summarise_run as summarise_run

__all__ = [
    "FAMILIES",
    "MEASURES",
    "METRICS",
    "Measure",
    "Metric",
    "measure",
    "measure_run",
    "render_page",
    "summarise_run",
    "write_networks",
    "write_page",
    "write_study_page",
]
__getattr__ = lazy_exports(
    __name__,
    {
        "FAMILIES": "metrics.registry",
        "MEASURES": "metrics.scalars.measures",
        "METRICS": "metrics.registry",
        "Measure": "metrics.scalars.measures",
        "Metric": "metrics.registry",
        "measure": "metrics.registry",
        "measure_run": "metrics.scalars.measures",
        "render_page": "metrics.report.page",
        "summarise_run": "metrics.summary",
        "write_networks": "metrics.exports",
        "write_page": "metrics.report.page",
        "write_study_page": "metrics.study.page",
    },
)
