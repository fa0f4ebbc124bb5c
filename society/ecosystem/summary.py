"""Summary figures of an ecosystem, beside those of a real research community."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from virsci_society.agents.arrays import gini
from virsci_society.agents.lazy_imports import pc
from virsci_society.society.ecosystem.build import COLLECTED
from virsci_society.society.ecosystem.ecosystem import Ecosystem

BLOCK = 20_000
"""Scientists whose triangles are counted together."""

FIGURES: dict[str, tuple[float, str]] = {
    "past papers": (2157.0, "papers before the boundary that the filters keep"),
    "contemporary papers": (2077.0, "papers of the boundary year and after that they keep"),
    "scientists": (253.0, "members of the population"),
    "authors": (3897.0, "different people on the past papers, scientists or not"),
    "team size": (3.3102, "mean number of authors of a past paper"),
    "papers per scientist": (9.6759, "mean papers before the boundary, over the population"),
    "productivity Gini": (0.3118, "Gini coefficient of those numbers (0 = all equal)"),
    "co-authors per scientist": (4.8696, "mean number of scientists that a scientist wrote with"),
    "repeat collaboration": (0.4529, "share of the pairs with a joint paper that have two"),
    "clustering": (0.4680, "mean local clustering of scientists with at least two co-authors"),
    "citations per past paper": (3.0032, "mean citations at the boundary, where they are known"),
    "citation tail": (0.4714, "share of these that go to the most cited tenth of past papers"),
}
"""Figure -> its value in a real community, and its definition.

The community is that of the IEEE VIS papers 1990 to 2024, boundary 2012, scientists with at least
5 papers, as ``society ecosystem build jsonl papers.jsonl.gz --boundary 2012 --min-papers 5`` makes.
"""


def measure(ecosystem: Ecosystem) -> dict[str, float]:
    """Compute the values of ``FIGURES``; NaN where there is nothing to measure."""
    past, joint = ecosystem.past, ecosystem.coauthors
    written = ecosystem.profiles.papers.astype(float)
    # Counts at collection time include later citations, and are excluded here.
    dated = COLLECTED not in ecosystem.manifest.get("notes", ())
    cited = np.sort(past.citations[~np.isnan(past.citations) & dated])[::-1]
    top = cited[: max(1, len(cited) // 10)].sum()
    ties = (joint > 0).astype(np.int64).tocsr()
    degree = np.diff(ties.indptr).astype(float)
    closed = np.zeros(len(degree))
    for start in range(0, len(degree), BLOCK):
        some = ties[start : start + BLOCK]
        # Closed walks of length three are twice the triangles at each scientist.
        closed[start : start + BLOCK] = (some @ ties).multiply(some).sum(axis=1)
    several = degree > 1
    authors = pc.count_distinct(pc.list_flatten(past.table["authors"])).as_py()
    values = (
        *(len(past), len(ecosystem.contemporary), len(written), authors),
        *(_mean(past.team_sizes), _mean(written), gini(written)),
        *(joint.nnz / max(1, len(written)), _mean(joint.data > 1)),
        _mean(closed[several] / (degree[several] * (degree[several] - 1))),
        *(_mean(cited), top / cited.sum() if cited.sum() else np.nan),
    )
    return dict(zip(FIGURES, map(float, values), strict=True))


def _mean(values: NDArray[Any]) -> float:
    return float(values.mean()) if len(values) else float("nan")
