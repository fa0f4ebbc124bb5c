"""Degree distributions, and power-law tests of degrees, papers and citations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from virsci_society.agents.arrays import IntArray
from virsci_society.metrics.impact.authorships import inside_citations
from virsci_society.metrics.networks import powerlaw
from virsci_society.metrics.networks.structure import (
    final_networks,
)
from virsci_society.society.kernel.streams import Streams
from virsci_society.society.results.run import Run

RESAMPLES = 100
MANY = 20_000
FEW_RESAMPLES = 25
"""Bootstrap samples, and above 20,000 values: the standard error of a p of 0.1 is 0.03 or 0.06."""
PARTS = (
    *("alpha", "ks", "p"),
    *("lognormal_ratio", "lognormal_p", "exponential_ratio", "exponential_p"),
)
COUNTS = ("n", "xmin", "tail", "resamples")


def degrees(run: Run) -> pd.DataFrame:
    """Distribution of degrees of both networks at the end (Newman 2001).

    Returns:
        One row per ``network`` (all, grown) and ``degree`` (co-authors, >= 1) that occurs:
        ``scientists`` of that degree and ``share_above`` (share with at least it, 0..1).
    """
    parts = []
    for network, matrix in final_networks(run):
        degree, counts = np.unique(np.diff(matrix.indptr), return_counts=True)
        above = np.cumsum(counts[::-1])[::-1] / max(counts.sum(), 1)
        columns = {"degree": degree, "scientists": counts, "share_above": above}
        parts.append(pd.DataFrame({"network": network, **columns}))
    kinds = {"network": "string", "degree": "Int64", "scientists": "Int64"}
    return pd.concat(parts, ignore_index=True).astype({**kinds, "share_above": "Float64"})


def tail(run: Run) -> pd.DataFrame:
    """Tails after Clauset, Shalizi and Newman (Clauset et al. 2009), discrete; seeded bootstrap.

    Returns:
        One row per ``quantity``: degree of each network (``degree, all``; ``degree, grown``),
        ``papers per scientist`` and ``citations per paper`` (since day 0). ``n`` (values above
        zero), ``xmin`` (where the tail begins), ``tail`` (values in it), ``alpha`` (exponent,
        > 1), ``ks`` (distance to the fitted law, 0..1); ``p`` (share of ``resamples`` samples of
        that law that lie farther from their own fit, 0..1; 0.1 and less rejects it);
        ``lognormal_ratio`` and ``exponential_ratio`` (log ratio of likelihoods, positive where
        the power law is likelier) with the ``_p`` of no difference; and ``verdict``, in words.
    """
    streams = Streams(run.seed, "metrics", "tail")
    rows = [
        {"quantity": name, **tail_test(values, streams.stream(name))}
        for name, values in _quantities(run)
    ]
    table = pd.DataFrame(rows)
    kinds = {"quantity": "string", "verdict": "string"}
    kinds |= dict.fromkeys(COUNTS, "Int64") | dict.fromkeys(PARTS, "Float64")
    return table.astype(kinds)[["quantity", *COUNTS, *PARTS, "verdict"]]


def tail_test(values: Any, rng: np.random.Generator) -> dict[str, Any]:
    """Every column of ``tail`` but the first, for one set of counts."""
    positive = np.asarray(values, dtype=np.int64)
    positive = positive[positive > 0]
    fitted = powerlaw.fit_power_law(positive)
    columns: dict[str, Any] = {**dict.fromkeys((*COUNTS, *PARTS)), "n": len(positive)}
    if fitted is None:
        return {**columns, "verdict": powerlaw.verdict(len(positive), None, 1.0, None, None)}
    columns |= {"xmin": fitted.xmin, "tail": fitted.n, "alpha": fitted.alpha, "ks": fitted.ks}
    testable = fitted.n >= powerlaw.MIN_TAIL
    p = 1.0
    if testable:
        columns["resamples"] = FEW_RESAMPLES if len(positive) > MANY else RESAMPLES
        p = columns["p"] = powerlaw.bootstrap(positive, fitted, columns["resamples"], rng)
    ratios = {
        "lognormal": powerlaw.compare_with_lognormal(positive, fitted),
        "exponential": powerlaw.compare_with_exponential(positive, fitted),
    }
    for name, comparison in ratios.items():
        columns[f"{name}_ratio"] = comparison.ratio
        columns[f"{name}_p"] = None if np.isnan(comparison.p) else comparison.p
    return {**columns, "verdict": powerlaw.verdict(len(positive), fitted, p, **ratios)}


def _quantities(run: Run) -> Iterator[tuple[str, IntArray]]:
    for network, matrix in final_networks(run):
        yield f"degree, {network}", np.diff(matrix.indptr).astype(np.int64)
    inside = inside_citations(run)
    columns = (
        ("papers per scientist", run.table("authorships")["scientist"]),
        ("citations per paper", inside["cited"]),
    )
    for name, column in columns:
        yield name, np.asarray(column.value_counts(), dtype=np.int64)
