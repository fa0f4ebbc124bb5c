"""The page of a run, one self-contained HTML file.

Read ``page`` (what is shown), then ``in_short`` (its first screen), ``people_and_papers``,
``sections`` and ``decisions`` (data of single sections), ``timeline_figures``, ``network_figures``
(of a network placed by ``layout``) and ``figures``; ``run_figures`` has them all by name. The
folder ``drawing``, ``number_format`` and ``templates`` are shared with the pages of studies.
"""

from typing import TYPE_CHECKING

from agents.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from metrics.report.page import render_page as render_page
    from metrics.report.page import write_page as write_page
    from metrics.report.run_figures import run_figures as run_figures
    from metrics.report.run_figures import write_run_figures as write_run_figures

__all__ = ["render_page", "run_figures", "write_page", "write_run_figures"]
__getattr__ = lazy_exports(
    __name__,
    {
        "render_page": "metrics.report.page",
        "run_figures": "metrics.report.run_figures",
        "write_page": "metrics.report.page",
        "write_run_figures": "metrics.report.run_figures",
    },
)
