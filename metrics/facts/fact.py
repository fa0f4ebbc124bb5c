"""A known fact, which is a published regularity measured on tables, and the verdict on it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from inspect import getdoc
from typing import ClassVar, Literal

import numpy as np

from virsci_society.agents.arrays import FloatArray
from virsci_society.agents.config import Part
from virsci_society.metrics.facts.nulls import NULLS
from virsci_society.metrics.facts.tables import FactTables
from virsci_society.metrics.inference.intervals import Interval, t_interval, unbounded
from virsci_society.society.kernel.streams import Streams


class Fact(Part):
    """Base of all facts; the first line of a docstring states the fact.

    Attributes:
        source: publication.
        published: the published value, or the middle of several.
        low: lower bound of the range that counts as the fact.
        high: upper bound; both are the extremes of several published values.
        population: of whom, in which years, and where ``low`` and ``high`` are from; "judged"
            where nothing published gives them.
        needs: tables beyond papers and authors: ``references``, ``topics``, or the name of a
            table of a run, such as ``interventions``.
        null: the name of the null model that destroys the effect, a key of ``NULLS``.
        least_years: years of the shortest run that can test it.

    Example:
        >>> class Growing(vs.Fact):
        ...     'Fields grow (an example).'
        ...     source, population = "nobody", "judged"
        ...     published, low, high = 100.0, 1.0, 1000.0
        ...     null, least_years = "shuffled dates", 1
        ...     def measure(self, tables):
        ...         'Papers.'
        ...         return float(len(tables.works))
        >>> dict(Growing.card())["published"]
        '100; what counts: 1 to 1000'
    """

    source: ClassVar[str]
    published: ClassVar[float]
    low: ClassVar[float]
    high: ClassVar[float]
    population: ClassVar[str]
    needs: ClassVar[tuple[str, ...]] = ()
    null: ClassVar[str]
    least_years: ClassVar[int]

    def measure(self, tables: FactTables) -> float:
        """The value; NaN where it is undefined.

        The docstring of a fact's own method is its definition, with the unit.
        """
        raise NotImplementedError

    @classmethod
    def card(cls) -> list[tuple[str, str]]:
        """Everything that is stated of the fact, as heads and texts."""
        return [
            ("fact", (getdoc(cls) or "").splitlines()[0]),
            ("measured", _words(cls.measure)),
            ("published", f"{cls.published:g}; what counts: {cls.low:g} to {cls.high:g}"),
            ("of whom", cls.population),
            ("source", cls.source),
            ("needs", ", ".join(("papers", "authors", *cls.needs))),
            ("null model", f"{cls.null}: {_words(NULLS[cls.null])}"),
            ("shortest run", f"{cls.least_years} years"),
        ]


def _words(of: object) -> str:
    return " ".join((getdoc(of) or "").split())


Verdict = Literal["not", "too short to tell", "not measurable", "reproduced"]
VERDICTS: tuple[Verdict, ...] = ("not", "too short to tell", "not measurable", "reproduced")
"""In the order in which they are printed."""
DRAWS = 20
"""Null draws of each run."""
REACH = 5.0
"""Least distance from the mean of the null, in its standard deviations, that is beyond chance."""
RULE = (
    "A fact is reproduced where the whole 95 % interval of its value lies in the published range "
    f"and more than {REACH:g} standard deviations of the null draws away from their mean. It is "
    "not where the interval lies wholly outside the range, or wholly within that distance of the "
    "null: chance does as much. It is too short to tell where the run is shorter than the fact "
    "needs, where chance alone spans the range or is not defined, and where the interval decides "
    "neither. It is not measurable where a table is missing or the value is not defined. The "
    "interval is Student's t over seeds; of a single run or field, which has none, it is the value "
    "with twice the standard deviation of its null draws."
)


@dataclass(frozen=True)
class Chance:
    """What a null model gives: mean and standard deviation of the draws; NaN where undefined."""

    mean: float
    sd: float


@dataclass(frozen=True)
class Judged:
    """One fact of a society or a field, judged."""

    name: str
    fact: Fact
    values: tuple[float, ...]
    interval: Interval
    chance: Chance
    verdict: Verdict
    why: str


def judge_facts(
    facts: Mapping[str, Fact], sides: Sequence[FactTables], draws: int = DRAWS, seed: int = 0
) -> list[Judged]:
    """Measure and judge facts of one society or field."""
    measured = {
        name: fact
        for name, fact in facts.items()
        if not any(one.lacks(fact.needs) for one in sides)
        and min(one.years for one in sides) >= fact.least_years
    }
    values = {
        name: np.array([fact.measure(one) for one in sides]) for name, fact in measured.items()
    }
    measured = {name: fact for name, fact in measured.items() if np.isfinite(values[name]).all()}
    nulls = _null_values(measured, sides, draws, seed)
    return [
        _judged(name, fact, sides, values.get(name), nulls.get(name))
        for name, fact in facts.items()
    ]


def _null_values(
    facts: Mapping[str, Fact], sides: Sequence[FactTables], draws: int, seed: int
) -> dict[str, FloatArray]:
    """Of each fact the values of the null draws, an array of shape (sides, draws)."""
    found = {name: np.full((len(sides), draws), np.nan) for name in facts}
    for null in sorted({fact.null for fact in facts.values()}):
        streams = Streams(seed, "facts", null)
        for place, tables in enumerate(sides):
            for draw in range(draws):
                # By place and not by name: two runs of one scenario bear the same name.
                made = NULLS[null](tables, streams.stream(place, draw))
                for name, fact in facts.items():
                    if fact.null == null:
                        found[name][place, draw] = fact.measure(made)
    return found


def _judged(
    name: str,
    fact: Fact,
    sides: Sequence[FactTables],
    values: FloatArray | None,
    nulls: FloatArray | None,
) -> Judged:
    lacking = sorted({table for one in sides for table in one.lacks(fact.needs)})
    years = min(one.years for one in sides)
    chance = _chance(nulls)
    known = np.full(len(sides), np.nan) if values is None else values
    interval = _interval(known, chance)
    verdict: Verdict
    if lacking:
        verdict, why = "not measurable", f"no table {', '.join(lacking)}"
    elif values is None:
        verdict = "too short to tell"
        why = f"{years} year{'s' * (years > 1)}; needs {fact.least_years}"
    elif not np.isfinite(known).all():
        missing = int((~np.isfinite(known)).sum())
        verdict, why = "not measurable", f"not defined in {missing} of {len(known)}"
    else:
        verdict, why = decide(fact, interval, chance)
    return Judged(name, fact, tuple(known.tolist()), interval, chance, verdict, why)


def _chance(nulls: FloatArray | None) -> Chance:
    """Mean of the draws, and their standard deviation within a run; NaN where half are missing."""
    if nulls is None or np.isfinite(nulls).mean() < 0.5:
        return Chance(math.nan, math.nan)
    rows = [row[np.isfinite(row)] for row in nulls]
    within = sum(float(((row - row.mean()) ** 2).sum()) for row in rows if len(row))
    freedom = sum(max(0, len(row) - 1) for row in rows)
    mean = float(np.nanmean(nulls))
    return Chance(mean, math.sqrt(within / freedom) if freedom else math.nan)


def _interval(values: FloatArray, chance: Chance) -> Interval:
    if len(values) > 1 and np.isfinite(values).all():
        return t_interval(values)
    if len(values) == 1 and math.isfinite(chance.sd):
        value, half = float(values[0]), 2 * chance.sd
        return Interval(value, value - half, value + half, 1, method="spread of the null")
    return unbounded(float(values[0]) if len(values) == 1 else math.nan, len(values))


def decide(fact: Fact, interval: Interval, chance: Chance) -> tuple[Verdict, str]:
    """The verdict of a value that is known, by ``RULE``, and the reason."""
    low, high = fact.low, fact.high
    if not math.isfinite(chance.sd):
        return "too short to tell", "chance is not defined"
    near, far = chance.mean - REACH * chance.sd, chance.mean + REACH * chance.sd
    if interval.high < low or interval.low > high:
        return "not", "below the range" if interval.high < low else "above the range"
    if near <= low and high <= far:
        return "too short to tell", "chance spans the range"
    if near <= interval.low and interval.high <= far:
        return "not", "as by chance"
    if not (low <= interval.low and interval.high <= high):
        return "too short to tell", "the interval leaves the range"
    if interval.low > far or interval.high < near:
        return "reproduced", ""
    return "too short to tell", "the interval reaches chance"
