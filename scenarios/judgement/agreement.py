"""Agreement of raters, preferences between arms, and correlations of ratings with measures.

Ratings are numbers from 1 to 10 (Si et al. 2024: novelty, feasibility, effectiveness). A rater's
bias is not corrected: the ratings are averaged as they were given.

Strengths of arms are those of the model of Bradley and Terry (1952) with an effect of position
(Davidson and Beaver 1977): the logit of "A is preferred to B" is the strength of A minus that of B
plus an advantage of standing first. A tie counts half for each. Answers to one pair are not
independent, so errors are clustered by pair of papers. Half a win and half a loss against an
average arm are added to each arm, without which one that always wins would be infinitely strong
(Firth 1993 has such a penalty in general).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from virsci_society.agents.arrays import FloatArray
from virsci_society.agents.errors import InputError, disk_errors_as
from virsci_society.metrics.inference.correlations import (
    Level,
    krippendorff_alpha,
    pearson,
    spearman,
)
from virsci_society.metrics.novelty.novelty import COLUMNS, run_novelty
from virsci_society.scenarios.judgement.review import read_averages
from virsci_society.scenarios.judgement.sheets import Rating, speakers_in
from virsci_society.society.results.run import Run
from virsci_society.society.results.table_files import write_csv, write_parquet

RESAMPLES = 2000
MIN_ABSTRACTS = 3
"""Fewer abstracts than this are not correlated."""


@dataclass(frozen=True)
class RaterAgreement:
    """Agreement between raters.

    Attributes:
        alpha: 1 is perfect, 0 what chance gives, less than 0 systematic disagreement; NaN where
            nothing varies, or no abstract was rated twice.
        low: lower end of the 95 % interval.
        high: upper end.
        items: abstracts that at least two raters have rated.
        raters: raters of those.
    """

    alpha: float
    low: float
    high: float
    items: int
    raters: int


def rater_agreement(
    ratings: FloatArray, level: Level = "interval", seed: int = 0
) -> RaterAgreement:
    """Alpha with an interval: the percentile bootstrap over abstracts, seeded.

    Args:
        ratings: raters x abstracts, NaN where a rater has not rated.
        level: how differences count.
        seed: of the resamples.
    """
    table = np.asarray(ratings, dtype=np.float64)
    estimate = krippendorff_alpha(table, level)
    shared = table[:, (~np.isnan(table)).sum(axis=0) > 1]
    items, raters = shared.shape[1], int((~np.isnan(shared)).any(axis=1).sum())
    # By the number of abstracts as well: two questions on other abstracts share no resample.
    rng = np.random.default_rng([seed, items])
    draws = rng.integers(0, max(items, 1), (RESAMPLES if items > 1 else 0, items))
    resampled = np.array([krippendorff_alpha(shared[:, draw], level) for draw in draws])
    resampled = resampled[~np.isnan(resampled)]
    low, high = np.quantile(resampled, (0.025, 0.975)) if len(resampled) else (np.nan, np.nan)
    return RaterAgreement(estimate, float(low), float(high), items, raters)


def agreement_table(ratings: pd.DataFrame, seed: int = 0) -> pd.DataFrame:
    """Agreement of every dimension, as ordinal and as interval numbers.

    Args:
        ratings: one row per rating: ``item``, ``rater``, ``dimension``, ``score``.
        seed: of the intervals.
    """
    rows = []
    for dimension, given in ratings.groupby("dimension", sort=False):
        table = given.pivot_table("score", "rater", "item").to_numpy(dtype=np.float64)
        for level in ("ordinal", "interval"):
            one = rater_agreement(table, level, seed)
            row = (dimension, level, one.alpha, one.low, one.high, one.items, one.raters)
            rows.append(row)
    columns = ["dimension", "level", "alpha", "low", "high", "abstracts", "raters"]
    return pd.DataFrame(rows, columns=columns)


def read_novelty(run: Run) -> pd.DataFrame:
    """``paper``, ``HD``, ``CD``, ``CI`` and ``ON`` of a run, as it was written with it."""
    return run_novelty(run)[["paper", *COLUMNS]]


def correlation_table(
    measured: pd.DataFrame, scored: pd.DataFrame, parts: Sequence[str] = ("ON",)
) -> pd.DataFrame:
    """Pearson's and Spearman's correlation of measures with ratings or reviews, over abstracts.

    VirSci gives Pearson's between ON and human ratings (0.52) and model ratings (0.57), n = 200.

    Args:
        measured: ``paper`` and the measures.
        scored: rows of ``paper``, ``rating`` (whose score of what) and ``score``; several scores
            of one paper are averaged.
        parts: measures to correlate.

    Returns:
        ``measure``, ``rating``, ``n``, ``pearson``, ``pearson_low``, ``pearson_high``,
        ``spearman``, ``spearman_low``, ``spearman_high``; no row for fewer than three abstracts.
    """
    rows = []
    for rating, given in scored.dropna(subset=["score"]).groupby("rating", sort=False):
        means = given.groupby("paper")["score"].mean().astype("float64")
        for part in parts:
            values = measured.set_index("paper")[part].dropna().astype("float64")
            pairs = pd.concat([values, means], axis=1, join="inner").to_numpy(dtype=np.float64)
            if len(pairs) < MIN_ABSTRACTS:
                continue
            x, y = pairs[:, 0], pairs[:, 1]
            p, s = pearson(x, y), spearman(x, y)
            rows.append((part, rating, p.n, p.r, p.low, p.high, s.r, s.low, s.high))
    names = ["measure", "rating", "n", "pearson", "pearson_low", "pearson_high"]
    names += ["spearman", "spearman_low", "spearman_high"]
    return pd.DataFrame(rows, columns=names)


def preference_table(choices: pd.DataFrame) -> pd.DataFrame:
    """How often one arm is preferred to another, with the exact interval and binomial test.

    Ties count for neither side (Chen et al. 2025: 87.5 % of 40 pairs, p < 0.01).

    Args:
        choices: one row per answer: ``preferred`` and ``other`` (arms), ``tie`` (boolean).

    Returns:
        ``arm``, ``other``, ``n`` (without ties), ``ties``, ``preferred`` (share), ``low``,
        ``high`` (Clopper and Pearson 1934), ``p`` (two-sided, against one half).
    """
    from scipy.stats import binomtest

    sides = np.sort(choices[["preferred", "other"]].astype(str).to_numpy(), axis=1)
    rows = []
    for first, second in sorted({(a, b) for a, b in sides.tolist()}):
        these = choices[(sides == (first, second)).all(axis=1)]
        decided = these[~these["tie"].astype(bool)]
        wins, n = int((decided["preferred"] == first).sum()), len(decided)
        test = binomtest(wins, n) if n else None
        low, high = test.proportion_ci() if test else (np.nan, np.nan)
        share = wins / n if n else np.nan
        p = float(test.pvalue) if test else np.nan
        rows.append((first, second, n, len(these) - n, share, float(low), float(high), p))
    names = ["arm", "other", "n", "ties", "preferred", "low", "high", "p"]
    return pd.DataFrame(rows, columns=names)


def ratings_of(answers: Sequence[Rating], key: Mapping[str, Any]) -> pd.DataFrame:
    """One row per rating: origin of the paper, item, rater, dimension, score and tier."""
    rows = []
    for one in answers:
        source = key["items"][one.item]
        place = (source["run"], source["arm"], source["paper"])
        tier = str(source.get("tier") or "")
        rows.append((*place, one.item, one.rater, one.dimension, one.value, tier))
    names = ["run", "arm", "paper", "item", "rater", "dimension", "score", "tier"]
    return pd.DataFrame(rows, columns=names)


def choices_of(answers: Sequence[Rating], key: Mapping[str, Any]) -> pd.DataFrame:
    """One row per answer to a pair.

    Columns: item, rater, preferred and other arm, whether it tied, the arms that stood first and
    second, the pair of papers (the same for a pair that is shown twice), and ``earlier``: 1 if the
    paper was preferred whose id comes first in the alphabet, 0 if the other, 0.5 for a tie.
    """
    rows = []
    for one in answers:
        sides = key["items"][one.item]
        first, second = ("B", "A") if one.value == 1 else ("A", "B")
        tie = one.value != one.value
        arms = {side: sides[side]["arm"] for side in ("A", "B")}
        papers = {side: paper_id(sides[side]["run"], sides[side]["paper"]) for side in ("A", "B")}
        earlier = 0.5 if tie else float(papers[first] < papers[second])
        pair = " | ".join(sorted(papers.values()))
        places = (arms["A"], arms["B"], pair, earlier)
        rows.append((one.item, one.rater, arms[first], arms[second], tie, *places))
    names = ["item", "rater", "preferred", "other", "tie", "first", "second", "pair", "earlier"]
    return pd.DataFrame(rows, columns=names)


def measures_of_runs(key: Mapping[str, Any]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """ON and its parts of every run that the key names, and its reviews; papers are run and id.

    Raises:
        InputError: a run is not where the key says, or is another one by now.
    """
    measured: list[pd.DataFrame] = []
    reviewed: list[pd.DataFrame] = []
    for folder, digest in sorted({(one["run"], one["digest"]) for one in key["items"].values()}):
        run = Run.open(folder)
        if run.digest != digest:
            raise InputError(f"{folder}: is not the run that the sheet was made of, by its digest")
        for found, table in (
            (measured, read_novelty(run)),
            (reviewed, read_averages(Path(folder))),
        ):
            found.append(table.assign(paper=[paper_id(folder, one) for one in table["paper"]]))
    scores: pd.DataFrame = pd.concat(reviewed, ignore_index=True)
    scores["rating"] = scores["kind"] + " " + scores["dimension"] + " by " + scores["panel"]
    return pd.concat(measured, ignore_index=True), scores


def paper_id(run: str, paper: str) -> str:
    """The id of a paper among those of several runs."""
    return f"{run}:{paper}"


def review_errors(ratings: pd.DataFrame, reviewed: pd.DataFrame) -> pd.DataFrame:
    """How far reviews by a model lie from people's mean rating of the same dimension.

    Chen et al. (2025) give the mean absolute error over papers of a low and a high tier.

    Args:
        ratings: of ``ratings_of``.
        reviewed: of ``measures_of_runs``.

    Returns:
        ``dimension``, ``panel``, ``tier`` (``all``, and each that the sheet was drawn from), ``n``,
        ``people`` and ``model`` (mean scores) and ``error`` (mean absolute error, in points).
    """
    places = zip(ratings["run"], ratings["paper"], strict=True)
    own = ratings.assign(paper=[paper_id(*place) for place in places])
    people = own.groupby(["dimension", "paper", "tier"], as_index=False)["score"].mean()
    both = people.merge(reviewed.dropna(subset=["score"]), on=["dimension", "paper"])
    rows = []
    for (dimension, panel), given in both.groupby(["dimension", "panel"], sort=False):
        tiers = {"all": given} | dict(iter(given[given["tier"] != ""].groupby("tier", sort=False)))
        for tier, those in tiers.items():
            x, y = (those[side].to_numpy(dtype=np.float64) for side in ("score_x", "score_y"))
            error = float(np.abs(x - y).mean())
            rows.append((dimension, panel, tier, len(x), float(x.mean()), float(y.mean()), error))
    names = ["dimension", "panel", "tier", "n", "people", "model", "error"]
    return pd.DataFrame(rows, columns=names)


def correlate(
    ratings: pd.DataFrame, measured: pd.DataFrame, reviewed: pd.DataFrame
) -> pd.DataFrame:
    """Correlations of ON with each rating and each review, and of each review with each rating."""
    people = ratings.assign(
        paper=[paper_id(*place) for place in zip(ratings["run"], ratings["paper"], strict=True)],
        rating="people: " + ratings["dimension"],
    )
    kept = reviewed[reviewed["paper"].isin(people["paper"])]
    both = ["paper", "rating", "score"]
    tables = [correlation_table(measured, pd.concat([people[both], kept[both]], ignore_index=True))]
    if len(kept):
        wide = kept.pivot_table("score", "paper", "rating").reset_index()
        parts = [name for name in wide.columns if name != "paper"]
        tables.append(correlation_table(wide, people[both], parts))
    return pd.concat(tables, ignore_index=True)


def write_results(out: Path, tables: Mapping[str, pd.DataFrame], key: Mapping[str, Any]) -> None:
    """Write tables as Parquet and as CSV that a spreadsheet may open.

    Args:
        out: folder to write to.
        tables: by name.
        key: that was written with the sheet; it says who spoke in the runs.
    """
    speaker = speakers_in(key)
    with disk_errors_as(InputError, f"{out}: cannot be written to"):
        for name, table in tables.items():
            write_parquet(out / f"{name}.parquet", table, speaker=speaker)
        write_csv(out, tables, speaker)


Z = 1.959963984540054
"""The normal quantile of intervals of 95 %."""


@dataclass(frozen=True)
class PairFit:
    """A fit of the model of Bradley and Terry.

    Attributes:
        arms: one row per arm, the strongest first: ``arm``, ``answers``, ``wins`` (a tie is half a
            win), ``strength`` (logit against an average arm; all sum to 0) with ``low`` and
            ``high`` (95 %), ``chance`` (of being preferred to an average arm).
        first: logit by which standing first helps; 0: it does not matter.
        first_low: lower end of its 95 % interval.
        first_high: upper end.
        first_share: share of the decided answers in which the first of two was preferred.
    """

    arms: pd.DataFrame
    first: float
    first_low: float
    first_high: float
    first_share: float


def fit_pairs(choices: pd.DataFrame) -> PairFit:
    """Fit strengths of arms and the effect of position.

    Args:
        choices: one row per answer: ``pair`` (of papers), ``first`` and ``second`` (arms as the
            sheet has them), ``preferred`` (arm) and ``tie`` (boolean).

    Raises:
        InputError: no answers, or arms that no chain of comparisons connects.
    """
    if choices.empty:
        raise InputError("no pair has been answered")
    sides = choices[["first", "second"]].astype(str).to_numpy()
    arms, places = np.unique(sides, return_inverse=True)
    places = places.reshape(sides.shape)
    _must_be_connected(list(arms), places)
    answers, count = len(choices), len(arms)
    won = np.where(choices["preferred"].astype(str).to_numpy() == sides[:, 0], 1.0, 0.0)
    won[choices["tie"].astype(bool).to_numpy()] = 0.5
    design = np.zeros((answers, count + 1))
    design[np.arange(answers), places[:, 0]] += 1.0
    design[np.arange(answers), places[:, 1]] -= 1.0
    design[:, count] = 1.0
    estimate, covariance = _fit(design, won, choices["pair"].to_numpy())
    centred = np.eye(count + 1)
    centred[:count, :count] -= 1.0 / count
    # No digit is kept beyond those to which the fit converges.
    estimate = np.round(centred @ estimate, 6) + 0.0
    covariance = centred @ covariance @ centred.T
    half = Z * np.sqrt(np.diag(covariance))
    wins = np.array([won[places[:, 0] == at].sum() for at in range(count)])
    wins += [(1 - won)[places[:, 1] == at].sum() for at in range(count)]
    table = pd.DataFrame(
        {
            "arm": arms,
            "answers": [int((places == at).sum()) for at in range(count)],
            "wins": wins,
            "strength": estimate[:count],
            "low": (estimate - half)[:count],
            "high": (estimate + half)[:count],
            "chance": 1 / (1 + np.exp(-estimate[:count])),
        }
    )
    decided = won[won != 0.5]
    return PairFit(
        table.sort_values(["strength", "arm"], ascending=[False, True], ignore_index=True),
        float(estimate[count]),
        float(estimate[count] - half[count]),
        float(estimate[count] + half[count]),
        float(decided.mean()) if len(decided) else float("nan"),
    )


def pair_agreement(choices: pd.DataFrame) -> float:
    """Krippendorff's alpha (2011) of all answers to one pair: of several raters, and both ways.

    Args:
        choices: one row per answer: ``pair``, ``rater``, ``item`` and ``earlier``.

    Returns:
        1 is perfect, 0 what chance gives; NaN where no pair was answered twice.
    """
    table = choices.pivot_table("earlier", ["rater", "item"], "pair", aggfunc="first")
    return krippendorff_alpha(table.to_numpy(dtype=np.float64))


def _fit(design: FloatArray, won: FloatArray, pairs: np.ndarray) -> tuple[FloatArray, FloatArray]:
    """Estimates of all parameters, and their covariance with errors clustered by pair."""
    from scipy.optimize import minimize
    from scipy.special import expit

    count = design.shape[1] - 1
    # Half a win and half a loss of each arm against one of strength 0, on neither side.
    prior = np.eye(count, count + 1)

    def loss(values: FloatArray) -> tuple[float, FloatArray]:
        real, extra = design @ values, prior @ values
        total = np.logaddexp(0, real).sum() - won @ real
        total += np.logaddexp(0, extra).sum() - 0.5 * extra.sum()
        slope = design.T @ (expit(real) - won) + prior.T @ (expit(extra) - 0.5)
        return float(total), slope

    found = minimize(loss, np.zeros(count + 1), jac=True, method="BFGS", options={"gtol": 1e-8})
    values = np.asarray(found.x, dtype=np.float64)
    chance, at_prior = expit(design @ values), expit(prior @ values)
    bend = (design.T * (chance * (1 - chance))) @ design
    bend += (prior.T * (at_prior * (1 - at_prior))) @ prior
    inverse = np.linalg.inv(bend)
    _, groups = np.unique(pairs, return_inverse=True)
    sums = np.zeros((groups.max() + 1, count + 1))
    np.add.at(sums, groups, design * (won - chance)[:, None])
    spread = sums.T @ sums * (len(sums) / max(len(sums) - 1, 1))
    return values, np.asarray(inverse @ spread @ inverse)


def _must_be_connected(arms: list[str], places: np.ndarray) -> None:
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    size = len(arms)
    ties = coo_array((np.ones(len(places)), (places[:, 0], places[:, 1])), shape=(size, size))
    parts, labels = connected_components(ties, directed=False)
    if parts > 1:
        named = [
            [arm for arm, at in zip(arms, labels, strict=True) if at == n] for n in range(parts)
        ]
        groups = ["; ".join(group) for group in named]
        raise InputError(
            f"no chain of comparisons connects all arms, so that they have no common scale: "
            f"{' | '.join(groups)}"
        )
