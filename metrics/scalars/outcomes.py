"""Outcomes: what a whole run comes to, as functions from a Run to one number.

Each gives NaN where the run does not tell, never zero for it.
"""

from __future__ import annotations

import numpy as np

from metrics.columns import NAN, Of, mean, numbers
from metrics.cost import COUNTED
from metrics.inequality import gini
from metrics.ledger import ledger_of
from metrics.refereeing import unended
from metrics.table import measure
from society.run import Run


def of_papers(table: str, column: str) -> Of:
    """Mean over the teams that wrote a paper, also one that is not visible yet."""

    def of(run: Run) -> float:
        teams, values = run.table("teams"), measure(run, table)
        wrote = teams.loc[teams["state"].isin(["published", "finished"]), "team"]
        return mean(numbers(values.loc[values["team"].isin(wrote), column]))

    return of


def share_with_paper(run: Run) -> float:
    """Teams with a paper, of those that have ended, 0..1.

    A paper that is accepted counts before it is visible; a manuscript in review has not ended.
    """
    states = run.table("teams")["state"]
    return mean(numbers(states[~unended(run)].isin(["published", "finished"])))


def acceptance(run: Run) -> float:
    """Invitations accepted, of those answered by choice, 0..1."""
    outcomes = run.table("invitations")["outcome"]
    return mean(numbers(outcomes[outcomes.isin(["accepted", "declined"])] == "accepted"))


def tokens(*columns: str) -> Of:
    """Tokens of all calls; NaN where some call's are not known."""

    def of(run: Run) -> float:
        counted = run.table("calls")[list(columns)]
        return NAN if counted.isna().any(axis=None) else float(counted.sum().sum())

    return of


def usd(run: Run) -> float:
    """US dollars paid; NaN without a ledger, or where something was asked at no known price."""
    ledger = ledger_of(run)
    if ledger is None or (ledger.usd == 0 and ledger.attempts):
        return NAN
    return ledger.usd


def last(network: str, column: str) -> Of:
    """A column of ``structure`` on the last day."""

    def of(run: Run) -> float:
        rows = measure(run, "structure")
        values = rows.loc[rows["network"] == network, column]
        return mean(numbers(values.tail(1)))

    return of


def repeat_rate(run: Run) -> float:
    """Joint papers of pairs since day 0 that were not their first, 0..1 (Guimera et al. 2005)."""
    ties = run.table("ties").dropna(subset=["source", "target", "date"])
    papers = ties["papers"].fillna(1).astype(np.float64)
    ties = ties.assign(papers=papers).sort_values("date", kind="stable")
    first = ~ties.duplicated(["source", "target"])
    made = ties[ties["date"] >= 0]
    joint = float(made["papers"].sum())
    return (joint - float((first[made.index]).sum())) / joint if joint else NAN


def first_papers(run: Run) -> float:
    """Authorships that are their author's first paper, 0..1 (Guimera et al. 2005)."""
    dates = run.table("papers")[["paper", "published"]]
    by = run.table("authorships").merge(dates, on="paper").sort_values("published", kind="stable")
    if not len(by):
        return NAN
    people = run.table("scientists")
    experienced = set(people.loc[people["papers"].fillna(0) > 0, "scientist"])
    earliest = by.groupby("scientist")["published"].transform("min")
    fresh = (by["published"] == earliest) & ~by["scientist"].isin(experienced)
    return mean(numbers(fresh))


def productivity(run: Run) -> float:
    """Gini coefficient of papers, among those who wrote any."""
    return gini(numbers(run.table("authorships")["scientist"].value_counts()))


def citations(run: Run) -> float:
    """Gini coefficient of citations from the society, among its papers."""
    papers, cites = run.table("papers")["paper"], run.table("citations")
    received = cites.loc[cites["inside"].fillna(False).astype(bool), "cited"].value_counts()
    return gini(numbers(papers.map(received).fillna(0)))


def defaulted(run: Run) -> float:
    """Questions whose reply was replaced by a default, of those whose rung is known, 0..1."""
    known_calls = measure(run, "calls_by_rung").dropna(subset=["rung"])
    asked = float(known_calls["calls"].sum())
    spoilt = float(known_calls.loc[known_calls["rung"] == "default", "calls"].sum())
    return spoilt / asked if asked else NAN


def rows(table: str) -> Of:
    """How many rows a table has."""
    return lambda run: float(len(run.table(table)))


def turns_of(stage: str) -> Of:
    """Turns of a stage in its first visit, mean over the teams that wrote a paper and came to it.

    Counted from utterances and ballots, as the inference cost is.
    """

    def of(run: Run) -> float:
        calls, teams = run.table("calls"), run.table("teams")
        wrote = teams.loc[teams["state"].isin(["published", "finished"]), "team"]
        said = calls[calls["act"].isin(COUNTED) & (calls["stage"] == stage) & (calls["visit"] == 1)]
        return mean(numbers(said[said["team"].isin(wrote)].groupby("team")["turn"].max()))

    return of
