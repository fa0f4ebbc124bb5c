"""Ballots of novelty assessment by the place and the idea that they name (``ballots.yaml``).

``python ballots.py STUDY_FOLDER`` writes ``ballots.csv``, a row per ballot. Without a folder it
prints shares and tests of the file.
"""

import re
import sys
from itertools import combinations, permutations
from pathlib import Path

import pandas as pd
from scipy import stats

import virsci_society as vs
from virsci_society.metrics.inference.comparisons import holm
from virsci_society.society.kernel.streams import Streams


def ballots(run: vs.Run) -> pd.DataFrame:
    """One row per valid ballot: the place named in the voter's list, and the idea behind it.

    ``place`` and ``idea`` count from 0, the latter in the order of ratings. ``first`` is 1 where
    the first place was named, else 0.
    """
    calls = run.table("calls")
    switches = run.scenario["protocol"].get("prompts", {}) if len(calls) else {}
    rows = []
    # The row of a vote has the reply that counts; after unreadable ones it is an abstention.
    cast = calls[(calls["act"] == "vote") & ~calls["defaulted"].astype(bool)]
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


def interval(values: pd.Series) -> str:
    """Mean over teams with its 95 % t interval."""
    if values.nunique() < 2:
        return f"{values.mean():.2f} (every team)"
    low, high = stats.t.interval(0.95, len(values) - 1, values.mean(), stats.sem(values))
    return f"{values.mean():.2f} ({low:.2f} to {high:.2f})"


def gather(folder: Path, kept: Path) -> None:
    """Write the ballots of all runs of a study that are done."""
    runs = pd.read_parquet(folder / "runs.parquet")
    cast = [
        ballots(vs.Run.open(folder / "runs" / f"{one.run:04d}"))
        .assign(arm=one.arm, replicate=one.replicate)
        .drop(columns="first")
        for one in runs[runs["state"] == "done"].itertuples()
    ]
    pd.concat(cast).to_csv(kept, index=False)


def main() -> None:
    """Gather the ballots of a study, and print the planned shares and tests."""
    kept = Path(__file__).with_name("ballots.csv")
    if len(sys.argv) > 1:
        gather(Path(sys.argv[1]), kept)
    cast = pd.read_csv(kept)
    teams = [
        {"arm": arm, "replicate": replicate, **pairs_of(own)}
        for (arm, replicate), own in cast.groupby(["arm", "replicate"])
    ]
    # Of a replicate both arms have ballots, or it is left out.
    table = pd.DataFrame(teams).set_index(["replicate", "arm"]).unstack().dropna()
    usual, both = (table.xs(arm, axis=1, level=1) for arm in ("usual order", "both orders"))
    votes = cast.groupby("arm").size()
    print(f"{len(table)} teams; ballots: {votes['usual order']} and {votes['both orders']}")
    for name in usual:
        row = [interval(one) for one in (usual[name], both[name], both[name] - usual[name])]
        print(f"{name:24} {row[0]:22} {row[1]:22} {row[2]}")
    tests = {
        f"{arm}, first place named": stats.ttest_1samp(shares["first place named"], 0.5).pvalue
        for arm, shares in (("usual order", usual), ("both orders", both))
    }
    for name in ("same idea, two voters", "same idea, one voter"):
        tests[f"difference, {name}"] = stats.ttest_rel(both[name], usual[name]).pvalue
    for name, corrected in zip(tests, holm(list(tests.values())), strict=True):
        print(f"p = {tests[name]:.3f}, {corrected:.3f} after Holm's correction: {name}")


if __name__ == "__main__":
    main()
