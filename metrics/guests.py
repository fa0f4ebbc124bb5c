"""Guests: who was consulted once, and is invited into a team later."""

from __future__ import annotations

import pandas as pd

from metrics.columns import NAN
from society.run import Run


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

    Who is rejected ends with the last decision, which comes after the work was done.
    """
    teams = run.table("teams").set_index("team")
    decided = run.table("submissions").groupby("team")["decided"].max().reindex(teams.index)
    stopped = decided.fillna(teams["finished"]).where(teams["state"] == "dissolved")
    return teams["published"].fillna(stopped)
