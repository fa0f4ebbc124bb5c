"""A known fact, which is a published regularity measured on tables, and the verdict on it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from inspect import getdoc
from typing import ClassVar, Literal, get_args

import numpy as np

from virsci_society.agents.arrays import FloatArray
from virsci_society.agents.config import Part
from virsci_society.metrics.facts.nulls import NULLS, SAMPLES, Null
from virsci_society.metrics.facts.tables import FactTables
from virsci_society.metrics.inference.intervals import Interval, t_interval
from virsci_society.society.kernel.streams import Streams


class Fact(Part):
    """Base of all facts; the first line of a docstring states the fact.

    Attributes:
        source: publication.
        published: the published value, or the middle of several.
        low: lower bound of the range that counts as the fact.
        high: upper bound; both are the extremes of several published values.
        population: people and years measured, and the source of ``low`` and ``high``; "judged"
            if they are not published.
        needs: tables beyond papers and authors: ``references``, ``topics``, or the name of a
            table of a run, such as ``interventions``.
        null: the name of the null model that destroys the effect, a key of ``NULLS``.
        neutral: the value without the effect, such as 0 of a slope; None for a share.
        factor: of a level, the least value over chance; below 1, the largest.
        least_years: years of the shortest run that can test it.
        resampled: what a bootstrap sample of a single run or field draws, a key of ``SAMPLES``.
        own: whether the range is from IEEE VIS or language technology; counted apart.

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
    neutral: ClassVar[float | None] = None
    factor: ClassVar[float] = 1.5
    least_years: ClassVar[int]
    resampled: ClassVar[str] = "papers"
    own: ClassVar[bool] = False

    def measure(self, tables: FactTables) -> float:
        """The value; NaN where it is undefined.

        The docstring of a fact's own method is its definition, with the unit.
        """
        raise NotImplementedError

    @classmethod
    def rises(cls) -> bool:
        """Whether the effect raises the value above chance."""
        return cls.factor > 1 if cls.neutral is None else cls.published > cls.neutral

    @classmethod
    def step(cls) -> float:
        """The distance from chance, with its sign, that a fact with a neutral value asks for."""
        return (cls.low if cls.rises() else cls.high) - (cls.neutral or 0.0)

    @classmethod
    def beyond(cls, chance: float) -> tuple[float, float]:
        """The value that exceeds chance by enough, and the value as far on its other side."""
        if cls.neutral is None:
            return chance * cls.factor, chance / cls.factor
        return chance + cls.step(), chance - cls.step()

    @classmethod
    def size(cls, value: float, chance: float) -> float:
        """The value over chance; of a fact with a neutral value their difference."""
        ratio = value / chance if chance else math.nan
        return ratio if cls.neutral is None else value - chance

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
            (
                "size over chance",
                f"{cls.step():+.3g}" if cls.neutral is not None else f"x{cls.factor:g}",
            ),
            ("shortest run", f"{cls.least_years} years"),
        ]


def _words(of: object) -> str:
    return " ".join((getdoc(of) or "").split())


Verdict = Literal[
    "absent",
    "opposite",
    "too strong",
    "inconclusive",
    "inside the corpus",
    "not measurable",
    "reproduced",
]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
"""In the order in which they are printed."""
DRAWS = 20
"""Null draws of each run; bootstrap samples of a single one."""


@dataclass(frozen=True)
class Judged:
    """One fact of a society or a field, judged; ``chance`` and ``size`` are NaN if undefined."""

    name: str
    fact: Fact
    values: tuple[float, ...]
    interval: Interval
    chance: float
    size: float
    verdict: Verdict
    why: str


def judge_facts(
    facts: Mapping[str, Fact], sides: Sequence[FactTables], draws: int = DRAWS, seed: int = 0
) -> list[Judged]:
    """Measure and judge facts of one society or field."""
    values = {}
    for name, fact in facts.items():
        long_enough = all(one.years >= fact.least_years for one in sides)
        if long_enough and not any(one.lacks(fact.needs) for one in sides):
            values[name] = np.array([fact.measure(one) for one in sides])
    known = {name: facts[name] for name, found in values.items() if np.isfinite(found).all()}
    nulls = _draws(known, sides, draws, Streams(seed, "facts"), lambda fact: NULLS[fact.null])
    alone, streams = known if len(sides) == 1 else {}, Streams(seed, "facts", "bootstrap")
    samples = _draws(alone, sides, draws, streams, lambda fact: SAMPLES[fact.resampled])
    return [
        _judged(fact, name, sides, values.get(name), nulls.get(name), samples.get(name))
        for name, fact in facts.items()
    ]


def _draws(
    facts: Mapping[str, Fact],
    sides: Sequence[FactTables],
    draws: int,
    streams: Streams,
    model_of: Callable[[Fact], Null],
) -> dict[str, FloatArray]:
    """The values of each fact in draws from its model; NaN where undefined."""
    found: dict[str, list[float]] = {name: [] for name in facts}
    for model in dict.fromkeys(map(model_of, facts.values())):
        for place, tables in enumerate(sides):
            for draw in range(draws):
                # By place and not by name: two runs of one scenario have the same name.
                made = model(tables, streams.stream(model.__name__, place, draw))
                for name, fact in facts.items():
                    if model_of(fact) is model:
                        found[name].append(fact.measure(made))
    return {name: np.array(values) for name, values in found.items()}


def _judged(
    fact: Fact,
    name: str,
    sides: Sequence[FactTables],
    values: FloatArray | None,
    nulls: FloatArray | None,
    samples: FloatArray | None,
) -> Judged:
    lacking = sorted({table for one in sides for table in one.lacks(fact.needs)})
    years = min(one.years for one in sides)
    chance = float(_known(nulls).mean())
    known = np.full(len(sides), np.nan) if values is None else values
    interval = _interval(known, samples)
    verdict: Verdict
    if lacking:
        verdict, why = "not measurable", f"no table {', '.join(lacking)}"
    elif values is None:
        verdict, why = "inconclusive", f"covers {years} of the {fact.least_years} years needed"
    elif not np.isfinite(known).all():
        missing = int((~np.isfinite(known)).sum())
        verdict, why = "not measurable", f"not defined in {missing} of {len(known)}"
    elif "references" in fact.needs:
        verdict, why = "inside the corpus", "only papers of the corpus cite"
    else:
        verdict, why = decide(fact, interval, chance)
    size = fact.size(interval.value, chance)
    return Judged(name, fact, tuple(known.tolist()), interval, chance, size, verdict, why)


def _known(values: FloatArray | None) -> FloatArray:
    """The values that are known; one NaN where half of them are not."""
    known = np.isfinite(values) if values is not None else np.zeros(1, bool)
    return values[known] if values is not None and known.mean() >= 0.5 else np.array([np.nan])


def _interval(values: FloatArray, samples: FloatArray | None) -> Interval:
    if len(values) > 1 and np.isfinite(values).all():
        return t_interval(values)
    value = float(values[0]) if len(values) == 1 else math.nan
    half = 1.96 * float(_known(samples).std())
    return Interval(value, value - half, value + half, len(values), method="bootstrap")


def decide(fact: Fact, interval: Interval, chance: float) -> tuple[Verdict, str]:
    """The verdict of a value that is known, and the reason."""
    if not math.isfinite(chance + interval.low):
        return "inconclusive", "chance or the interval is not defined"
    # In the direction of the effect everything rises.
    sign = 1 if fact.rises() else -1
    near, far = sorted((sign * fact.low, sign * fact.high))
    weak, strong = sorted((sign * interval.low, sign * interval.high))
    enough, opposite = (sign * value for value in fact.beyond(chance))
    if strong < opposite:
        return "opposite", "on the other side of chance"
    if enough > far:
        return "inconclusive", "chance alone spans the range"
    if strong < max(enough, near):
        return "absent", "as by chance" if strong < enough else "short of the range"
    if weak > far:
        return "too strong", "beyond the range"
    if weak < max(enough, near) or strong > far:
        reached = "reaches chance" if weak < enough else "leaves the range"
        return "inconclusive", f"the interval {reached}"
    return "reproduced", ""
