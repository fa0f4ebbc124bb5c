"""Shares of groups among those who take part in a society, beside their shares of all.

A model, or the data that it sees, may prefer some groups of scientists. Shares of groups among
those who are invited, accept, are consulted, publish and are cited are compared with their shares
of the population. Groups are main topics and classes of seniority; the tables of a run name no
institutions, so these are not compared.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from virsci_society.metrics.impact.authorships import inside_citations
from virsci_society.metrics.inference.intervals import wilson_interval
from virsci_society.society.results.dataframes import typed_table
from virsci_society.society.results.run import Run

SENIORITY = ("early-career", "mid-career", "senior")
LEVEL = 0.95
COLUMNS = {
    "group": "string",
    "value": "string",
    "stage": "string",
    "count": "Int64",
    "of": "Int64",
    "share": "Float64",
    "low": "Float64",
    "high": "Float64",
    "population_share": "Float64",
    "ratio": "Float64",
}


def representation(run: Run) -> pd.DataFrame:
    """Shares of topics and of seniority, stage by stage, beside the population (this project).

    Every event counts: who is invited twice counts twice. Intervals are Wilson's (1927), as if
    events were independent, which they are not within a team; they are somewhat too narrow.

    Returns:
        One row per ``group`` (``topic``: main topic on day 0 or on arrival; ``seniority``: thirds
        of the years since the first paper), ``value`` and ``stage`` (``invited``, ``accepted``,
        ``consulted``, ``published``: authors of papers, ``cited``: authors of the society's papers
        that others of its papers cite): ``count`` of ``of`` events, ``share`` with its 95 %
        interval ``low`` to ``high``, ``population_share``, and ``ratio`` of both shares. Scientists
        without a known topic or first paper are left out. No rows for a stage without events.
    """
    rows = [
        row
        for group, values in (("topic", _topics(run)), ("seniority", _seniority(run)))
        for row in _rows(run, group, values)
    ]
    return typed_table(rows, COLUMNS)


def _topics(run: Run) -> pd.Series:
    """Main topic by scientist, of those who have one."""
    return run.table("scientists").set_index("scientist")["topic"].dropna()


def _seniority(run: Run) -> pd.Series:
    """Class of seniority by scientist: thirds of the calendar years of first papers."""
    first = run.table("scientists").set_index("scientist")["career_start"].dropna().astype("int64")
    if first.empty:
        return pd.Series(dtype="string")
    late, early = np.quantile(first.to_numpy(), [2 / 3, 1 / 3])
    # As in protocols: all are early-career where all careers are equally long.
    codes = np.where(first >= late, 0, np.where(first <= early, 2, 1))
    return pd.Series([SENIORITY[code] for code in codes], index=first.index, dtype="string")


def _events(run: Run) -> Iterator[tuple[str, pd.Series]]:
    """Stage, and who took part in each of its events."""
    invitations = run.table("invitations")
    yield "invited", invitations["invitee"]
    yield "accepted", invitations.loc[invitations["outcome"] == "accepted", "invitee"]
    yield "consulted", run.table("consultations")["guest"]
    authors = run.table("authorships")
    yield "published", authors["scientist"]
    own = inside_citations(run)[["cited"]]
    yield "cited", own.merge(authors, left_on="cited", right_on="paper")["scientist"]


def _rows(run: Run, group: str, values: pd.Series) -> Iterator[tuple[Any, ...]]:
    """The rows of one way to group people."""
    there = values.value_counts().sort_index()
    for stage, people in _events(run):
        taken = people.map(values).dropna().value_counts()
        total = int(taken.sum())
        if not total:
            continue
        for value, number in there.items():
            count = int(taken.get(value, 0))
            share, expected = count / total, float(number) / float(there.sum())
            band = wilson_interval(count, total, LEVEL)
            ratio = share / expected
            yield group, value, stage, count, total, share, band.low, band.high, expected, ratio
