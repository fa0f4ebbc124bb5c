"""How long co-authors write together, and how often (Petersen 2015).

The strength of a tie is the number of joint papers of two scientists; its lifetime goes from their
first joint paper to their last one. Both are known of papers since day 0 only: papers before day
0 are counted, and not dated, in the tables of a run.

Source:
    Petersen, A. M. (2015). Quantifying the impact of weak, strong, and super ties in scientific
    careers. PNAS 112, E4671-E4680.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from virsci_society.agents.arrays import BoolArray
from virsci_society.metrics.networks.structure import NETWORKS, network_ties
from virsci_society.society.literature.papers import DAYS_PER_YEAR
from virsci_society.society.results.run import Run

SILENCE = float(DAYS_PER_YEAR)
"""Days since the last joint paper, at the end of the run, below which a tie is unfinished."""
COUNTS = ("pairs", "joint_papers", "scientists")
SHARES = (
    *("strength", "once", "lifetime", "lifetime_repeated", "gap", "unfinished"),
    *("super_ties", "with_super_tie", "overlap"),
)


def tie_lifetimes(run: Run) -> pd.DataFrame:
    """Strength and lifetime of ties in both networks at the end (Petersen 2015).

    A run ends while people still write together, so lifetimes are cut off: ``unfinished`` says
    for how many ties. Compare runs of one length, or windows of one length.
    """
    ties, papers = run.table("ties"), run.table("authorships")["scientist"].value_counts()
    rows = []
    for network in NETWORKS:
        pairs = pair_histories(network_ties(ties, network))
        row = {"network": network, **_strengths(pairs), **_of_scientists(pairs)}
        # Ties of before day 0 have no dates, so the whole network has no lifetimes.
        if network == "grown":
            row |= _lifetimes(pairs, run.days) | {"overlap": _overlap(pairs, papers)}
        rows.append(row)
    kinds = {"network": "string", **dict.fromkeys(COUNTS, "Int64")}
    kinds |= dict.fromkeys(SHARES, "Float64")
    columns = ("network", "pairs", "joint_papers", *SHARES[:6], "scientists", *SHARES[6:])
    return pd.DataFrame(rows, columns=list(columns)).astype(kinds)


def tie_strengths(run: Run) -> pd.DataFrame:
    """The distribution of the strength of ties at the end (Petersen 2015)."""
    parts = []
    for network in NETWORKS:
        pairs = pair_histories(network_ties(run.table("ties"), network))
        lived = pairs["last"] - pairs["first"] if network == "grown" else np.nan
        grouped = pairs.assign(lived=lived).groupby("joint_papers", sort=True)["lived"]
        counts, mean = grouped.size(), grouped.mean()
        # At least so many: the distribution is read from its tail.
        above = counts[::-1].cumsum()[::-1] / max(int(counts.sum()), 1)
        columns = {"joint_papers": counts.index, "pairs": counts.to_numpy()}
        columns |= {"share_above": above.to_numpy(), "lifetime": mean.to_numpy()}
        parts.append(pd.DataFrame({"network": network, **columns}))
    kinds = {"network": "string", "joint_papers": "Int64", "pairs": "Int64"}
    kinds |= {"share_above": "Float64", "lifetime": "Float64"}
    return pd.concat(parts, ignore_index=True).astype(kinds)


def pair_histories(ties: pd.DataFrame) -> pd.DataFrame:
    """One row per pair of co-authors."""
    apart = ties[ties["source"] != ties["target"]]
    counted = apart.assign(
        papers=apart["papers"].fillna(1).astype("int64"), date=apart["date"].astype("float64")
    )
    grouped = counted.groupby(["source", "target"], sort=True)
    pairs = grouped.agg(joint_papers=("papers", "sum"), first=("date", "min"), last=("date", "max"))
    return pairs.reset_index()


def super_ties(ends: pd.DataFrame) -> BoolArray:
    """For each tie of each scientist, whether it is a super tie.

    The threshold of scientist i is (mean strength of its ties - 1) x ln(number of its ties): so
    strong is the strongest of so many ties when strengths are spread exponentially (Petersen
    2015). Careers of a few papers are no subject of the source. Here a super tie has at least
    two joint papers, and its scientist at least two co-authors.
    """
    strength = ends["joint_papers"].astype("float64")
    grouped = strength.groupby(ends["scientist"])
    mean, count = grouped.transform("mean"), grouped.transform("size")
    threshold = (mean - 1) * np.log(count)
    return np.asarray((strength > threshold) & (strength >= 2) & (count >= 2), dtype=bool)


def _strengths(pairs: pd.DataFrame) -> dict[str, float]:
    strength = pairs["joint_papers"]
    row: dict[str, float] = {"pairs": len(pairs), "joint_papers": int(strength.sum())}
    if len(pairs):
        row |= {"strength": float(strength.mean()), "once": float((strength == 1).mean())}
    return row


def _lifetimes(pairs: pd.DataFrame, days: float) -> dict[str, float]:
    """Columns on lifetimes, for ties that are dated."""
    if not len(pairs):
        return {}
    lived, again = pairs["last"] - pairs["first"], pairs["joint_papers"] > 1
    row = {"lifetime": float(lived.mean())}
    row["unfinished"] = float((days - pairs["last"] < SILENCE).mean())
    if again.any():
        gaps = float((pairs.loc[again, "joint_papers"] - 1).sum())
        row["lifetime_repeated"] = float(lived[again].mean())
        row["gap"] = float(lived[again].sum()) / gaps
    return row


def _ends(pairs: pd.DataFrame) -> pd.DataFrame:
    """Every tie twice, once from the side of each scientist."""
    sides = [
        pairs[[side, "joint_papers"]].rename(columns={side: "scientist"})
        for side in ("source", "target")
    ]
    return pd.concat(sides, ignore_index=True)


def _of_scientists(pairs: pd.DataFrame) -> dict[str, float]:
    ends = _ends(pairs)
    row: dict[str, float] = {"scientists": int(ends["scientist"].nunique())}
    if len(ends):
        strong = pd.Series(super_ties(ends))
        row["super_ties"] = float(strong.mean())
        row["with_super_tie"] = float(strong.groupby(ends["scientist"]).any().mean())
    return row


def _overlap(pairs: pd.DataFrame, papers: pd.Series) -> float | None:
    """Mean share of a scientist's papers that its strongest co-author has written too."""
    strongest = _ends(pairs).groupby("scientist")["joint_papers"].max()
    written = papers.reindex(strongest.index)
    shares = (strongest / written).dropna()
    return float(shares.mean()) if len(shares) else None
