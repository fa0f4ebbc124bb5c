"""Who publishes, leads, stops, and which pairs write together: a society beside rivals.

Liben-Nowell and Kleinberg 2007, JASIST 58; Adamic and Adar 2003, Social Networks 25.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from virsci_society.agents.arrays import BoolArray, FloatArray, IntArray
from virsci_society.agents.lazy_imports import sparse
from virsci_society.metrics.inference.two_lines import logistic_fit
from virsci_society.metrics.validation.dated_papers import DatedPaper, papers_between
from virsci_society.society.kernel.streams import Streams

RECENT = 5
"""Years before a date in which a scientist must have published to be predicted."""
MAX_PEOPLE = 2_500
"""Most people whose pairs are predicted; of more, those with most papers."""
RESAMPLES, FEW_RESAMPLES, MANY = 200, 50, 500_000
"""Bootstrap samples of people, and the smaller number of them above ``MANY`` pairs."""
SOCIETY = "society"
LOGISTIC = "logistic model"
TARGETS = ("publishes", "leads", "stops", "new tie", "repeated tie")
"""What is predicted: a paper in the window; one as first author; none, by somebody who published
in as long a time before; the first joint paper of two people; another one of two co-authors."""


@dataclass(frozen=True)
class Candidates:
    """The people whose future is predicted at a date, with their earlier papers."""

    names: tuple[str, ...]
    papers: FloatArray
    latest: FloatArray
    joint: FloatArray
    latest_joint: FloatArray


class Events(NamedTuple):
    """Outcomes in a window: who published, who was a first author, who wrote together."""

    publishes: BoolArray
    leads: BoolArray
    ties: BoolArray


def candidates_at(
    papers: Sequence[DatedPaper], scientists: frozenset[str], date: float, years: float
) -> Candidates:
    """The scientists who published within ``RECENT`` years before a date, in years."""
    known = papers_between(papers, -np.inf, date)
    recent = papers_between(known, date - max(RECENT, years), date)
    active = {name for one in recent for name in one.authors if name in scientists}
    counts: dict[str, int] = dict.fromkeys(active, 0)
    for one in known:
        for name in active.intersection(one.authors):
            counts[name] += 1
    kept = sorted(active, key=lambda name: (-counts[name], name))[:MAX_PEOPLE]
    names = tuple(sorted(kept))
    latest = _authorships(papers_between(known, date - years, date), names)
    past = _authorships(known, names)
    return Candidates(names, past.sum(axis=0), latest.sum(axis=0), _joint(past), _joint(latest))


def events_in(
    papers: Sequence[DatedPaper], names: Sequence[str], first: float, end: float
) -> Events:
    """Outcomes of some people from ``first`` to before ``end``, in years."""
    written = papers_between(papers, first, end)
    seats = _authorships(written, names)
    leaders = {one.authors[0] for one in written}
    return Events(seats.sum(axis=0) > 0, np.isin(names, sorted(leaders)), _joint(seats) > 0)


def _authorships(papers: Sequence[DatedPaper], names: Sequence[str]) -> sparse.csr_array:
    """Papers x people: 1 for an author."""
    column = {name: number for number, name in enumerate(names)}
    seats = [
        (row, column[name])
        for row, one in enumerate(papers)
        for name in dict.fromkeys(one.authors)
        if name in column
    ]
    rows, columns = np.array(seats, dtype=np.int64).reshape(-1, 2).T
    shape = (len(papers), len(names))
    return sparse.csr_array((np.ones(len(seats)), (rows, columns)), shape=shape)


def _joint(seats: sparse.csr_array) -> FloatArray:
    """Joint papers of each two people."""
    joint: FloatArray = (seats.T @ seats).toarray()
    np.fill_diagonal(joint, 0)
    return joint


def rival_scores(known: Candidates) -> dict[str, dict[str, FloatArray]]:
    """Scores of predictors without a society, by the kind of target; higher is more likely."""
    tied = (known.joint > 0).astype(float)
    degree = tied.sum(axis=1)
    people = {"past papers": known.papers, "latest papers": known.latest, "co-authors": degree}
    common = tied @ tied
    with np.errstate(divide="ignore"):
        rarity = np.where(degree > 1, 1 / np.log(degree), 0.0)
    # Half of the largest damping with which the sum over paths converges, 0.05 at most.
    largest = float(np.linalg.norm(tied, 2)) if tied.any() else 1.0
    damping = min(0.05, 0.5 / largest)
    katz = np.linalg.inv(np.eye(len(tied)) - damping * tied) - np.eye(len(tied))
    pairs = {
        "past papers": np.outer(known.papers, known.papers),
        "preferential attachment": np.outer(degree, degree),
        "common neighbours": common,
        "Adamic-Adar": (tied * rarity) @ tied,
        "Katz": katz,
    }
    return {
        "people": people,
        "new tie": pairs,
        "repeated tie": {
            "joint papers": known.joint,
            "latest joint papers": known.latest_joint,
            **pairs,
        },
    }


def auc_and_precision(
    rank: IntArray, happened: BoolArray, weights: FloatArray
) -> tuple[float, float]:
    """Area under the ROC curve and average precision, weighted; NaN if one class is empty."""
    positive = np.bincount(rank, weights * happened)
    negative = np.bincount(rank, weights * ~happened)
    hits, misses = positive.sum(), negative.sum()
    if not hits or not misses:
        return float("nan"), float("nan")
    below = np.cumsum(negative) - negative
    auc = float((positive * (below + negative / 2)).sum() / (hits * misses))
    found, taken = np.cumsum(positive[::-1]), np.cumsum((positive + negative)[::-1])
    precision = found / np.maximum(taken, 1)
    return auc, float((positive[::-1] * precision).sum() / hits)


def predict_people(
    past: Sequence[DatedPaper],
    later: Sequence[DatedPaper],
    runs: Sequence[Sequence[DatedPaper]],
    scientists: frozenset[str],
    years: float,
) -> pd.DataFrame:
    """Evaluate a society's runs and rival predictors on the years after the boundary."""
    now = candidates_at(past, scientists, 0.0, years)
    before = candidates_at(past, scientists, -years, years)
    real = events_in(later, now.names, 0.0, years)
    trained = events_in(past, before.names, -years, 0.0)
    simulated = [events_in(one, now.names, 0.0, years) for one in runs]
    scores_now, scores_before = rival_scores(now), rival_scores(before)
    rows: list[dict[str, object]] = []
    for target in TARGETS:
        kind = target if target.endswith("tie") else "people"
        chosen, happened = _cases(target, now, real)
        fit_on, fit_for = _cases(target, before, trained)
        rivals = {name: one[chosen] for name, one in scores_now[kind].items()}
        if target == "stops":
            rivals = {name: -one for name, one in rivals.items()}
        predictors: dict[str, FloatArray] = {}
        if simulated:
            predictors[SOCIETY] = society_scores(target, now, simulated)
        predictors |= rivals
        if fit_for.any() and not fit_for.all():
            features = [
                np.column_stack([np.log1p(one[at]) for one in scores[kind].values()])
                for scores, at in ((scores_before, fit_on), (scores_now, chosen))
            ]
            beta = logistic_fit(features[0], fit_for)
            predictors[LOGISTIC] = 1 / (1 + np.exp(-(beta[0] + features[1] @ beta[1:])))
        # The person, or the two people, of every case.
        members = np.nonzero(chosen)
        rows += _judged(target, predictors, happened, members, len(now.names))
    return pd.DataFrame(rows)


def society_scores(target: str, known: Candidates, runs: Sequence[Events]) -> FloatArray:
    """Probability of each case: the share of the runs in which it happened.

    With few runs most pairs would be 0. For ties, one run is added in which people have the same
    number of ties at random (Chung and Lu 2002, PNAS 99).
    """
    chosen = _cases(target, known, runs[0])[0]
    shares: FloatArray = np.mean([_cases(target, known, one)[1] for one in runs], axis=0)
    if not target.endswith("tie"):
        return shares
    ties = np.zeros((len(known.names), len(known.names)))
    ties[chosen] = shares
    degree = (ties + ties.T).sum(axis=1)
    random = np.minimum(np.outer(degree, degree)[chosen] / max(float(degree.sum()), 1.0), 1.0)
    return (len(runs) * shares + random) / (len(runs) + 1)


def verdicts(table: pd.DataFrame) -> list[str]:
    """The society beside its best rival, by AUC and by target: first where it is worse."""
    said: dict[str, list[str]] = defaultdict(list)
    for target, rows in table.groupby("target", sort=False):
        if "less" not in rows or rows["less"].isna().all():
            continue
        best = rows.sort_values("less").dropna(subset=["less"]).iloc[-1]
        word = "better" if best["less_high"] < 0 else "equal"
        word = "worse" if best["less_low"] > 0 else word
        auc, rival = best["auc"], best["predictor"]
        said[word].append(f"{target} {auc - best['less']:.2f} ({rival} {auc:.2f})")
    heads = {
        "worse": "The society predicts less well than its best rival (AUC): ",
        "equal": "No difference from its best rival can be shown (95 %): ",
        "better": "The society predicts better than each rival: ",
    }
    return [f"{head}{'; '.join(said[word])}." for word, head in heads.items() if word in said]


def _cases(target: str, known: Candidates, events: Events) -> tuple[BoolArray, BoolArray]:
    """The cases of a target (people or pairs), and in which of them it happened."""
    if target.endswith("tie"):
        tied = known.joint > 0
        chosen = np.triu(tied if target == "repeated tie" else ~tied, 1)
        return chosen, events.ties[chosen]
    chosen = known.latest > 0 if target == "stops" else np.ones(len(known.names), dtype=bool)
    happened = {"publishes": events.publishes, "leads": events.leads, "stops": ~events.publishes}
    return chosen, happened[target][chosen]


def _judged(
    target: str,
    predictors: Mapping[str, FloatArray],
    happened: BoolArray,
    members: tuple[IntArray, ...],
    people: int,
) -> list[dict[str, object]]:
    """One row per predictor, with paired bootstrap intervals."""
    count = RESAMPLES if len(happened) <= MANY else FEW_RESAMPLES
    rng = Streams(0, "people").stream(target)
    draws: list[FloatArray] = [np.ones(people)]
    draws += [
        np.bincount(rng.integers(0, people, people), minlength=people).astype(np.float64)
        for _ in range(count)
    ]
    ranks = {name: np.unique(one, return_inverse=True)[1] for name, one in predictors.items()}
    found = {name: np.empty((len(draws), 2)) for name in predictors}
    for place, draw in enumerate(draws):
        weights = np.prod([draw[one] for one in members], axis=0)
        for name, rank in ranks.items():
            found[name][place] = auc_and_precision(rank, happened, weights)
    rows = []
    base = float(happened.mean()) if len(happened) else float("nan")
    for name, areas in found.items():
        row: dict[str, object] = {"target": target, "predictor": name}
        for column, what in enumerate(("auc", "precision")):
            row |= {what: areas[0, column]} | _percentile_interval(what, areas[1:, column])
        if SOCIETY in found and name != SOCIETY:
            less = areas[:, 0] - found[SOCIETY][:, 0]
            row |= {"less": less[0]} | _percentile_interval("less", less[1:])
        if name in (SOCIETY, LOGISTIC):
            scores = predictors[name]
            brier = float(np.mean((scores - happened) ** 2))
            skill = 1 - brier / (base * (1 - base)) if 0 < base < 1 else float("nan")
            row |= {"expected": float(scores.sum()), "brier_skill": skill}
        rows.append({**row, "observed": int(happened.sum()), "candidates": len(happened)})
    return rows


def _percentile_interval(what: str, values: FloatArray) -> dict[str, float]:
    """The percentile interval of bootstrap values."""
    known = values[~np.isnan(values)]
    low, high = np.quantile(known, (0.025, 0.975)) if len(known) else (np.nan, np.nan)
    return {f"{what}_low": float(low), f"{what}_high": float(high)}
