"""Each manuscript as if two panels had judged it apart, as in the experiments of NeurIPS.

The reviewers of a first round do not hear each other, so that each half of their seats is a panel.
What it would have decided follows from its reviews and from the rule of the scenario.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from virsci_society.society.results.dataframes import typed_table
from virsci_society.society.results.run import Run

COLUMNS = {
    **{"team": "string", "submission": "Int64", "panel": "string", "reviewers": "string"},
    **{"reviews": "Int64", "score": "Float64", "decision": "string"},
}


def panels(run: Run) -> pd.DataFrame:
    """Who judged what, in two panels (Beygelzimer et al. 2023).

    The seats of the first round of each submission are halved; of an odd number the last seat is
    left out. So a duplicated panel of three needs ``publication.reviewers: 6``.

    Returns:
        One row per panel of a decided first round: ``team``, ``submission``, ``panel`` (first or
        second), ``reviewers`` (who recommended something, separated by "; "), ``reviews``, mean
        overall ``score`` and the ``decision`` (accept, revise, reject) of these reviews alone by
        the rule of the scenario; missing without a review.
    """
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
            decision = _decision(run, seats["recommendation"].tolist(), scores)
            mean = sum(scores) / len(scores) if scores else None
            names = "; ".join(seats["scientist"]) or None
            rows.append((team, submission, name, names, len(scores), mean, decision))
    return typed_table(rows, COLUMNS)


def panel_agreement(run: Run) -> pd.DataFrame:
    """How often two panels decide differently (Beygelzimer et al. 2023).

    A revision that is asked for is no acceptance.

    Returns:
        One row: ``manuscripts`` on which both panels have a review, ``accepted`` (share of the
        decisions), ``both``, ``one`` and ``neither`` (manuscripts accepted by so many panels),
        ``disagree`` (one over manuscripts, 0..1), ``by_chance`` (the same where each panel drew its
        acceptances at random) and ``changes`` (of the acceptances of one panel, the share that the
        other does not accept, 0..1). Missing where nothing is to be counted.
    """
    table = run.measure(panels).dropna(subset=["decision"])
    pairs = table.groupby(["team", "submission"])["decision"].agg(list)
    votes = [[one == "accept" for one in pair] for pair in pairs if len(pair) == 2]
    total = len(votes)
    counts = [sum(sum(pair) == accepted for pair in votes) for accepted in (2, 1, 0)]
    both, one, _ = counts
    accepted = 2 * both + one
    first, second = (sum(pair[place] for pair in votes) for place in (0, 1))
    chance = (first * (total - second) + second * (total - first)) / total**2 if total else None
    row = (
        *(total, accepted / (2 * total) if total else None, *counts),
        *(one / total if total else None, chance, one / accepted if accepted else None),
    )
    whole = dict.fromkeys(("both", "one", "neither"), "Int64")
    shares = dict.fromkeys(("disagree", "by_chance", "changes"), "Float64")
    return typed_table([row], {"manuscripts": "Int64", "accepted": "Float64", **whole, **shares})


def _decision(run: Run, said: Sequence[str], scores: Sequence[float]) -> str | None:
    """What the rule of the scenario makes of some reviews; None without any."""
    if not said:
        return None
    publication: Any = run.scenario.get("publication") or {}
    rule = publication.get("decision") or {}
    yes, no, total = said.count("accept"), said.count("reject"), len(said)
    kind = rule.get("rule", "majority")
    if kind == "mean":
        mean = sum(scores) / len(scores)
        low, high = rule.get("reject_below", 5.0), rule.get("accept_from", 6.5)
        return "accept" if mean >= high else "reject" if mean < low else "revise"
    if kind == "all":
        return "accept" if yes == total else "reject" if no else "revise"
    return "accept" if 2 * yes > total else "reject" if 2 * no > total else "revise"
