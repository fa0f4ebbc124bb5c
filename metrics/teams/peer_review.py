"""Outcomes of submitted manuscripts, and the load of reviewers."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd

from virsci_society.metrics.impact import gini
from virsci_society.metrics.inference.correlations import krippendorff_alpha
from virsci_society.society.results.run import Run

KEY = ["team", "submission"]
ROUND = [*KEY, "round"]
NAN = float("nan")


def review_outcomes(run: Run) -> pd.DataFrame:
    """Outcomes of all submissions together (this project).

    A submission is decided when it is accepted or rejected; a revision is not the end of it.

    Returns:
        One row: ``manuscripts`` (teams that handed one in), ``submissions``, ``decided``,
        ``accepted``, ``acceptance`` (accepted over decided, 0..1), ``rounds`` (mean over those
        decided), ``days`` (mean from the submission to its decision, revisions included),
        ``asked`` (requests to review that were answered), ``declined`` (share of them, 0..1),
        ``assigned`` (reviews that reached a desk and have come to an end there), ``late`` (share
        of them that were reminded or given up, 0..1), ``reviews`` (mean per decided round),
        ``reviewers`` (scientists who delivered one), ``load`` (mean reviews of those), ``gini``
        (of their reviews, 0..1), ``same`` (pairs of reviewers of one round with the same
        recommendation, 0..1) and ``agreement`` (Krippendorff's alpha of their scores, up to 1;
        Krippendorff 2011). Missing where nothing is to be counted.
    """
    rounds, referees = run.table("submissions"), run.table("referees")
    ends = _ends(rounds)
    decided = ends[ends["decision"].isin(["accept", "reject"])]
    answered = referees[referees["invited"].notna() & referees["answered"].notna()]
    ended = referees[referees["assigned"].notna() & referees["outcome"].notna()]
    delivered = referees.loc[referees["delivered"].notna(), "scientist"].value_counts()
    counts = {
        "manuscripts": rounds["team"].nunique(),
        "submissions": len(ends),
        "decided": len(decided),
        "accepted": int((decided["decision"].isin(["accept"])).sum()),
        "asked": len(answered),
        "assigned": len(ended),
        "reviewers": len(delivered),
    }
    shares = {
        "acceptance": _mean(decided["decision"].isin(["accept"])),
        "rounds": _mean(decided["round"]),
        "days": _mean(decided["decided"] - decided["submitted"]),
        "declined": _mean(answered["outcome"].isin(["declined"])),
        "late": _mean(_late(ended)),
        "reviews": _mean(rounds["reviews"]),
        "load": _mean(delivered),
        "gini": gini(delivered.to_numpy()),
        "same": _same(referees),
        "agreement": _alpha(referees),
    }
    whole = pd.DataFrame([counts]).astype("Int64")
    parts = pd.DataFrame([shares]).astype("Float64")
    order = ["manuscripts", "submissions", "decided", "accepted", "acceptance", "rounds", "days"]
    order += ["asked", "declined", "assigned", "late", "reviews", "reviewers", "load", "gini"]
    return pd.concat([whole, parts], axis=1)[[*order, "same", "agreement"]]


def reviewers(run: Run) -> pd.DataFrame:
    """Reviews of each scientist who was asked to review (this project).

    Returns:
        One row per scientist: ``scientist``, ``asked`` (requests), ``declined``, ``delivered``,
        ``late`` (reviews that were reminded or given up), ``queue`` and ``days`` (means over the
        reviews delivered: from the desk to being taken up, and to being done) and ``score`` (mean
        overall score it gave). Most reviews first.
    """
    referees = run.table("referees")
    begun = _begun(run)
    joined = referees.merge(begun, on=[*ROUND, "scientist"], how="left")
    done = joined["delivered"].notna()
    rows = joined.assign(
        asked=joined["invited"].notna(),
        declined=joined["outcome"].isin(["declined"]),
        late=_late(joined),
        queue=(joined["started"] - joined["assigned"]).where(done),
        days=joined["delivered"] - joined["assigned"],
        delivered=done,
    )
    counts = ["asked", "declined", "delivered", "late"]
    rows[counts] = rows[counts].fillna(False).astype("Int64")
    grouped = rows.groupby("scientist")
    means = ["queue", "days", "score"]
    table = pd.concat([grouped[counts].sum(), grouped[means].mean()], axis=1).reset_index()
    table = table.astype({**dict.fromkeys(counts, "Int64"), **dict.fromkeys(means, "Float64")})
    order = ["delivered", "asked", "scientist"]
    table = table.sort_values(order, ascending=[False, False, True], kind="stable")
    return table.reset_index(drop=True)


def teams_with_paper(run: Run) -> pd.Series:
    """Ids of the teams that wrote a paper, also one that is not visible yet."""
    teams = run.table("teams")
    return teams.loc[teams["state"].isin(["published", "finished"]), "team"]


def unended(run: Run) -> pd.Series:
    """Whether each team, by its place in ``teams``, is at work or has a manuscript in review.

    An accepted paper that is not visible yet is the end of its team.
    """
    teams, rounds = run.table("teams"), run.table("submissions")
    accepted = rounds.loc[rounds["decision"] == "accept", "team"]
    judged = teams["team"].isin(rounds["team"]) & ~teams["team"].isin(accepted)
    return (teams["state"] == "running") | ((teams["state"] == "finished") & judged)


def _ends(rounds: pd.DataFrame) -> pd.DataFrame:
    """The last round of each submission, with the date on which it was first handed in."""
    ordered = rounds.sort_values(ROUND, kind="stable")
    last = ordered.drop_duplicates(KEY, keep="last")
    first = ordered.drop_duplicates(KEY)[[*KEY, "submitted"]]
    return last.drop(columns="submitted").merge(first, on=KEY)


def _begun(run: Run) -> pd.DataFrame:
    """When each piece of homework in review was taken up."""
    desks = run.table("homework")
    desks = desks[desks["stage"] == "publication"].rename(
        columns={"visit": "submission", "turn": "round"}
    )
    return desks[[*ROUND, "scientist", "started"]].drop_duplicates([*ROUND, "scientist"])


def _late(referees: pd.DataFrame) -> pd.Series:
    """Whether each review was reminded or given up."""
    return (referees["reminders"] > 0).fillna(False) | referees["outcome"].isin(["late"])


def _same(referees: pd.DataFrame) -> float:
    """Share of the pairs of reviewers of one round who recommend the same."""
    said = referees.dropna(subset=["recommendation"])
    pairs = [
        one == other
        for _, given in said.groupby(ROUND)["recommendation"]
        for one, other in combinations(given.tolist(), 2)
    ]
    return float(np.mean(pairs)) if pairs else NAN


def _alpha(referees: pd.DataFrame) -> float:
    """Krippendorff's alpha of the overall scores, an item per round."""
    scored = referees.dropna(subset=["score"])
    place = scored.groupby(ROUND).cumcount()
    table = scored.assign(place=place).pivot_table("score", "place", ROUND)
    return krippendorff_alpha(table.to_numpy(dtype=np.float64)) if len(table) > 1 else NAN


def _mean(values: pd.Series) -> float:
    known = values.dropna().to_numpy(dtype=np.float64)
    return float(known.mean()) if len(known) else NAN
