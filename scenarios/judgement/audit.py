"""The audit of a judge of texts, whose scores are held against those of people.

A person is worth what one rating says of the mean of all other people's. The judge is put in the
place of each person in turn, so that both are held against the same means. All intervals are
percentile bootstraps over texts, seeded. What disagreement among people and of the judge with
itself leaves for a correlation (its ceiling) is the root of the product of both reliabilities
(Spearman 1904), each by Krippendorff's alpha and the formula of Spearman and Brown (1910).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from virsci_society.agents.arrays import FloatArray
from virsci_society.agents.errors import InputError
from virsci_society.metrics.inference.correlations import krippendorff_alpha, prcc, spearman
from virsci_society.scenarios.judgement.rating_files import FIELDS
from virsci_society.scenarios.judgement.review import REVIEWS_FILE
from virsci_society.society.results.table_files import read_parquet

RESAMPLES = 300
FEWEST = 10
"""Texts without which nothing is said."""
POWER, LEVEL = 0.8, 0.05


@dataclass(frozen=True, eq=False)
class RatingSet:
    """Ratings of texts on one dimension by people and by a judge.

    Attributes:
        people: ratings, texts x raters; NaN where a person has not rated.
        judge: the same of the judge, who may have rated each text several times.
        features: of each text, by name, such as ``words``.
    """

    people: FloatArray
    judge: FloatArray
    features: dict[str, FloatArray]

    def of(self, texts: np.ndarray) -> RatingSet:
        """The same of some texts, which may stand in it several times."""
        some = {name: values[texts] for name, values in self.features.items()}
        return RatingSet(self.people[texts], self.judge[texts], some)


def with_panels(
    ratings: pd.DataFrame, judges: Sequence[str], dimension: str | None = None
) -> tuple[pd.DataFrame, list[str]]:
    """Ratings with those of panels, and the names of all raters that are the judge.

    Args:
        ratings: of ``rating_files.read_ratings``.
        judges: names of raters, or folders of panels, of which each reviewer is a rater.
        dimension: of which panels' scores are taken; ``overall`` or ``novelty`` by default.

    Raises:
        InputError: a panel has no such score.
    """
    tables, names = [ratings], []
    for judge in judges:
        path = Path(judge) / REVIEWS_FILE
        if not path.is_file():
            names.append(judge)
            continue
        found = _panel_ratings(path, dimension)
        names += list(dict.fromkeys(found["rater"]))
        tables.append(found)
    return pd.concat(tables, ignore_index=True), names


def _panel_ratings(path: Path, dimension: str | None) -> pd.DataFrame:
    """What each reviewer of a panel said last, as ratings."""
    table = read_parquet(path)
    scored = [name for name in (dimension, "overall", "novelty") if name in table]
    scored = [name for name in scored if table[name].notna().any()]
    if not scored or (dimension is not None and scored[0] != dimension):
        raise InputError(f"{path}: has no scores of {dimension or 'overall or novelty'}")
    said = table[(table["reviewer"] > 0) & table[scored[0]].notna()].sort_values("round")
    last = said.groupby(["paper", "reviewer"], as_index=False).last()
    raters = path.parent.name + "/" + last["reviewer"].astype(str)
    scores = last[scored[0]].astype("float64")
    return pd.DataFrame({"item": last["paper"].astype(str), "rater": raters, "score": scores})


def rating_set(ratings: pd.DataFrame, judges: Sequence[str]) -> RatingSet:
    """Ratings of people beside those of a judge.

    Args:
        ratings: of ``rating_files.read_ratings``.
        judges: names among the raters; several are one judge who rated several times.

    Raises:
        InputError: no such rater, nobody else, texts that no two people rated, or too few.
    """
    raters = list(dict.fromkeys(ratings["rater"]))
    for name in judges:
        if name not in raters:
            shown = ", ".join(raters[:20])
            raise InputError(f"--judge {name}: rated nothing; there are {shown}")
    wide = ratings.pivot_table("score", "item", "rater", aggfunc="mean")
    own, people = wide[list(judges)], wide.drop(columns=list(judges))
    if people.shape[1] < 2:
        raise InputError("fewer than two people have rated: a judge is held against several")
    used = own.notna().any(axis=1) & (people.notna().sum(axis=1) > 1)
    if used.sum() < FEWEST:
        raise InputError(
            f"{used.sum()} texts have a score of the judge and of two people or more; "
            f"{FEWEST} are needed"
        )
    items = list(wide.index[used])
    return RatingSet(
        people[used].to_numpy(dtype=np.float64),
        own[used].to_numpy(dtype=np.float64),
        _features(ratings, judges, items),
    )


def _features(
    ratings: pd.DataFrame, judges: Sequence[str], items: list[str]
) -> dict[str, FloatArray]:
    """What may lead the judge, of each text: the judge's own lines say it first."""
    lines = ratings.sort_values("rater", key=lambda raters: ~raters.isin(judges), kind="stable")
    columns: dict[str, pd.Series[float]] = {}
    if "text" in lines:
        columns["words"] = lines["text"].map(
            lambda text: len(str(text).split()), na_action="ignore"
        )
    for name in lines.columns.difference(list(FIELDS)):
        columns[name] = pd.to_numeric(lines[name], errors="coerce")
    found: dict[str, FloatArray] = {}
    for name, values in columns.items():
        of_text = values.astype("float64").groupby(lines["item"]).first()
        found[name] = np.asarray(of_text.reindex(items), dtype=np.float64)
    return {
        name: values
        for name, values in found.items()
        if np.isfinite(values).all() and np.ptp(values) > 0
    }


def audit(ratings: RatingSet, seed: int = 0, resamples: int = RESAMPLES) -> pd.DataFrame:
    """What the judge is worth, beside a person.

    Args:
        ratings: of people and judge.
        seed: of the intervals.
        resamples: of the texts.

    Returns:
        One row a question: ``question``, ``value``, ``low`` and ``high`` (95 %); missing where
        there is none, as for a judge who rated each text once.
    """
    found = answers_of(ratings)
    rng = np.random.default_rng([seed, len(ratings.people)])
    draws = rng.integers(0, len(ratings.people), (resamples, len(ratings.people)))
    again = pd.DataFrame([answers_of(ratings.of(draw)) for draw in draws])
    rows = [(question, value, *_ends(again[question])) for question, value in found.items()]
    return pd.DataFrame(rows, columns=["question", "value", "low", "high"])


def _ends(values: pd.Series[float]) -> tuple[float, float]:
    """The ends of the central 95 % of resampled values; NaN where none is known."""
    known = np.sort(values.dropna().to_numpy(dtype=np.float64))
    if not len(known):
        return np.nan, np.nan
    # Of whole resamples: between two infinite numbers nothing can be interpolated.
    low, high = np.round(np.array((0.025, 0.975)) * (len(known) - 1)).astype(int)
    return float(known[low]), float(known[high])


def answers_of(ratings: RatingSet) -> dict[str, float]:
    """The value of every question of ``audit``, without intervals."""
    judge, people = (np.nanmean(one, axis=1) for one in (ratings.judge, ratings.people))
    of_judge, own, others, texts = _pooled(ratings)
    replaced, person = spearman(of_judge, others).r, spearman(own, others).r
    found = {
        "person: correlation with the mean of the others": person,
        "judge, in the place of each person": replaced,
        "judge less person": replaced - person,
        "agreement of people (alpha)": krippendorff_alpha(ratings.people.T),
        "agreement of the judge with itself (alpha)": krippendorff_alpha(ratings.judge.T),
        "judge: correlation with the mean of all people": spearman(judge, people).r,
        "most that this could be": ceiling(ratings),
    }
    for name, values in ratings.features.items():
        label = "longer texts" if name == "words" else name
        inputs = {"others": others, "feature": values[texts]}
        for who, scores in (("judge", of_judge), ("person", own)):
            leaning = prcc(inputs, scores)["feature"].r
            found[f"{who}: prefers {label}, where the others rate alike"] = leaning
    found["texts an arm at which the judge tells one point of people"] = _needed(ratings)
    return found


def ceiling(ratings: RatingSet) -> float:
    """The largest correlation that the judge's scores could have with the mean of people.

    Of a judge who rated each text once, its disagreement with itself is not known and left out.
    """
    own = reliability(ratings.judge)
    root: float = np.sqrt(reliability(ratings.people) * (1.0 if np.isnan(own) else own))
    return root


def reliability(ratings: FloatArray) -> float:
    """That of the mean of several ratings (texts x raters), 0..1; NaN where there is one each."""
    alpha = krippendorff_alpha(ratings.T)
    each = (~np.isnan(ratings)).sum(axis=1)
    several = len(each) / (1.0 / np.maximum(each, 1)).sum()
    return float(np.clip(several * alpha / (1.0 + (several - 1.0) * alpha), 0.0, 1.0))


def _pooled(ratings: RatingSet) -> tuple[FloatArray, FloatArray, FloatArray, np.ndarray]:
    """Of every rating by a person: the judge's, its own, the mean of the others', and the text."""
    known = ~np.isnan(ratings.people)
    texts, raters = np.nonzero(known)
    own = ratings.people[texts, raters]
    totals, counts = np.nansum(ratings.people, axis=1), known.sum(axis=1)
    others = (totals[texts] - own) / (counts[texts] - 1)
    return np.nanmean(ratings.judge, axis=1)[texts], own, others, texts


def _needed(ratings: RatingSet) -> float:
    """Texts in each of two arms at which their means by the judge tell one point of people."""
    judge, people = (np.nanmean(one, axis=1) for one in (ratings.judge, ratings.people))
    spread = np.var(people) * reliability(ratings.people)
    slope = np.cov(judge, people, bias=True)[0, 1] / spread if spread > 0 else 0.0
    if not slope > 0:
        return np.inf
    quantiles = stats.norm.ppf(1.0 - LEVEL / 2.0) + stats.norm.ppf(POWER)
    return float(np.ceil(2.0 * np.var(judge, ddof=1) * (quantiles / slope) ** 2))
