"""Outcomes of ideas that were carried out, and of published models of search.

Hidden worth is in the table ``outcomes``, which scientists never see.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pandas as pd

from virsci_society.agents.arrays import FloatArray
from virsci_society.metrics.networks.structure import sample_dates
from virsci_society.metrics.population import people_ever
from virsci_society.metrics.registry import metric
from virsci_society.society.literature.papers import DAYS_PER_YEAR
from virsci_society.society.results.dataframes import counts_of
from virsci_society.society.results.run import Run

STATES = ("succeeded", "failed", "given_up")
COUNTS = ("attempts", *STATES, "replications", "claims", "discoveries")
PROJECTS = 200_000
"""Draws of ``independent_projects``, whose shares have a standard error of at most 0.002."""
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
def without_society(run: Run) -> pd.DataFrame:
    """Expected results of the same number of independent projects (this project).

    One row; none where teams talk, learn from outcomes, only repeat, or where worth, execution or
    publication have other rules. Only the numbers of outcomes, people and years are the society's.
    """
    parts = ("worth", "execution", "protocol", "publication")
    worth, tried, team, printed = (run.scenario.get(part) or {} for part in parts)
    uses = tuple(part.get("use") for part in (worth, tried, team, printed))
    known = uses == ("landscape", "attempt", "wordless", "none")
    rows: list[dict[str, float | None]] = []
    if known and not team["learning"] and team["replication"] < 1.0:
        outcomes = int(run.table("outcomes")["worth"].notna().sum())
        found = independent_projects(
            worth["worthless"],
            *(tried[key] for key in ("noise", "success", "signal", "drawer")),
            ideas=team["ideas"],
            replication=team["replication"],
            funding=tried["funding"],
            overrated=tried["overrated"].get("wordless", 0.0),
        )
        if not tried["overrated"]:
            found |= {"drop": None, "foresight": None}  # nobody has rated anything
        found |= {name: (found[name] or 0.0) * outcomes for name in ("claims", "discoveries")}
        years = people_ever(run) * run.days / DAYS_PER_YEAR
        rows = [found | {"per_scientist_year": (found["discoveries"] or 0.0) / years}]
    names = ("claims", "discoveries", "false_on_record", "worth_published", "per_scientist_year")
    return pd.DataFrame(rows, columns=[*names, "drop", "foresight"]).astype("Float64")


def independent_projects(
    worthless: float = 0.5,
    noise: float = 0.3,
    success: float = 0.5,
    signal: float = 0.0,
    drawer: float = 0.0,
    *,
    ideas: int = 1,
    replication: float = 0.0,
    funding: Mapping[str, float] | None = None,
    overrated: float = 0.0,
) -> dict[str, float | None]:
    """Expected results of independent projects, without shared people, ties, topics or dates.

    Arguments are the keys of ``worth``, ``execution`` and ``protocol`` of the same names. Where the
    repeated claim is drawn uniformly from the record, a claim made after a share u of the time is
    repeated a Poisson number of times, of mean -m log u: over all u this is geometric of mean m.

    Returns:
        ``claims`` and ``discoveries`` per project, the share ``false_on_record``, mean
        ``worth_published``, mean ``drop`` and ``foresight``. None without a claim.

    Example:
        >>> round(independent_projects(signal=0.6, ideas=5)["false_on_record"], 2)
        0.16
    """
    from scipy.special import ndtr

    rng = np.random.Generator(np.random.PCG64(1))
    worth = np.maximum(rng.random((PROJECTS, ideas)) - worthless, 0.0) / (1.0 - worthless)
    mean, deviation = worth.mean(), worth.std()

    def look(worth: FloatArray, signal: float) -> FloatArray:
        seen: FloatArray = signal * (worth - mean) / deviation
        return seen + math.sqrt(1.0 - signal**2) * rng.standard_normal(worth.shape)

    looks = look(worth, signal)
    best = (np.arange(PROJECTS), looks.argmax(axis=1))
    worth, looks = worth[best], looks[best]
    if funding is not None:
        looks = look(worth, funding["signal"])
        agreed, own = funding["agreement"], rng.standard_normal(PROJECTS)
        marks = math.sqrt(agreed) * looks + math.sqrt((1.0 - agreed) / funding["reviewers"]) * own
        lot = funding["lottery"] / 2.0
        bars = np.quantile(marks, 1.0 - funding["accept"] + np.array([lot, -lot]))
        marks += math.sqrt(agreed) * overrated / deviation
        kept = (marks >= bars[0]) | ((marks >= bars[1]) & (rng.random(PROJECTS) < 0.5))
        worth, looks = worth[kept], looks[kept]
    outcome = worth + noise * rng.standard_normal(len(worth))
    claimed, true = outcome >= success, worth >= success
    repeats = replication / (1.0 - replication) / max(claimed.mean(), 1e-9)
    times = rng.geometric(1.0 / (1.0 + repeats), len(worth)) - 1
    confirmed = rng.binomial(times, ndtr((worth - success) / max(noise, 1e-9)))
    failed = rng.binomial(times - confirmed, 1.0 - drawer)
    standing = claimed & (failed <= confirmed)
    papers = np.where(claimed, 1.0 + confirmed + failed, 1.0 - drawer)
    rated = mean + deviation * looks + overrated
    return {
        "claims": (1.0 - replication) * float(claimed.mean()),
        "discoveries": (1.0 - replication) * float((claimed & true).mean()),
        "false_on_record": _mean(pd.Series(~true[standing])),
        "worth_published": float((papers * worth).sum() / papers.sum()),
        "drop": float((rated - outcome).mean()),
        "foresight": float(np.corrcoef(rated, outcome)[0, 1]),
    }


@metric("worth")
def record(run: Run, every: float = DAYS_PER_YEAR) -> pd.DataFrame:
    """Claims on record by date, and the share that is false (this project)."""
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
    """For each published idea, whether an earlier paper of the run has its keywords."""
    papers = run.table("papers").sort_values(["published", "paper"])
    own = set(outcomes.loc[outcomes["replicates"].isna(), "team"])
    papers = papers[papers["team"].isin(own) & papers["keywords"].notna()]
    sets = papers["keywords"].map(lambda words: "; ".join(sorted(words.split("; "))))
    return sets.duplicated()


def _citation_gain(run: Run, published: pd.DataFrame) -> float | None:
    """Mean citations of successes minus failures within the run; None without either."""
    cited = counts_of(published["team"], run.table("citations")["cited"].value_counts())
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
