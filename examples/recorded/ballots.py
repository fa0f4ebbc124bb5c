"""Ballots of novelty assessment by the place and the idea that they name (``ballots.yaml``)."""

import re
from itertools import combinations, permutations

import pandas as pd

import virsci_society as vs
from virsci_society.society.kernel.streams import Streams


def ballots(run: vs.Run) -> pd.DataFrame:
    """One row per valid ballot: the place named in the voter's list, and the idea behind it.

    ``place`` and ``idea`` count from 0, the latter in the order of ratings. ``first`` is 1 where
    the first place was named, else 0.
    """
    calls = run.table("calls")
    switches = run.scenario["protocol"].get("prompts", {}) if len(calls) else {}
    rows = []
    cast = calls[(calls["form"] == "Ballot") & ~calls["defaulted"].astype(bool)]
    for (team, visit, voter), own in cast.groupby(["team", "visit", "scientist"]):
        listed = min(3, sum((calls["form"] == "Idea") & (calls["act"] == "utter")))
        orders = list(permutations(range(listed)))
        drawn = Streams(run.seed).stream("team", team, "ballot order", visit, voter)
        places = drawn.permutation(len(orders)) if switches.get("idea_order") == "permuted" else [0]
        for turn, replies in own.groupby("turn")["reply"]:
            named = re.findall(r'"Decision Made": *"?(?:Idea )?(\d)', replies.iloc[-1])
            if named:
                order = orders[places[(turn - 1) % len(places)]]
                rows.append((team, voter, turn, int(named[0]), order[int(named[0])]))
    table = pd.DataFrame(rows, columns=["team", "scientist", "turn", "place", "idea"])
    table = table.astype(dict.fromkeys(("turn", "place", "idea"), "Int64"))
    return table.assign(first=(table["place"] == 0).astype("Float64"))


def ballot_pairs(run: vs.Run) -> pd.DataFrame:
    """One row per pair of a team's ballots: 1 where both name the same idea, or the same place.

    ``own``: of one voter; ``other``: of two voters; empty in the columns of the other kind.
    """
    rows = []
    for _, cast in ballots(run).groupby("team"):
        for one, two in combinations(cast.itertuples(), 2):
            whose = "own" if one.scientist == two.scientist else "other"
            same = {"idea": one.idea == two.idea, "place": one.place == two.place}
            rows.append({f"{whose}_{what}": float(value) for what, value in same.items()})
    columns = ["own_idea", "other_idea", "own_place", "other_place"]
    return pd.DataFrame(rows, columns=columns).astype("Float64")
