"""Newcomers, incumbents and repeated collaborations in teams (Guimera et al. 2005)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from virsci_society.metrics.impact import (
    AuthorshipTable,
    authorships_of,
    coauthor_links,
    first_paper_dates,
    map_numbers,
)
from virsci_society.metrics.networks.structure import MONTH, sample_dates
from virsci_society.society.results.run import Run

COUNTS = (
    *("papers", "authorships", "incumbents", "links"),
    *("newcomer_newcomer", "newcomer_incumbent", "incumbent_incumbent", "repeats"),
)


def assembly(run: Run, every: float = MONTH) -> pd.DataFrame:
    """The quantities of team assembly (Guimera et al. 2005), over the papers of the run.

    An incumbent has a paper dated before; a link is a pair of authors of one paper. p and q are
    counted here, from the links there are; in the model of 2005 the same letters are the
    chances by which teams are made, and q of the model is more than the share counted, since an
    incumbent may have no old partner to choose, or meet one by chance.

    Returns:
        One row per ``date``, for the papers since the row before: ``papers``, ``authorships``,
        ``incumbents`` (authorships of them), ``links``, of which ``newcomer_newcomer``,
        ``newcomer_incumbent``, ``incumbent_incumbent``, and ``repeats`` (of a pair with an
        earlier joint paper); ``p`` (incumbents / authorships, 0..1), ``q`` (repeats /
        incumbent_incumbent, 0..1), ``repeat_rate`` (repeats / links, 0..1); and ``p_so_far``,
        ``q_so_far``, ``repeat_rate_so_far`` over all papers up to the date. Missing where there
        is nothing to divide by.
    """
    return assembly_table(authorships_of(run), sample_dates(run.days, every))


def assembly_table(works: AuthorshipTable, days: list[float]) -> pd.DataFrame:
    """The table of ``assembly`` for any authorships."""
    edges = np.array(days)
    written, tied = works.rows, coauthor_links(works)
    known = map_numbers(written["scientist"], first_paper_dates(works)) < written["date"]
    kinds = [tied["incumbents"] == number for number in range(3)]
    events = {
        "papers": written.drop_duplicates("paper")["date"],
        "authorships": written["date"],
        "incumbents": written.loc[known.astype(bool), "date"],
        "links": tied["date"],
        "newcomer_newcomer": tied.loc[kinds[0], "date"],
        "newcomer_incumbent": tied.loc[kinds[1], "date"],
        "incumbent_incumbent": tied.loc[kinds[2], "date"],
        "repeats": tied.loc[tied["repeat"], "date"],
    }
    table = pd.DataFrame({"date": pd.array(edges, dtype="Float64")})
    so_far = pd.DataFrame(index=table.index)
    for name in COUNTS:
        # Counts so far first, then their differences: both agree to the last paper.
        when = np.sort(events[name].to_numpy(dtype=np.float64))
        so_far[name] = np.searchsorted(when, edges, side="right")
        table[name] = pd.array(np.diff(so_far[name], prepend=0), dtype="Int64")
    for end, counted in (("", table), ("_so_far", so_far)):
        table[f"p{end}"] = _share(counted["incumbents"], counted["authorships"])
        table[f"q{end}"] = _share(counted["repeats"], counted["incumbent_incumbent"])
        table[f"repeat_rate{end}"] = _share(counted["repeats"], counted["links"])
    return table


def _share(part: pd.Series, whole: pd.Series) -> pd.Series:
    parts, wholes = part.astype("Float64"), whole.astype("Float64")
    return parts / wholes.where(wholes > 0)
