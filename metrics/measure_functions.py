"""Measures that no statistic of one column gives: functions from a Run to one number."""

from __future__ import annotations

import pandas as pd

from virsci_society.metrics.cost import COUNTED, read_ledger
from virsci_society.metrics.networks.structure import (
    active_structure,
    adjacency,
    network_statistics,
    network_ties,
)
from virsci_society.metrics.population import people_ever
from virsci_society.metrics.registry import NAN, compute_metric, mean
from virsci_society.metrics.teams.peer_review import teams_with_paper, unended
from virsci_society.society.results.dataframes import known_numbers
from virsci_society.society.results.run import Run

STAGES_OF_IDEA = ("selection", "topic", "ideas", "novelty")
"""Stages up to the idea; an abstract, or reviews of it, come after them."""


def scientists(run: Run) -> float:
    """Scientists of day 0 and all who have come since."""
    return float(people_ever(run))


def share_with_paper(run: Run) -> float:
    """Teams with a paper, of those that have ended, 0..1."""
    states = run.table("teams")["state"]
    return mean(known_numbers(states[~unended(run)].isin(["published", "finished"])))


def people_with_paper(run: Run) -> float:
    """Scientists with a paper since day 0, of all who were ever there, 0..1."""
    people = people_ever(run)
    return run.table("authorships")["scientist"].nunique() / people if people else NAN


def giant_component_people(run: Run) -> float:
    """Scientists in the largest component of joint papers since day 0, of all, 0..1."""
    people = people_ever(run)
    tied = network_statistics(adjacency(network_ties(run.table("ties"), "grown")))
    nodes, share = tied["nodes"] or 0, tied["giant_share"] or 0.0
    return nodes * share / people if people else NAN


def acceptance(run: Run) -> float:
    """Invitations accepted, of those answered by choice, 0..1."""
    outcomes = run.table("invitations")["outcome"]
    return mean(known_numbers(outcomes[outcomes.isin(["accepted", "declined"])] == "accepted"))


def token_total(run: Run, *columns: str) -> float:
    """Tokens of all calls, summed over columns; NaN where some call's are not known."""
    counted = run.table("calls")[list(columns)]
    return NAN if counted.isna().any(axis=None) else float(counted.sum().sum())


def calls_after_idea(run: Run) -> float:
    """Calls of a team with a paper in the stages that follow its idea, mean over those teams."""
    calls, written = run.table("calls"), teams_with_paper(run)
    after = calls["team"].isin(written) & ~calls["stage"].isin(STAGES_OF_IDEA)
    return float(after.sum()) / len(written) if len(written) else NAN


def usd_paid(run: Run) -> float:
    """US dollars paid; NaN without a ledger, or where something was asked at no known price."""
    ledger = read_ledger(run)
    if ledger is None or (ledger.usd == 0 and ledger.attempts):
        return NAN
    return ledger.usd


def active_at_end(run: Run, column: str) -> float:
    """A column of ``active_structure`` on the last day: joint papers of the last year."""
    rows = active_structure(run, windows=(1.0,), every=max(run.days, 1.0))
    return mean(known_numbers(rows[column].tail(1)))


def defaulted_share(run: Run) -> float:
    """Questions whose reply was replaced by a default, of those whose rung is known, 0..1."""
    known_calls = compute_metric(run, "calls_by_rung").dropna(subset=["rung"])
    asked = float(known_calls["calls"].sum())
    spoilt = float(known_calls.loc[known_calls["rung"] == "default", "calls"].sum())
    return spoilt / asked if asked else NAN


def noticed_share(run: Run, what: str) -> float:
    """Questions to a model of whose replies something was noticed (``reply_texts``), 0..1."""
    counts = compute_metric(run, "reply_texts")
    asked = float(counts["asked"].sum())
    return float(counts[what].sum()) / asked if asked else NAN


def mean_turns(run: Run, stage: str) -> float:
    """Turns of a stage in its first visit, mean over the teams with a paper that came to it."""
    calls, wrote = run.table("calls"), teams_with_paper(run)
    said = calls[calls["act"].isin(COUNTED) & (calls["stage"] == stage) & (calls["visit"] == 1)]
    return mean(known_numbers(said[said["team"].isin(wrote)].groupby("team")["turn"].max()))


def invited_guests(run: Run) -> float:
    """Invitations to somebody whom the inviter had consulted in a team that had ended, 0..1."""
    asked, sent = run.table("consultations"), run.table("invitations")
    if not len(sent):
        return NAN
    ended = _ended(run)
    known = asked.assign(ended=asked["team"].map(ended)).groupby(["asker", "guest"])["ended"].min()
    pairs = sent.merge(
        known.reset_index(), how="left", left_on=["inviter", "invitee"], right_on=["asker", "guest"]
    )
    return float((pairs["ended"] < pairs["sent"]).fillna(False).mean())


def _ended(run: Run) -> pd.Series:
    """The date on which each team ended, by its id; missing while it works or waits."""
    # A team that is rejected ends with the last decision, which comes after its work was done.
    teams = run.table("teams").set_index("team")
    decided = run.table("submissions").groupby("team")["decided"].max().reindex(teams.index)
    stopped = decided.fillna(teams["finished"]).where(teams["state"] == "dissolved")
    return teams["published"].fillna(stopped)
