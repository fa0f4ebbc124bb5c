"""Studies of many runs, which are planned, locked, run anywhere and gathered.

Read ``study_file`` (the keys), ``design`` (arms, scenarios, seeds) and ``arm_sampling``, ``reader``
(file to design), ``lock`` (what was planned), ``folder`` and ``status`` (files on disk),
``forecast`` (cost beforehand) and ``gather`` (tables afterwards). ``execution`` does the runs.
"""

from typing import TYPE_CHECKING

from agents.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from scenarios.study.design import Design as Design
    from scenarios.study.folder import open_folder as open_folder
    from scenarios.study.folder import read_statuses as read_statuses
    from scenarios.study.forecast import study_forecast as study_forecast
    from scenarios.study.reader import read_study as read_study

__all__ = ["Design", "open_folder", "read_statuses", "read_study", "study_forecast"]

__getattr__ = lazy_exports(
    __name__,
    {
        "Design": "scenarios.study.design",
        "open_folder": "scenarios.study.folder",
        "read_statuses": "scenarios.study.folder",
        "read_study": "scenarios.study.reader",
        "study_forecast": "scenarios.study.forecast",
    },
)
