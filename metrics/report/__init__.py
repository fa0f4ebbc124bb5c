"""The page of a run, one self-contained HTML file.

Read ``page`` (what is shown), then ``sections`` and ``decisions`` (data of single sections),
``figures`` and ``network_figures`` (with ``network_layout``), drawn with ``svg``, ``axes`` and
``scale``. These three and ``templates`` are shared with the page of a study.
"""

from typing import TYPE_CHECKING

from agents.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from metrics.report.page import render_page as render_page
    from metrics.report.page import write_page as write_page

__all__ = ["render_page", "write_page"]
__getattr__ = lazy_exports(
    __name__,
    {
        "render_page": "metrics.report.page",
        "write_page": "metrics.report.page",
    },
)
