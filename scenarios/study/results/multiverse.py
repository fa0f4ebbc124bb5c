"""Does a finding hold in every setting of ``each``? Its sign, and what its size varies with.

Keys of ``each`` that nobody means to study (wordings, orders, models, temperatures) make many
universes of one study. A finding that holds in one of them alone is about that choice.

Source:
    Steegen, S., Tuerlinckx, F., Gelman, A. and Vanpaemel, W. (2016). Increasing transparency
    through a multiverse analysis. Perspectives on Psychological Science 11.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from virsci_society.metrics.inference.intervals import NAN, t_interval
from virsci_society.metrics.inference.variance_components import (
    VarianceComponent,
    variance_components,
)
from virsci_society.metrics.report.templates import format_number
from virsci_society.scenarios.study.results.answer import percentage, unit_of
from virsci_society.scenarios.study.results.study import Study, StudyArm

FINDINGS = (
    *("measure", "first", "second", "universes", "seeds", "difference", "low", "high"),
    *("same_sign", "clear", "least", "most"),
)
COMPONENTS = ("measure", "second", "source", "levels", "variance", "low", "high", "share")
SEEDS = "seed"


class Multiverse(NamedTuple):
    """The differences of two arms in every universe that has both.

    Attributes:
        measure: that is compared.
        arms: names in the file of the first arm and of the second.
        levels: values of each key of ``each``, as text.
        values: second less first; an axis for each key, and the last for the seeds.
    """

    measure: str
    arms: tuple[str, str]
    levels: dict[str, list[str]]
    values: np.ndarray[Any, np.dtype[np.float64]]


def multiverses(study: Study) -> list[Multiverse]:
    """Every planned paired comparison of a study with ``each``, over all its universes.

    Seeds that some universe lacks are left out; a comparison without two of them is passed over.
    """
    blocks = [one.block for one in study.description.arms if one.block]
    levels = _levels(blocks) if study.description.paired else {}
    found: dict[tuple[str, str, str], dict[tuple[str, ...], pd.Series[Any]]] = {}
    for measure, first, second in _pairs(study) if levels else ():
        key = (measure, first.of or first.name, second.of or second.name)
        place = tuple(str(second.block.get(name)) for name in levels)
        gains = study.values(measure, second.name) - study.values(measure, first.name)
        found.setdefault(key, {})[place] = gains
    places = list(itertools.product(*levels.values()))
    shape = [len(values) for values in levels.values()]
    made = []
    for (measure, *arms), cells in found.items():
        table = pd.DataFrame(cells).dropna()
        if len(cells) == len(places) and len(table) > 1:
            values = table[places].to_numpy(np.float64).T.reshape(*shape, len(table))
            made.append(Multiverse(measure, (arms[0], arms[1]), levels, values))
    return made


def _pairs(study: Study) -> Iterator[tuple[str, StudyArm, StudyArm]]:
    """Outcome and arms of every planned comparison of two arms within one universe."""
    arms = {one.name: one for one in study.description.arms}
    for plan in study.description.comparisons:
        if plan.test == "paired":
            named = [arms[name] for name in plan.arms or study.arms if name in arms]
            alike = [one for one in named[1:] if one.block == named[0].block]
            for measure, second in itertools.product(study.panels(plan.of) or [plan.of], alike):
                yield measure, named[0], second


def findings(found: Sequence[Multiverse]) -> pd.DataFrame:
    """Each finding over all universes; columns ``FINDINGS``.

    ``difference`` is the mean over universes and seeds, with Student's interval over the seeds;
    ``same_sign`` the share of universes whose difference has its sign, ``clear`` the share in
    which their own interval of 95 % has it as well; ``least`` and ``most`` are the differences of
    the universes at the ends. Both shares are missing where there is no difference at all.
    """
    rows = []
    for one in found:
        flat = one.values.reshape(-1, one.values.shape[-1])
        means, whole = flat.mean(axis=1), t_interval(flat.mean(axis=0))
        sign = np.sign(whole.value)
        bands = [t_interval(row) for row in flat]
        clear = [band.low > 0 if sign > 0 else band.high < 0 for band in bands]
        # No difference has no sign that others could share.
        shares = [float(np.mean(one)) if sign else NAN for one in (np.sign(means) == sign, clear)]
        head = (one.measure, *one.arms, len(flat), flat.shape[1])
        told = (whole.value, whole.low, whole.high, *shares)
        rows.append((*head, *told, float(means.min()), float(means.max())))
    return pd.DataFrame(rows, columns=list(FINDINGS))


def components(found: Sequence[Multiverse]) -> pd.DataFrame:
    """What the size of each finding varies with; columns ``COMPONENTS``."""
    rows = [
        (one.measure, one.arms[1], part.factor, part.levels, *_told(part))
        for one in found
        for part in variance_components(one.values, [*one.levels, SEEDS])
    ]
    return pd.DataFrame(rows, columns=list(COMPONENTS))


def sentence(study: Study, findings: pd.DataFrame) -> list[str]:
    """The first finding over all settings in a sentence; none where there is no finding."""
    known = findings.dropna(subset=["same_sign"])
    if not len(known):
        return []
    one = known.iloc[0]
    scale, unit = percentage(study, one["measure"]), unit_of(study, one["measure"])
    mean, low, high = (format_number(scale * one[name]) for name in ("difference", "low", "high"))
    first, second = (
        study.description.labels.get(one[arm], one[arm]) for arm in ("first", "second")
    )
    alike, number = round(one["same_sign"] * one["universes"]), one["universes"]
    return [
        f"Over all {number} settings, the {study.label(one['measure'])} differed by "
        f"{f'{mean} {unit}'.strip()} on average ({second}, less {first}; 95 % interval {low} to "
        f"{high}), with the same sign in {alike} of {number}."
    ]


def _told(part: VarianceComponent) -> tuple[float, ...]:
    return part.variance, part.low, part.high, part.share


def _levels(blocks: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    """The values of each key of the blocks that takes several, as text, in order."""
    keys = dict.fromkeys(key for block in blocks for key in block)
    levels = {key: list(dict.fromkeys(str(block.get(key)) for block in blocks)) for key in keys}
    return {key: values for key, values in levels.items() if len(values) > 1}
