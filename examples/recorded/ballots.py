"""Ballots of novelty assessment by the place and the idea that they name (``ballots.yaml``).

``python ballots.py STUDY_FOLDER`` writes ``ballots.csv``, a row per ballot; without a folder it
prints the shares of the file, with means over teams and t intervals.
"""

import re
import sys
from itertools import combinations, permutations
from pathlib import Path

import pandas as pd
from scipy import stats

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


def pairs_of(cast: pd.DataFrame) -> dict[str, float]:
    """Shares of a team's pairs of ballots that name the same idea, or the same place."""
    votes = list(combinations(cast.itertuples(), 2))
    shares = {"first place named": float((cast["place"] == 0).mean())}
    for whose, own in (("one voter", True), ("two voters", False)):
        mine = [(a, b) for a, b in votes if (a.scientist == b.scientist) == own]
        for what in ("idea", "place"):
            same = [getattr(a, what) == getattr(b, what) for a, b in mine]
            shares[f"same {what}, {whose}"] = sum(same) / len(same) if same else float("nan")
    return shares


def described(values: pd.Series) -> str:
    """Mean over teams with a 95 % t interval, and p against one half."""
    known = values.dropna()
    low, high = stats.t.interval(0.95, len(known) - 1, known.mean(), stats.sem(known))
    p = stats.ttest_1samp(known, 0.5).pvalue
    return f"{known.mean():.2f} ({low:.2f} to {high:.2f}), p = {p:.3f}"


def main() -> None:
    """Gather the ballots of a study, or describe those that were gathered."""
    kept = Path(__file__).with_name("ballots.csv")
    if len(sys.argv) > 1:
        runs = pd.read_parquet(Path(sys.argv[1]) / "runs.parquet")
        done = runs[runs["state"] == "done"].itertuples()
        gathered = [
            ballots(vs.Run.open(Path(sys.argv[1]) / "runs" / f"{one.run:04d}")).assign(
                arm=one.arm, replicate=one.replicate
            )
            for one in done
        ]
        pd.concat(gathered).drop(columns=["first"]).to_csv(kept, index=False)
    cast = pd.read_csv(kept)
    teams = [
        {"arm": arm, "replicate": replicate, **pairs_of(own)}
        for (arm, replicate), own in cast.groupby(["arm", "replicate"])
    ]
    table = pd.DataFrame(teams).set_index(["replicate", "arm"]).unstack()
    for name in table.columns.levels[0]:
        arms = table[name][["usual order", "both orders"]]
        print(name)
        for arm in arms:
            print(f"  {arm}: {described(arms[arm])}; {arms[arm].count()} teams")
        print(f"  difference: {described(0.5 + arms['both orders'] - arms['usual order'])}, + .5")


if __name__ == "__main__":
    main()
