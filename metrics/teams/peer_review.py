"""Outcomes of submitted manuscripts, the load of reviewers, and the agreement of two panels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from virsci_society.agents.arrays import gini
from virsci_society.metrics.inference.correlations import krippendorff_alpha
from virsci_society.metrics.registry import NAN, mean, measures, metric
from virsci_society.society.results.dataframes import known_numbers, typed_table
from virsci_society.society.results.run import Run

KEY = ["team", "submission"]
ROUND = [*KEY, "round"]


@measures(
    "teams",
    """
    review_acceptance=acceptance  share  share of submissions accepted: of those accepted or
        rejected
    days_in_review=days  days  mean time in review: from submission to decision
    reviews_late=late  share  share of late reviews: reminded or given up, of those assigned
    reviewer_load=load  reviews  mean number of reviews per reviewer: who delivered any
    gini_reviews=gini  index  Gini coefficient of reviews per reviewer (Gini 1912)
    reviewer_agreement=agreement  correlation  agreement of reviewers: Krippendorff's alpha of
        overall scores (Krippendorff 2011)
    """,
)
@metric("teams")
def review_outcomes(run: Run) -> pd.DataFrame:
    """Outcomes of all submissions together (this project)."""
    rounds, referees = run.table("submissions"), run.table("referees")
    ordered = rounds.sort_values(ROUND, kind="stable")
    first = ordered.drop_duplicates(KEY)[[*KEY, "submitted"]]
    # The last round of each submission, with the date on which it was first handed in.
    ends = ordered.drop_duplicates(KEY, keep="last").drop(columns="submitted").merge(first, on=KEY)
    decided = ends[ends["decision"].isin(["accept", "reject"])]
    answered = referees[referees["invited"].notna() & referees["answered"].notna()]
    ended = referees[referees["assigned"].notna() & referees["outcome"].notna()]
    late = (ended["reminders"] > 0).fillna(False) | ended["outcome"].isin(["late"])
    said = referees.dropna(subset=["recommendation"]).groupby(ROUND)["recommendation"]
    # Pairs of reviewers of one round who recommend the same.
    pairs = [one == other for _, told in said for one, other in combinations(told.tolist(), 2)]
    scored = referees.dropna(subset=["score"])
    table = scored.assign(place=scored.groupby(ROUND).cumcount())
    table = table.pivot_table("score", "place", ROUND)
    alpha = krippendorff_alpha(table.to_numpy(dtype=np.float64)) if len(table) > 1 else NAN
    delivered = referees.loc[referees["delivered"].notna(), "scientist"].value_counts()
    numbers = {
        "manuscripts": rounds["team"].nunique(),
        "submissions": len(ends),
        "decided": len(decided),
        "accepted": int((decided["decision"].isin(["accept"])).sum()),
        "acceptance": mean(known_numbers(decided["decision"].isin(["accept"]))),
        "rounds": mean(known_numbers(decided["round"])),
        "days": mean(known_numbers(decided["decided"] - decided["submitted"])),
        "asked": len(answered),
        "declined": mean(known_numbers(answered["outcome"].isin(["declined"]))),
        "assigned": len(ended),
        "late": mean(known_numbers(late)),
        "reviews": mean(known_numbers(rounds["reviews"])),
        "reviewers": len(delivered),
        "load": mean(known_numbers(delivered)),
        "gini": gini(delivered.to_numpy()),
        "same": float(np.mean(pairs)) if pairs else NAN,
        "agreement": alpha,
    }
    kinds = {name: "Int64" if isinstance(one, int) else "Float64" for name, one in numbers.items()}
    return pd.DataFrame([numbers]).astype(kinds)


def unended(run: Run) -> pd.Series:
    """Whether each team, by its place in ``teams``, is at work or has a manuscript in review."""
    teams, rounds = run.table("teams"), run.table("submissions")
    accepted = rounds.loc[rounds["decision"] == "accept", "team"]
    judged = teams["team"].isin(rounds["team"]) & ~teams["team"].isin(accepted)
    return (teams["state"] == "running") | ((teams["state"] == "finished") & judged)


COLUMNS = {
    **{"team": "string", "submission": "Int64", "panel": "string", "reviewers": "string"},
    **{"reviews": "Int64", "score": "Float64", "decision": "string"},
}


@metric("teams")
def panels(run: Run) -> pd.DataFrame:
    """Who judged what, in two panels (Beygelzimer et al. 2023)."""
    decided = run.table("submissions").dropna(subset=["decided"])
    decided = decided.loc[decided["round"] == 1, ["team", "submission"]]
    referees = run.table("referees")
    referees = referees[referees["round"] == 1].merge(decided, on=["team", "submission"])
    size = int(referees["seat"].max() + 1) // 2 if len(referees) else 0
    said = referees.dropna(subset=["recommendation"])
    by = dict(list(said.groupby(["team", "submission"])))
    rows = []
    for team, submission in decided.itertuples(index=False) if size else ():
        own = by.get((team, submission), said.iloc[:0])
        for number, name in enumerate(("first", "second")):
            seats = own[own["seat"].between(number * size, (number + 1) * size - 1)]
            scores = seats["score"].tolist()
            decision = _decision(run, seats["recommendation"].tolist())
            score = sum(scores) / len(scores) if scores else None
            names = "; ".join(seats["scientist"]) or None
            rows.append((team, submission, name, names, len(scores), score, decision))
    return typed_table(rows, COLUMNS)


@metric("teams")
def panel_agreement(run: Run) -> pd.DataFrame:
    """How often two panels decide differently (Beygelzimer et al. 2023)."""
    table = run.metric(panels).dropna(subset=["decision"])
    pairs = table.groupby(["team", "submission"])["decision"].agg(list)
    votes = [[one == "accept" for one in pair] for pair in pairs if len(pair) == 2]
    total = len(votes)
    accepting = Counter(map(sum, votes))
    both, one, neither = (accepting[panels] for panels in (2, 1, 0))
    accepted = 2 * both + one
    first, second = (sum(panel) for panel in zip(*votes, strict=True)) if votes else (0, 0)
    chance = (first * (total - second) + second * (total - first)) / total**2 if total else None
    row = (
        *(total, accepted / (2 * total) if total else None, both, one, neither),
        *(one / total if total else None, chance, one / accepted if accepted else None),
    )
    whole = dict.fromkeys(("both", "one", "neither"), "Int64")
    shares = dict.fromkeys(("disagree", "by_chance", "changes"), "Float64")
    return typed_table([row], {"manuscripts": "Int64", "accepted": "Float64", **whole, **shares})


def _decision(run: Run, said: Sequence[str]) -> str | None:
    """What the rule of the scenario makes of some reviews; None without any."""
    if not said:
        return None
    publication: Any = run.scenario.get("publication") or {}
    yes, no, total = said.count("accept"), said.count("reject"), len(said)
    unanimous = publication.get("decision") == "all"
    if yes == total or (2 * yes > total and not unanimous):
        return "accept"
    return "reject" if 2 * no > total or (no and unanimous) else "revise"
