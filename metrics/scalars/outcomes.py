"""Functions from a Run to one number, for the table ``MEASURES``.

Each gives NaN where the tables of the run do not hold what it needs, never zero for it.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from virsci_society.metrics.cost.call_counts import COUNTED
from virsci_society.metrics.cost.ledger import read_ledger
from virsci_society.metrics.impact.inequality import gini
from virsci_society.metrics.networks.active_network import active_structure
from virsci_society.metrics.registry import measure
from virsci_society.metrics.scalars.columns import NAN, ScalarFunction, known_values, mean
from virsci_society.metrics.teams.peer_review import unended
from virsci_society.society.results.run import Run


def mean_of_published_teams(table: str, column: str) -> ScalarFunction:
    """Mean of a column over the teams that wrote a paper, also one that is not visible yet."""

    def of(run: Run) -> float:
        teams, values = run.table("teams"), measure(run, table)
        wrote = teams.loc[teams["state"].isin(["published", "finished"]), "team"]
        return mean(known_values(values.loc[values["team"].isin(wrote), column]))

    return of


def share_with_paper(run: Run) -> float:
    """Teams with a paper, of those that have ended, 0..1.

    A paper that is accepted counts before it is visible; a manuscript in review has not ended.
    """
    states = run.table("teams")["state"]
    return mean(known_values(states[~unended(run)].isin(["published", "finished"])))


def acceptance(run: Run) -> float:
    """Invitations accepted, of those answered by choice, 0..1."""
    outcomes = run.table("invitations")["outcome"]
    return mean(known_values(outcomes[outcomes.isin(["accepted", "declined"])] == "accepted"))


def token_total(*columns: str) -> ScalarFunction:
    """Tokens of all calls, summed over columns; NaN where some call's are not known."""

    def of(run: Run) -> float:
        counted = run.table("calls")[list(columns)]
        return NAN if counted.isna().any(axis=None) else float(counted.sum().sum())

    return of


def usd_paid(run: Run) -> float:
    """US dollars paid; NaN without a ledger, or where something was asked at no known price."""
    ledger = read_ledger(run)
    if ledger is None or (ledger.usd == 0 and ledger.attempts):
        return NAN
    return ledger.usd


def final_structure(network: str, column: str) -> ScalarFunction:
    """A column of the measure ``structure`` on the last day, for one network (all or grown)."""

    def of(run: Run) -> float:
        rows = measure(run, "structure")
        values = rows.loc[rows["network"] == network, column]
        return mean(known_values(values.tail(1)))

    return of


def final_active_structure(column: str) -> ScalarFunction:
    """A column of ``active_structure`` on the last day: joint papers of the last year."""

    def of(run: Run) -> float:
        rows = active_structure(run, windows=(1.0,), every=max(run.days, 1.0))
        values = rows.loc[rows["ties"] == "recent", column]
        return mean(known_values(values.tail(1)))

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


def newcomer_rate(run: Run) -> float:
    """Authorships that are their author's first paper, 0..1 (Guimera et al. 2005)."""
    dates = run.table("papers")[["paper", "published"]]
    by = run.table("authorships").merge(dates, on="paper").sort_values("published", kind="stable")
    if not len(by):
        return NAN
    people = run.table("scientists")
    experienced = set(people.loc[people["papers"].fillna(0) > 0, "scientist"])
    earliest = by.groupby("scientist")["published"].transform("min")
    fresh = (by["published"] == earliest) & ~by["scientist"].isin(experienced)
    return mean(known_values(fresh))


def gini_of_papers(run: Run) -> float:
    """Gini coefficient of papers, among those who wrote any."""
    return gini(known_values(run.table("authorships")["scientist"].value_counts()))


def gini_of_citations(run: Run) -> float:
    """Gini coefficient of citations from the society, among its papers."""
    papers, cites = run.table("papers")["paper"], run.table("citations")
    received = cites.loc[cites["inside"].fillna(False).astype(bool), "cited"].value_counts()
    return gini(known_values(papers.map(received).fillna(0)))


def defaulted_share(run: Run) -> float:
    """Questions whose reply was replaced by a default, of those whose rung is known, 0..1."""
    known_calls = measure(run, "calls_by_rung").dropna(subset=["rung"])
    asked = float(known_calls["calls"].sum())
    spoilt = float(known_calls.loc[known_calls["rung"] == "default", "calls"].sum())
    return spoilt / asked if asked else NAN


def row_count(table: str) -> ScalarFunction:
    """The number of rows of a table."""
    return lambda run: float(len(run.table(table)))


def mean_turns(stage: str) -> ScalarFunction:
    """Turns of a stage in its first visit, mean over the teams that wrote a paper and came to it.

    Counted from utterances and ballots, as the inference cost is.
    """

    def of(run: Run) -> float:
        calls, teams = run.table("calls"), run.table("teams")
        wrote = teams.loc[teams["state"].isin(["published", "finished"]), "team"]
        said = calls[calls["act"].isin(COUNTED) & (calls["stage"] == stage) & (calls["visit"] == 1)]
        return mean(known_values(said[said["team"].isin(wrote)].groupby("team")["turn"].max()))

    return of


def invited_guests(run: Run) -> float:
    """Invitations to somebody whom the inviter had consulted in a team that had ended, 0..1.

    A team has ended when its paper appears, or when it stops without one.
    """
    asked, sent = run.table("consultations"), run.table("invitations")
    if not len(sent):
        return NAN
    ended = _ended(run)
    known = asked.assign(ended=asked["team"].map(ended)).groupby(["asker", "guest"])["ended"].min()
    pairs = sent.merge(
        known.reset_index(),
        how="left",
        left_on=["inviter", "invitee"],
        right_on=["asker", "guest"],
    )
    return float((pairs["ended"] < pairs["sent"]).fillna(False).mean())


def _ended(run: Run) -> pd.Series:
    """The date on which each team ended, by its id; missing while it works or waits for its paper.

    A team that is rejected ends with the last decision, which comes after the work was done.
    """
    teams = run.table("teams").set_index("team")
    decided = run.table("submissions").groupby("team")["decided"].max().reindex(teams.index)
    stopped = decided.fillna(teams["finished"]).where(teams["state"] == "dissolved")
    return teams["published"].fillna(stopped)
