"""Guests: who was consulted once, and is invited into a team later."""

from __future__ import annotations

from metrics.columns import NAN
from society.run import Run


def invited_guests(run: Run) -> float:
    """Invitations to somebody whom the inviter had consulted in a team that had ended, 0..1.

    A team has ended when its paper appears, or when it stops without one.
    """
    asked, sent = run.table("consultations"), run.table("invitations")
    if not len(sent):
        return NAN
    teams = run.table("teams").set_index("team")
    ended = teams["published"].fillna(teams["finished"])
    known = asked.assign(ended=asked["team"].map(ended)).groupby(["asker", "guest"])["ended"].min()
    pairs = sent.merge(
        known.reset_index(),
        how="left",
        left_on=["inviter", "invitee"],
        right_on=["asker", "guest"],
    )
    return float((pairs["ended"] < pairs["sent"]).fillna(False).mean())
