"""A study folder opened for reading, and its planned comparisons, with Holm's correction."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pydantic import ValidationError

from virsci_society.agents.arrays import FloatArray
from virsci_society.agents.errors import InputError
from virsci_society.agents.files.atomic_files import require_regular_file
from virsci_society.agents.files.file_hashes import read_hashes
from virsci_society.metrics.inference.comparisons import (
    NOT_EXERCISED,
    ArmDifference,
    holm,
    paired,
    welch,
)
from virsci_society.metrics.inference.correlations import (
    RANK_TREND,
    Block,
    Correlation,
    pearson,
    rank_trend,
    spearman,
)
from virsci_society.metrics.inference.two_lines import TwoLines, inverted_u
from virsci_society.metrics.novelty.novelty import COLUMNS
from virsci_society.metrics.registry import measure_label
from virsci_society.scenarios.study.lock import read_result
from virsci_society.scenarios.study.tables import (
    NEEDED,
    STUDY_JSON,
    PlannedComparison,
    StudyDescription,
)
from virsci_society.society.results.table_files import read_parquet


class Study:
    """An opened study folder.

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
        self._interim_p, self.reviews = interim_p, dict[str, tuple[str, str]]()
        self._arms = {} if description is None else {arm.name: arm for arm in description.arms}
        if reviews is not None:
            score = "review." + reviews["kind"].astype(str) + "." + reviews["dimension"].astype(str)
            panel, value = reviews["panel"].astype(str), reviews["score"].astype("float64")
            rows = reviews.assign(measure=score + " by " + panel, value=value)
            parts = zip(rows["measure"], score, panel, strict=True)
            self.reviews = {name: (of, who) for name, of, who in parts}
            columns = ["run", "arm", "replicate", "measure", "value"]
            results = pd.concat([results, rows.merge(runs, on="run")[columns]], ignore_index=True)
        self._known = known = results.dropna(subset=["value"])
        self._values = {
            (str(measure), str(arm)): rows.set_index("replicate")["value"].sort_index()
            for (measure, arm), rows in known.groupby(["measure", "arm"], sort=False)
        }

    def __repr__(self) -> str:
        """The folder, arms and runs in one line."""
        return f"<Study {self.folder}: {len(self._arms)} arms, {len(self.runs)} runs>"

    @classmethod
    def open(cls, path: Path | str, *, interim_p: bool = False) -> Study:
        """Open a study folder with collected results.

        Args:
            interim_p: give p values also while some runs are not done.

        Raises:
            InputError: it is no study folder, was not gathered, or a file is damaged.
        """
        folder = Path(path)
        hashes, files = read_hashes(folder), [folder / f"{name}.parquet" for name in NEEDED]
        for file in files:
            if not file.exists():
                raise InputError(f"{file}: missing; run the study, which gathers its results")
        # All at once: a page needs every table, so a changed file must be found before it starts.
        if hashes is not None:
            hashes.check_all()
        file = folder / STUDY_JSON
        try:
            text = require_regular_file(file).read_bytes()
            description = StudyDescription.model_validate_json(text)
        except OSError as error:
            raise InputError(
                f"{file}: cannot be read, so this is not a study folder: {error}"
            ) from error
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"])
            raise InputError(f"{file}: {where}: {first['msg']}") from error
        runs, results = (read_parquet(file) for file in files)
        reviews = _optional(folder / "reviews.parquet")
        return cls(folder, description, runs, results, reviews, interim_p)

    def compare(self) -> pd.DataFrame:
        """The planned comparisons: one row each, with estimate, interval and adjusted p value.

        Columns: ``measure``; ``of`` (the arms, the key or the other measure); ``test``; ``n``;
        ``estimate``, ``low`` and ``high`` (a difference, a break or a correlation with its 95 %
        interval); ``p`` and ``holm`` (corrected for all that were planned; both left out before
        every run is done); ``planned`` (False: added after the lock).
        """
        rows = []
        for one in compute_comparisons(self):
            row = one.row() | {"of": " to ".join(one.of), "test": one.test}
            rows.append(row | {"estimate": one.estimate, "planned": one.planned})
        columns = ["measure", "of", "test", "n", "estimate", "low", "high", "p", "holm", "planned"]
        table = pd.DataFrame(rows).reindex(columns=columns)
        return table if self.shows_p else without_p(table)

    @property
    def arms(self) -> list[str]:
        """Names of the arms, in order."""
        return list(self._arms)

    def settings(self, arm: str) -> dict[str, Any]:
        """The scenario keys that an arm sets."""
        return self._arms[arm].set

    def label(self, measure: str) -> str:
        """The label of an outcome, without an article; for review scores with the panel."""
        score, _, panel = measure.partition(" by ")
        if score.startswith("review."):
            _, kind, name = score.split(".")
            label = f"score {name.replace('_', ' ')} of {kind} reviews"
            return f"{label} by {panel}" if panel else label
        label = self.description.labels.get(measure) or measure_label(measure)
        return label + self.by_embedding(measure)

    def by_embedding(self, measure: str) -> str:
        """Suffix of a novelty measure, such as `` by LSA 256``; else empty."""
        embedding = self.description.embedding if measure in COLUMNS else ""
        return f" by {embedding}" if embedding else ""

    def circumstance(self, arm: str) -> str:
        """An arm as a phrase, such as ``when nobody left``, ``with team_size=4`` or its name."""
        labels, of = self.description.labels, self._arms[arm].of
        if of in labels and arm not in labels:
            return labels[of] + arm.removeprefix(of)
        return labels.get(arm) or (f"with {arm}" if "=" in arm else f"in “{arm}”")

    def reference(self, arm: str) -> str | None:
        """The reference arm of gains: the first, or its counterpart at the same budget.

        None for an arm of a budget at which the first one is not run, and for itself.
        """
        arms, own = self.description.arms, self._arms[arm]
        like = (
            one.name
            for one in arms
            if (one.of or one.name) == (arms[0].of or arms[0].name) and one.budget == own.budget
        )
        name = next(like, None)
        return name if name != arm else None

    @property
    def fewest(self) -> int:
        """Finished replicates in the arm with the fewest."""
        done = self.runs[self.runs["state"] == "done"].groupby("arm").size()
        return int(done.reindex(self.arms).fillna(0).min())

    @property
    def interim(self) -> str:
        """Progress such as ``5 of 10 replicates``; empty when all runs are done."""
        done = bool((self.runs["state"] == "done").all())
        return "" if done else f"{self.fewest} of {self.description.replicates} replicates"

    @property
    def shows_p(self) -> bool:
        """True if p values are shown: when all runs are done, or on request.

        Optional stopping, with a look at p after every few runs, finds absent effects far more
        often than in 5 % of studies.
        """
        return self._interim_p or not self.interim

    @property
    def sampled(self) -> bool:
        """True if arms are sampled points of a parameter space."""
        return self.description.design == "latin_hypercube"

    def values(self, measure: str, arm: str) -> pd.Series:
        """Values of a measure in an arm by replicate, without missing values."""
        return self._values.get((measure, arm), pd.Series([], dtype="float64"))

    def numbers(self, measure: str, arm: str) -> FloatArray:
        """Values of a measure in an arm as an array."""
        return self.values(measure, arm).to_numpy(dtype="float64")

    def by_run(self, measure: str, arms: list[str]) -> pd.Series:
        """Values of a measure in some arms by run, without missing values."""
        rows = self._known[(self._known["measure"] == measure) & self._known["arm"].isin(arms)]
        return rows.set_index("run")["value"].astype("float64")

    @property
    def measured(self) -> list[str]:
        """Every outcome that has a value in some run."""
        return list(self._known["measure"].unique())

    def panels(self, score: str) -> list[str]:
        """The outcomes of a score ``review.KIND.SCORE``, one for each panel."""
        return [name for name, (given, _) in self.reviews.items() if given == score]

    def key_value(self, arm: str, key: str) -> float:
        """The numeric value of a key in an arm; NaN if it has none."""
        value: Any = self._arms[arm].set.get(key)
        number = isinstance(value, int | float) and not isinstance(value, bool)
        return float(value) if number else math.nan

    def numeric_keys(self) -> list[str]:
        """The varied keys with numeric values in every arm."""
        values = {
            key: {self.key_value(arm, key) for arm in self.arms} for key in self.description.keys
        }
        return [
            key for key, ones in values.items() if len(ones) > 1 and all(map(math.isfinite, ones))
        ]

    def optional(self, name: str) -> pd.DataFrame | None:
        """An optional table such as ``matched`` or ``texts``; None if absent."""
        return _optional(self.folder / f"{name}.parquet")

    def failure_reason(self, run: int) -> str:
        """The reason why a run is not done; empty if unknown."""
        try:
            result = read_result(self.folder, run)
        except InputError:
            return ""
        return "" if result is None else result.reason


def _optional(file: Path) -> pd.DataFrame | None:
    """An optional table; None if it does not exist."""
    return read_parquet(require_regular_file(file)) if file.exists() else None


NO_VARIANCE = "not estimable: the measure does not vary"
CONSTANT_NAMED = 4
"""Arms whose runs do not vary that are named in a note."""


@dataclass(frozen=True)
class ComparisonResult:
    """One planned comparison and its result.

    ``of`` are two arms, the key that is varied, or the other measure; ``among`` is what the arms
    share, where they are not all arms; ``plan`` is its place in the study's file.
    """

    measure: str
    of: tuple[str, ...]
    result: ArmDifference | TwoLines | Correlation
    planned: bool = True
    holm: float = math.nan
    among: str = ""
    plan: int = 0

    @property
    def test(self) -> str:
        """Name of the test, from the function that made it."""
        return self.result.test

    @property
    def p(self) -> float:
        """Two-sided; NaN where it could not be computed."""
        return self.result.p

    @property
    def estimate(self) -> float:
        """The difference of two arms, the break of two lines, or the correlation."""
        found = self.result
        if isinstance(found, ArmDifference):
            return found.difference.value
        return found.break_point if isinstance(found, TwoLines) else found.r

    @property
    def table(self) -> str:
        """Name of the table that it is a row of."""
        if isinstance(self.result, ArmDifference):
            return "differences"
        if isinstance(self.result, TwoLines):
            return "inverted_u"
        return "rank_correlations" if self.test == RANK_TREND else "correlations"

    def row(self) -> dict[str, Any]:
        """Its row: the estimate with its interval, p, Holm's p, and whether it was planned."""
        found, row = self.result, dict[str, Any](measure=self.measure)
        if isinstance(found, ArmDifference):
            gap = found.difference
            row |= {"first": self.of[0], "second": self.of[1], "test": self.test, "n": gap.n}
            row |= {"difference": gap.value, "low": gap.low, "high": gap.high}
            if found.note == NOT_EXERCISED:
                # A zero with an interval would pass for a measured one.
                row |= dict.fromkeys(("difference", "low", "high"), math.nan)
            row |= {"effect": found.effect}
        elif isinstance(found, TwoLines):
            row |= {"over": self.of[0], "among": self.among, "n": found.n}
            row |= {"break": found.break_point}
            for number, line in enumerate((found.first, found.second), 1):
                row |= {f"slope_{number}": line.slope, f"low_{number}": line.low}
                row |= {f"high_{number}": line.high, f"p_{number}": line.p}
        else:
            if self.test == RANK_TREND:
                row |= {"over": self.of[0], "among": self.among, "n": found.n, "rho": found.r}
            else:
                row |= {"against": self.of[0], "test": self.test, "n": found.n, "r": found.r}
            row |= {"low": found.low, "high": found.high}
        row |= {"p": self.p, "holm": self.holm, "planned": "yes" if self.planned else "no"}
        return row | {"note": found.note}


def without_p(table: pd.DataFrame) -> pd.DataFrame:
    """A table without p values, and without the verdict on two lines."""
    verdict = ["note"] if "slope_1" in table else []
    return table.drop(columns=["p", "p_1", "p_2", "holm", *verdict], errors="ignore")


def compute_comparisons(study: Study) -> list[ComparisonResult]:
    """Compute every comparison in order, with Holm's correction over all that were planned."""
    results = []
    for number, plan in enumerate(study.description.comparisons):
        outcomes, note = [plan.of], ""
        if plan.of.startswith("review."):
            outcomes = study.panels(plan.of)
            if not outcomes:
                kind = plan.of.split(".")[1]
                note = f"no reviews yet; 'society review STUDY --kind {kind}' asks for them"
                outcomes = [plan.of]
        for one in [found for outcome in outcomes for found in _results_of(study, plan, outcome)]:
            result = replace(one.result, note=note) if note else one.result
            results.append(replace(one, result=result, planned=not plan.exploratory, plan=number))
    # What was added after the lock was no part of the plan, so the correction is not over it.
    adjusted = iter(holm([one.p for one in results if one.planned]))
    return [replace(one, holm=next(adjusted)) if one.planned else one for one in results]


def in_other_embeddings(study: Study, one: ComparisonResult) -> list[ComparisonResult]:
    """The same comparison of novelty in the other embeddings of the study."""
    plan = study.description.comparisons[one.plan]
    names = [name for name in study.measured if name.startswith(f"{one.measure} by ")]
    found = (result for name in names for result in _results_of(study, plan, name))
    return [other for other in found if (other.of, other.test) == (one.of, one.test)]


def _results_of(study: Study, plan: PlannedComparison, outcome: str) -> Iterator[ComparisonResult]:
    arms = [arm for arm in (plan.arms or study.arms) if arm in study.arms]
    if plan.test == "paired":
        for one in arms[1:]:
            yield compare_two_arms(study, outcome, (arms[0], one))
    elif plan.test == "correlation":
        # Over runs, against a measure or the score of every panel.
        against, ours = plan.against or "", study.by_run(outcome, arms)
        for label in study.panels(against) or [against]:
            both = pd.concat([ours, study.by_run(label, arms)], axis=1, join="inner").to_numpy()
            for correlation in (pearson, spearman):
                yield ComparisonResult(outcome, (label,), correlation(both[:, 0], both[:, 1]))
    else:
        key, among = plan.over or "", "" if plan.arms is None else _shared_settings(study, arms)
        found: TwoLines | Correlation
        if plan.test == "inverted_u":
            found = inverted_u(*key_and_measure(study, outcome, key, arms))
        else:
            found = _rank_correlation(study, outcome, key, arms)
        yield ComparisonResult(outcome, (key,), found, among=among)


def _rank_correlation(study: Study, measure: str, key: str, arms: list[str]) -> Correlation:
    """Spearman's rho within blocks of one seed and one setting of a grid's other keys."""
    if study.sampled:
        points = spearman(*key_and_measure(study, measure, key, arms))
        return replace(points, test=RANK_TREND)
    grouped: dict[tuple[str, int], list[tuple[float, float]]] = {}
    constant: list[str] = []
    for arm in arms:
        place, values = study.key_value(arm, key), study.values(measure, arm)
        if not np.isfinite(place) or not len(values):
            continue
        if len(values) > 1 and np.ptp(values) == 0:
            constant.append(f"{arm} ({values.iloc[0]:g})")
        # Among arms by name, other keys may go along with this one.
        others = study.settings(arm).items() if study.description.design == "grid" else ()
        stratum = str(sorted((name, str(value)) for name, value in others if name != key))
        for replicate, value in zip(values.index.tolist(), values.tolist(), strict=True):
            unit = replicate if study.description.paired else 0
            grouped.setdefault((stratum, unit), []).append((place, value))
    tables = {unit: np.array(rows) for unit, rows in sorted(grouped.items())}
    blocks = [Block(rows[:, 0], rows[:, 1], unit) for (_, unit), rows in tables.items()]
    if len(blocks) == 1:
        rank = spearman(blocks[0].x, blocks[0].y)
        rank = replace(rank, test=RANK_TREND, note="" if blocks[0].varies else NO_VARIANCE)
    else:
        rank = rank_trend(blocks)
    notes = [rank.note] if rank.note else []
    if constant:
        # Such as zero by construction.
        more = len(constant) - CONSTANT_NAMED
        named = constant[:CONSTANT_NAMED] + ([f"{more} more"] if more > 0 else [])
        notes.append(f"no variance between the runs of {', '.join(named)}")
    return replace(rank, note="; ".join(notes))


def compare_two_arms(study: Study, measure: str, arms: tuple[str, str]) -> ComparisonResult:
    """A measure in two arms, in pairs of one seed where the study has them."""
    if study.description.paired:
        return ComparisonResult(measure, arms, paired(*pairs(study, measure, arms)))
    first, second = (study.numbers(measure, arm) for arm in arms)
    return ComparisonResult(measure, arms, welch(first, second))


def pairs(study: Study, measure: str, arms: tuple[str, ...]) -> tuple[FloatArray, FloatArray]:
    """A measure in two arms, of the replicates that both have, in one order."""
    first, second = (study.values(measure, arm) for arm in arms)
    both = first.index.intersection(second.index)
    return first.loc[both].to_numpy(np.float64), second.loc[both].to_numpy(np.float64)


def _shared_settings(study: Study, arms: list[str]) -> str:
    """Settings that some arms share and not all arms of the study have; else their names."""
    every, chosen = ([study.settings(arm) for arm in some] for some in (study.arms, arms))

    def alike(key: str, given: Sequence[dict[str, Any]]) -> bool:
        return all(one.get(key) == given[0].get(key) for one in given)

    own = chosen[0] if chosen else {}
    shared = [key for key in own if alike(key, chosen) and not alike(key, every)]
    settings = ", ".join(f"{key.rpartition('.')[2]}={own[key]}" for key in shared)
    return settings or "; ".join(arms)


def key_and_measure(
    study: Study, measure: str, key: str, arms: Sequence[str]
) -> tuple[FloatArray, FloatArray]:
    """The varied key and the measure, one value each per replicate.

    In a sampled design the unit is the arm, whose replicates share all its other keys.
    """
    places: list[float] = []
    values: list[float] = []
    for arm in arms:
        own, place = study.numbers(measure, arm), study.key_value(arm, key)
        if len(own) and np.isfinite(place):
            kept = [float(own.mean())] if study.sampled else own.tolist()
            values += kept
            places += [place] * len(kept)
    return np.array(places, dtype=np.float64), np.array(values, dtype=np.float64)
