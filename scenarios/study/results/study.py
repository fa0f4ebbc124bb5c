"""A study folder, opened for reading; it computes nothing.

::

    study.json  runs.parquet  results.parquet  reviews.parquet  matched.parquet  texts.parquet
    tables/*.parquet
    report.html  report/*.csv  report/*.tex  report/*.svg
"""

from __future__ import annotations

from collections.abc import Set
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from virsci_society.agents.arrays import FloatArray
from virsci_society.agents.errors import InputError
from virsci_society.agents.files.atomic_files import require_regular_file
from virsci_society.agents.files.file_hashes import read_hashes
from virsci_society.metrics.measures import measure_label
from virsci_society.scenarios.study.run_result import read_result
from virsci_society.scenarios.study.study_file import Comparison, Figure, Scatter
from virsci_society.society.results.table_files import read_parquet

DESCRIPTION_FILE = "study.json"


class StudyRecord(BaseModel):
    """A record in ``study.json``; unknown keys, of a later release, are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class StudyArm(StudyRecord):
    """One arm of a study: its name, the scenario keys that it sets, and what it is one of.

    ``of``: the name in the file of an arm that is run at several budgets; ``budget``: its own.
    """

    name: str
    set: dict[str, Any] = Field(default_factory=dict)
    of: str = ""
    budget: float | None = None


class PlannedComparison(Comparison, StudyRecord):
    """One comparison as it was planned, or ``exploratory``: added after the lock."""

    exploratory: bool = False


class StackedFigure(Figure, StudyRecord):
    """One figure of measures that add up."""


class ScatterFigure(Scatter, StudyRecord):
    """One figure of outcomes against measures."""


class MatchedBudget(StudyRecord):
    """What the arms of a study were matched by: keys of ``study_file.Match``."""

    by: str
    to: str | float | list[float]
    within: float


class StudyDescription(StudyRecord):
    """The content of ``study.json``."""

    title: str = ""
    about: str = ""
    design: str = "list"
    arms: list[StudyArm]
    keys: list[str] = Field(default_factory=list)
    replicates: int = Field(ge=1)
    measures: list[str]
    labels: dict[str, str] = Field(default_factory=dict)
    comparisons: list[PlannedComparison] = Field(default_factory=list)
    figures: list[StackedFigure | ScatterFigure] = Field(default_factory=list)
    crossed: dict[str, list[Any]] = Field(default_factory=dict)
    match: MatchedBudget | None = None
    paired: bool = True
    deviations: list[str] = Field(default_factory=list)
    backend_about: str = ""
    leak: dict[str, Any] = Field(default_factory=dict)
    reviewers: dict[str, str] = Field(default_factory=dict)


class Study:
    """A study folder, opened.

    Attributes:
        folder: its path.
        description: the content of ``study.json``.
        runs: one row per run: ``run``, ``arm``, ``replicate``, ``seed``, ``state``, ``digest``
            and a column per varied key.
        results: one row per run and measure: ``run``, ``arm``, ``replicate``, ``seed``,
            ``measure``, ``value`` (missing where not available).
        reviews: ``review.KIND.SCORE`` and the panel, by the name of the outcome that they are
            together: ``review.KIND.SCORE by PANEL``, a measure of the study like any other.

    Example:
        >>> import pandas as pd
        >>> runs = pd.DataFrame({"run": [1, 2], "arm": "small", "replicate": [1, 2]})
        >>> results = runs.assign(measure="papers", value=[4.0, 6.0])
        >>> study = vs.Study("studies/size", None, runs, results)
        >>> study.values("papers", "small").mean()
        np.float64(5.0)
        >>> vs.Study.open("studies/size")
        Traceback (most recent call last):
            ...
        virsci_society.agents.errors.InputError: studies/size/runs.parquet: missing; ...
    """

    def __init__(
        self,
        folder: Path,
        description: StudyDescription,
        runs: pd.DataFrame,
        results: pd.DataFrame,
        reviews: pd.DataFrame | None = None,
        interim_p: bool = False,
    ) -> None:
        self.folder, self.description, self.runs, self.results = folder, description, runs, results
        self._interim_p = interim_p
        self.reviews: dict[str, tuple[str, str]] = {}
        if reviews is not None:
            scores, self.reviews = _review_outcomes(runs, reviews)
            results = pd.concat([results, scores], ignore_index=True)
        self._known = known = results.dropna(subset=["value"])
        self._values = {
            (str(measure), str(arm)): rows.set_index("replicate").sort_index()
            for (measure, arm), rows in known.groupby(["measure", "arm"], sort=False)
        }

    @classmethod
    def open(cls, path: Path | str, *, interim_p: bool = False) -> Study:
        """Open a study folder whose runs have been gathered.

        Args:
            interim_p: give p values also while some runs are not done.

        Raises:
            InputError: it is no study folder, was not gathered, or a file is damaged.
        """
        folder = Path(path)
        hashes = read_hashes(folder)
        files = [folder / f"{name}.parquet" for name in ("runs", "results")]
        for file in files:
            if not file.exists():
                raise InputError(f"{file}: missing; run the study, which gathers its results")
        # All at once: a page is made of every table, and one that was changed must not be found
        # half-way.
        if hashes is not None:
            hashes.check_all()
        description = _read_description(folder / DESCRIPTION_FILE)
        runs, results = (read_parquet(file) for file in files)
        return cls(folder, description, runs, results, _gathered(folder, "reviews"), interim_p)

    @property
    def arms(self) -> list[str]:
        """Names of the arms, in order."""
        return [arm.name for arm in self.description.arms]

    def label(self, measure: str) -> str:
        """An outcome in words, a noun without an article; a review's score with its panel."""
        score, _, panel = measure.partition(" by ")
        if score.startswith("review."):
            _, kind, name = score.split(".")
            told = f"score {name.replace('_', ' ')} of {kind} reviews"
            return told + (panel and f" by {panel}")
        return self.description.labels.get(measure) or measure_label(measure)

    def circumstance(self, arm: str) -> str:
        """An arm in words, as ``when nobody left``; else ``with team_size=4`` or its name."""
        labels, of = (
            self.description.labels,
            next(one.of for one in self.description.arms if one.name == arm),
        )
        if of in labels and arm not in labels:
            return labels[of] + arm.removeprefix(of)
        return labels.get(arm) or (f"with {arm}" if "=" in arm else f"in “{arm}”")

    def is_same_in_all_arms(self, measure: str) -> bool:
        """Whether every replicate has one value in all arms, as what happens before they differ."""
        told = [self.values(measure, arm) for arm in self.arms]
        alike = len(told[0]) > 0 and all(one.equals(told[0]) for one in told)
        return self.description.paired and len(told) > 1 and alike

    def reference(self, arm: str) -> str | None:
        """The arm that gains are against: the first one, or its like at the budget of an arm.

        None for an arm of a budget at which the first one is not run, and for itself.
        """
        arms = self.description.arms
        own = next(one for one in arms if one.name == arm)
        like = (
            one.name
            for one in arms
            if (one.of or one.name) == (arms[0].of or arms[0].name) and one.budget == own.budget
        )
        name = next(like, None)
        return name if name != arm else None

    @property
    def fewest(self) -> int:
        """Replicates of the arm with the fewest runs that are done."""
        done = self.runs[self.runs["state"] == "done"].groupby("arm").size()
        return int(done.reindex(self.arms).fillna(0).min())

    @property
    def interim(self) -> str:
        """How far the study is, as ``5 of 10 replicates``; empty when every run is done."""
        done = bool((self.runs["state"] == "done").all())
        return "" if done else f"{self.fewest} of {self.description.replicates} replicates"

    @property
    def shows_p(self) -> bool:
        """Are p values and verdicts given? Not before every run is done, unless asked for.

        Whoever looks after every few runs and stops at the first small p finds effects that are not
        there far more often than in 5 % of studies.
        """
        return self._interim_p or not self.interim

    @property
    def sampled(self) -> bool:
        """Whether every arm is a sampled point of a space, rather than a setting of interest."""
        return self.description.design == "latin_hypercube"

    def values(self, measure: str, arm: str, without: Set[int] = frozenset()) -> pd.Series:
        """A measure in the runs of an arm, by replicate; runs without a value are left out."""
        rows = self._values.get((measure, arm))
        if rows is None:
            return pd.Series([], dtype="float64")
        kept = rows if not without else rows[~rows["run"].isin(without)]
        return kept["value"].astype("float64")

    def numbers(self, measure: str, arm: str, without: Set[int] = frozenset()) -> FloatArray:
        """A measure in the runs of an arm as an array, without the numbers of the replicates."""
        return np.asarray(self.values(measure, arm, without), dtype=np.float64)

    def by_run(self, measure: str, arms: list[str], without: Set[int] = frozenset()) -> pd.Series:
        """A measure in the runs of some arms, by run; runs without a value are left out."""
        rows = self._known[self._known["measure"] == measure]
        kept = rows[rows["arm"].isin(arms) & ~rows["run"].isin(without)]
        return kept.set_index("run")["value"].astype("float64")

    def panels(self, score: str) -> list[str]:
        """The outcomes that a score ``review.KIND.SCORE`` is, one for each panel that gave it."""
        return [name for name, (given, _) in self.reviews.items() if given == score]

    def key_value(self, arm: str, key: str) -> float:
        """The number that an arm sets a key to; NaN if it sets none or it is no number."""
        value: Any = next(one.set.get(key) for one in self.description.arms if one.name == arm)
        number = isinstance(value, int | float) and not isinstance(value, bool)
        return float(value) if number else float("nan")

    def numeric_keys(self) -> list[str]:
        """The varied keys that are a number in every arm, and not the same in all."""
        keys = []
        for key in self.description.keys:
            values = {self.key_value(arm, key) for arm in self.arms}
            if len(values) > 1 and np.isfinite(list(values)).all():
                keys.append(key)
        return keys

    def matched_budgets(self) -> pd.DataFrame | None:
        """What one run of each arm was planned to spend and spent, if the study was matched."""
        matched = self.description.match is not None
        return _gathered(self.folder, "matched") if matched else None

    def measured_texts(self) -> pd.DataFrame | None:
        """Which texts the novelty of each arm is measured of, and how long they are."""
        return _gathered(self.folder, "texts")

    def runs_with_defaults(self) -> frozenset[int] | None:
        """Runs in which some reply is a default; None where the study has no table of calls."""
        file = self.folder / "tables" / "calls_by_act.parquet"
        if not file.exists():
            return None
        calls = read_parquet(require_regular_file(file))
        if not {"run", "defaulted"} <= set(calls.columns):
            return None
        return frozenset(int(run) for run in calls.loc[calls["defaulted"].fillna(0) > 0, "run"])

    def failure_reason(self, run: int) -> str:
        """Why a run is not done, from its result; empty where that does not say."""
        with suppress(InputError):
            result = read_result(self.folder, run)
            return "" if result is None else result.reason
        return ""


def _gathered(folder: Path, name: str) -> pd.DataFrame | None:
    """A table that not every study has; None where it is not there."""
    file = folder / f"{name}.parquet"
    return read_parquet(require_regular_file(file)) if file.exists() else None


def _review_outcomes(
    runs: pd.DataFrame, reviews: pd.DataFrame
) -> tuple[pd.DataFrame, dict[str, tuple[str, str]]]:
    """Scores of reviews as rows of results, and the score and the panel of each outcome."""
    columns = ["run", "arm", "replicate", "measure", "value"]
    score = "review." + reviews["kind"].astype(str) + "." + reviews["dimension"].astype(str)
    panel = reviews["panel"].astype(str)
    rows = reviews.assign(measure=score + " by " + panel, value=reviews["score"].astype("float64"))
    parts = zip(rows["measure"], score, panel, strict=True)
    return rows.merge(runs, on="run")[columns], {name: (of, who) for name, of, who in parts}


def _read_description(path: Path) -> StudyDescription:
    try:
        return StudyDescription.model_validate_json(require_regular_file(path).read_bytes())
    except OSError as error:
        raise InputError(f"{path}: cannot be read, so this is no study folder: {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise InputError(f"{path}: {where}: {first['msg']}") from error
