"""The functions of all measures, imported from where the table of ``measure_names`` has them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path

import pandas as pd

from virsci_society.agents.errors import InputError
from virsci_society.metrics.measure_names import FAMILY_MEASURES, explain_name
from virsci_society.metrics.novelty.other_papers import novelty_against
from virsci_society.society.results.run import Run

Metric = Callable[[Run], pd.DataFrame]


def _imported(place: str) -> Metric:
    module, _, function = place.partition(":")
    metric: Metric = getattr(import_module(f"virsci_society.metrics.{module}"), function)
    return metric


FAMILIES: dict[str, dict[str, Metric]] = {
    family: {name: _imported(place) for name, place in measures.items()}
    for family, measures in FAMILY_MEASURES.items()
}
"""What a scenario can ask for under ``metrics``, and the measures of each."""

METRICS: dict[str, Metric] = {
    name: metric for family in FAMILIES.values() for name, metric in family.items()
}


def measure(
    run: Run,
    name: str,
    *,
    past: Path | str | None = None,
    contemporary: Path | str | None = None,
    embedding: str | None = None,
) -> pd.DataFrame:
    """A measure of a run: as written with it if it was, else computed once and held.

    Args:
        run: the run.
        name: of the measure.
        past: folder of an ecosystem against whose past papers ``novelty`` is measured again,
            without a call; nothing is written.
        contemporary: folder of an ecosystem whose contemporary papers are used then; that of
            ``past`` by default.
        embedding: another embedding for it, such as ``lsa:64``, fitted on the past.

    Raises:
        InputError: neither written nor in ``METRICS``; or the ecosystems cannot be used.

    Example:
        >>> weekly = vs.measure(run, "weekly")
        >>> len(weekly)  # day 0, and the end of each of 26 weeks
        27
    """
    if past is not None:
        if name != "novelty":
            raise InputError(f"only the measure 'novelty' takes other papers, not {name!r}")
        return novelty_against(run, past, contemporary, embedding)
    if name not in METRICS:
        try:
            return run.measure(name)
        except InputError as error:
            if meant := explain_name(name):
                raise InputError(f"no measure is called {name!r}; {meant}") from error
            raise
    if name in run.measure_names():
        return run.measure(name)
    return run.add_measure(name, METRICS[name](run))


@cache
def empty_measure(name: str) -> pd.DataFrame:
    """A measure of a run without a row: its columns and their dtypes."""
    return METRICS[name](empty_run())


@cache
def empty_run() -> Run:
    """A run without a row, one for all measures: its tables take longer than to measure it."""
    return Run.from_rows({}, {"seed": 0, "days": 0.0}, {})
