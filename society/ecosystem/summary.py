"""Summary figures of an ecosystem, beside those of a real research community.

Only the past and the population at the boundary are measured. "Author" is anybody on a past paper;
"scientist" is a member of the population, whose papers and ties are counted on all the source's
papers before the boundary.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from virsci_society.agents.arrays import FloatArray
from virsci_society.agents.lazy_imports import pc, pd
from virsci_society.society.ecosystem.building.filters import COLLECTED
from virsci_society.society.ecosystem.ecosystem import Ecosystem
from virsci_society.society.literature.papers import Papers

BLOCK = 20_000
"""Scientists whose triangles are counted together."""

DEFINITIONS = {
    "past papers": "papers before the boundary that the filters keep",
    "contemporary papers": "papers of the boundary year and after that they keep",
    "scientists": "members of the population",
    "authors": "different people on the past papers, scientists or not",
    "team size": "mean number of authors of a past paper",
    "papers per scientist": "mean number of papers before the boundary, over the population",
    "productivity Gini": "Gini coefficient of those numbers (0 = all equal)",
    "co-authors per scientist": "mean number of scientists that a scientist wrote with",
    "repeat collaboration": "share of the pairs of scientists with a joint paper that have two",
    "clustering": "mean local clustering of the scientists who have at least two co-authors",
    "citations per past paper": "mean number of citations at the boundary, where it is known",
    "citation tail": "share of these citations that go to the most cited tenth of past papers",
}

VIS = {
    "past papers": 2157.0,
    "contemporary papers": 2077.0,
    "scientists": 253.0,
    "authors": 3897.0,
    "team size": 3.3102,
    "papers per scientist": 9.6759,
    "productivity Gini": 0.3118,
    "co-authors per scientist": 4.8696,
    "repeat collaboration": 0.4529,
    "clustering": 0.4680,
    "citations per past paper": 3.0032,
    "citation tail": 0.4714,
}
"""The same figures of a real community: IEEE VIS papers 1990 to 2024, boundary 2012, scientists
with at least 5 papers. Measured on what ``society ecosystem build jsonl papers.jsonl.gz --boundary
2012 --min-papers 5`` makes.
"""


def measure(ecosystem: Ecosystem) -> dict[str, float]:
    """Compute the figures of ``DEFINITIONS``; NaN where there is nothing to measure."""
    past, joint = ecosystem.past, ecosystem.coauthors
    written = ecosystem.profiles.papers.astype(float)
    # Counts at collection time hold later citations, and are none of these figures.
    dated = COLLECTED not in ecosystem.manifest.get("notes", ())
    cited = past.citations[~np.isnan(past.citations) & dated]
    return {
        "past papers": float(len(past)),
        "contemporary papers": float(len(ecosystem.contemporary)),
        "scientists": float(len(ecosystem.profiles)),
        "authors": _authors(past),
        "team size": _mean(past.team_sizes.astype(float)),
        "papers per scientist": _mean(written),
        "productivity Gini": gini(written),
        "co-authors per scientist": joint.nnz / max(1, len(written)),
        "repeat collaboration": _mean((joint.data > 1).astype(float)),
        "clustering": _clustering(ecosystem),
        "citations per past paper": _mean(cited),
        "citation tail": _top_share(cited),
    }


def describe(ecosystem: Ecosystem) -> pd.DataFrame:
    """Make a table of one row per figure: its value, that of the real community, the definition."""
    rows = [
        (name, value, VIS.get(name, np.nan), DEFINITIONS[name])
        for name, value in measure(ecosystem).items()
    ]
    return pd.DataFrame(rows, columns=["figure", "value", "vis", "definition"])


def topics(ecosystem: Ecosystem) -> dict[str, int]:
    """Count scientists by main topic, the most frequent first."""
    return dict(Counter(ecosystem.profiles.topics).most_common())


def gini(values: FloatArray) -> float:
    """Gini coefficient: 0 where all values are equal, towards 1 where one holds everything.

    NaN without values, or where all are zero.
    """
    ordered = np.sort(values)
    if not len(ordered) or not ordered.sum():
        return float("nan")
    ranks = np.arange(1, len(ordered) + 1)
    return float(((2 * ranks - len(ordered) - 1) * ordered).sum() / len(ordered) / ordered.sum())


def _authors(papers: Papers) -> float:
    return float(pc.count_distinct(pc.list_flatten(papers.table["authors"])).as_py())


def _mean(values: FloatArray) -> float:
    return float(values.mean()) if len(values) else float("nan")


def _top_share(counts: FloatArray) -> float:
    top = np.sort(counts)[::-1][: max(1, len(counts) // 10)]
    return float(top.sum() / counts.sum()) if counts.sum() else float("nan")


def _clustering(ecosystem: Ecosystem) -> float:
    ties = (ecosystem.coauthors > 0).astype(np.int64).tocsr()
    degree = np.diff(ties.indptr).astype(float)
    closed = np.zeros(len(degree))
    for start in range(0, len(degree), BLOCK):
        some = ties[start : start + BLOCK]
        # Closed walks of length three are twice the triangles at each scientist.
        closed[start : start + BLOCK] = (some @ ties).multiply(some).sum(axis=1)
    several = degree > 1
    return _mean(closed[several] / (degree[several] * (degree[several] - 1)))
