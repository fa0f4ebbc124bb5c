"""Outcomes of ideas that were carried out, and of published models of search.

Hidden worth is in the table ``outcomes``, where nobody in the society reads it.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from virsci_society.metrics.networks.structure import sample_dates
from virsci_society.metrics.population import people_ever
from virsci_society.metrics.registry import metric
from virsci_society.society.literature.papers import DAYS_PER_YEAR
from virsci_society.society.results.run import Run

STATES = ("succeeded", "failed", "given_up")
COUNTS = ("attempts", *STATES, "replications", "claims", "discoveries")
SHARES = (
    "worth_published",
    "worth_unpublished",
    "best",
    "drawer",
    "wasted",
    "duplicated",
    "replicated",
    "false_claims",
    "false_on_record",
    "per_scientist_year",
    "spent",
    "per_money",
    "citation_gain",
    "drop",
    "foresight",
)


@metric("worth")
def discovery(run: Run) -> pd.DataFrame:
    """What was carried out, found, published and repeated in the whole run (this project)."""
    outcomes = _outcomes(run)
    claims = claims_of(outcomes)
    failed, published = outcomes["state"] == "failed", outcomes["published"].notna()
    lost = failed | (outcomes["state"] == "given_up")
    days = outcomes["ended"] - outcomes["started"]
    repeats = outcomes[outcomes["replicates"].notna() & outcomes["worth"].notna()]
    standing = claims[~refuted(outcomes, claims, np.inf)]
    years = people_ever(run) * run.days / DAYS_PER_YEAR
    found, spent = int(claims["true"].sum()), float(outcomes["cost"].sum())
    row: dict[str, object] = {
        "attempts": len(outcomes),
        **{state: int((outcomes["state"] == state).sum()) for state in STATES},
        "replications": len(repeats),
        "claims": len(claims),
        "discoveries": found,
        "worth_published": _mean(outcomes.loc[published, "worth"]),
        "worth_unpublished": _mean(outcomes.loc[~published, "worth"]),
        "best": claims["worth"].max() if len(claims) else None,
        "drawer": _mean(~published[failed]),
        "wasted": float(days[lost].sum() / days.sum()) if days.sum() > 0 else None,
        "duplicated": _mean(_seen_before(run, outcomes)),
        "replicated": _mean(repeats["state"] == "succeeded"),
        "false_claims": _mean(~claims["true"]),
        "false_on_record": _mean(~standing["true"]),
        "per_scientist_year": found / years if years and len(outcomes) else None,
        "spent": spent or None,
        "per_money": found / spent if spent else None,
        "citation_gain": _citation_gain(run, outcomes[published]),
        "drop": _mean(outcomes["rated"] - outcomes["outcome"]),
        "foresight": outcomes["rated"].corr(outcomes["outcome"], min_periods=3),
    }
    kinds = dict.fromkeys(COUNTS, "Int64") | dict.fromkeys(SHARES, "Float64")
    return pd.DataFrame([row]).astype(kinds)


@metric("worth")
def record(run: Run, every: float = DAYS_PER_YEAR) -> pd.DataFrame:
    """What is on record by date, and how much of it is false (this project)."""
    outcomes = _outcomes(run)
    claims = claims_of(outcomes)
    rows = []
    for date in sample_dates(run.days, every) if len(outcomes) else []:
        known = claims[claims["published"] <= date]
        standing = known[~refuted(outcomes, known, date)]
        rows.append(
            {
                "date": date,
                "attempts": int((outcomes["ended"] <= date).sum()),
                "claims": len(standing),
                "false": _mean(~standing["true"]),
                "best": known["worth"].max() if len(known) else None,
            }
        )
    kinds = {"date": "Float64", "attempts": "Int64", "claims": "Int64"}
    kinds |= {"false": "Float64", "best": "Float64"}
    return pd.DataFrame(rows, columns=list(kinds)).astype(kinds)


def claims_of(outcomes: pd.DataFrame) -> pd.DataFrame:
    """Published successes that repeat nothing; ``true`` where worth reaches the threshold."""
    succeeded = (outcomes["state"] == "succeeded") & outcomes["published"].notna()
    claims = outcomes[succeeded & outcomes["replicates"].isna()]
    return claims.assign(true=(claims["worth"] >= claims["success"]).astype(bool))


def refuted(outcomes: pd.DataFrame, claims: pd.DataFrame, date: float) -> pd.Series[bool]:
    """Whether more replications of a claim, published by a date, have failed than succeeded."""
    repeats = outcomes[outcomes["replicates"].notna() & (outcomes["published"] <= date)]
    votes = pd.Series(np.where(repeats["state"] == "succeeded", 1, -1), repeats["replicates"])
    balance = votes.groupby(level=0).sum().reindex(claims["team"].to_numpy()).fillna(0)
    return pd.Series(balance.to_numpy() < 0, claims.index, dtype=bool)


def _seen_before(run: Run, outcomes: pd.DataFrame) -> pd.Series[bool]:
    """Whether an earlier paper of the run has the keywords of each published idea of its own."""
    papers = run.table("papers").sort_values(["published", "paper"])
    own = set(outcomes.loc[outcomes["replicates"].isna(), "team"])
    papers = papers[papers["team"].isin(own) & papers["keywords"].notna()]
    sets = papers["keywords"].map(lambda words: "; ".join(sorted(words.split("; "))))
    return sets.duplicated()


def _citation_gain(run: Run, published: pd.DataFrame) -> float | None:
    """Mean citations within the run of successes, less those of failures; None without either."""
    cited = (
        published["team"]
        .map(run.table("citations")["cited"].value_counts())
        .fillna(0)
        .astype(float)
    )
    succeeded, failed = (_mean(cited[published["state"] == one]) for one in STATES[:2])
    return None if succeeded is None or failed is None else succeeded - failed


def _outcomes(run: Run) -> pd.DataFrame:
    """The table ``outcomes`` with the date on which the team's paper was published."""
    published = run.table("teams")[["team", "published"]]
    return run.table("outcomes").merge(published, on="team", how="left")


def _mean(values: pd.Series[float] | pd.Series[bool]) -> float | None:
    known = values.dropna()
    return float(known.mean()) if len(known) else None


@metric("classics")
def consensus(run: Run) -> pd.DataFrame:
    """Which communities settle on the better of two methods, and when (Zollman 2010)."""
    noted = _noted(run, ("community", "better", "since"))
    kinds = {"community": "Int64", "people": "Int64"}
    kinds |= dict.fromkeys(("better", "right", "agreed"), "Float64")
    rows = [
        {
            "community": number,
            "people": len(people),
            "better": people["better"].mean(),
            "right": float(people["better"].all()),
            "agreed": people["since"].max() if people["better"].all() else None,
        }
        for number, people in noted.groupby("community")
    ]
    return pd.DataFrame(rows, columns=list(kinds)).astype(kinds)


@metric("classics")
def epistemic_progress(run: Run) -> pd.DataFrame:
    """How much of an epistemic landscape was found (Weisberg and Muldoon 2009)."""
    noted = _noted(run, ("found", "peak_1", "peak_2"))
    dates = noted[["peak_1", "peak_2"]].min()
    row = {
        "people": len(noted),
        "progress": noted["found"].sum(),
        "peaks": dates.notna().mean(),
        "both": dates.max(skipna=False),
    }
    kinds = {"people": "Int64", "progress": "Float64", "peaks": "Float64", "both": "Float64"}
    return pd.DataFrame([row] if len(noted) else [], columns=list(kinds)).astype(kinds)


def _noted(run: Run, names: tuple[str, ...]) -> pd.DataFrame:
    """Numbers that teams noted under some names, a row for each team that noted the first."""
    events = (event for event in run.events() if event["kind"] == "notes")
    rows = [[event.get(name) for name in names] for event in events if names[0] in event]
    return pd.DataFrame(rows, columns=list(names)).astype("Float64")
