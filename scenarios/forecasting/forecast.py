"""A forecast of the papers of an ecosystem in the years after its boundary, beside its rivals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from virsci_society.agents.errors import InputError
from virsci_society.scenarios.calibration.calibration_file import Window
from virsci_society.scenarios.calibration.corpus import Corpus, ecosystem_corpus
from virsci_society.scenarios.calibration.fitting import Tell
from virsci_society.scenarios.config.schema import load_scenario
from virsci_society.scenarios.forecasting.combination import Predictive, predictions
from virsci_society.scenarios.forecasting.hindcasts import (
    TrackRecord,
    track_record,
    windows_before,
)
from virsci_society.scenarios.forecasting.quantities import NAMES, QUANTITIES, to_value

if TYPE_CHECKING:
    from virsci_society.society.ecosystem.ecosystem import Ecosystem

BASE = "community/assembly"
"""The scenario whose mechanism is simulated."""
LONGEST = 10
"""Years of a forecast, at most."""


@dataclass(frozen=True, eq=False)
class FieldForecast:
    """What is forecast of one window of one field.

    Attributes:
        field: name of the field.
        window: the years that are forecast.
        predictions: of ``forecast``, ``society``, ``p, q`` and ``persistence``.
        last: values of the window before it, by name.
        change: root mean square change of each quantity from window to window, in its unit.
        papers: number of the papers that it is made from.
        digest: of these papers.
    """

    field: str
    window: Window
    predictions: Mapping[str, Predictive]
    last: Mapping[str, float]
    change: Mapping[str, float]
    papers: int
    digest: str


def forecast_ecosystem(
    folder: Path, until: int, *, workers: int = 1, tell: Tell = lambda text: None
) -> FieldForecast:
    """Forecast the papers of an ecosystem from its boundary on.

    Args:
        folder: of the ecosystem; its papers before the boundary are used.
        until: the last year that is forecast.
        workers: processes; the results do not depend on their number.
        tell: is told what is being done.

    Raises:
        InputError: the years lie before the boundary, the boundary after the papers, or the papers
            begin too late.
    """
    from virsci_society.society.ecosystem.ecosystem import Ecosystem

    ecosystem = Ecosystem.load(folder)
    window = _window(ecosystem, folder, until)
    corpus = ecosystem_corpus(ecosystem, window.first)
    base = load_scenario(BASE)
    record = track_record(corpus, windows_before(corpus, window), base, workers=workers, tell=tell)
    return made_from(folder.resolve().name, corpus, record)


def _window(ecosystem: Ecosystem, folder: Path, until: int) -> Window:
    boundary = ecosystem.boundary
    if not boundary <= until < boundary + LONGEST:
        raise InputError(
            f"--until {until}: the boundary of {folder} is {boundary}; give a year from {boundary} "
            f"to {boundary + LONGEST - 1}, which is the last one that is forecast"
        )
    last = max(ecosystem.past.table["year"].to_pylist(), default=None)
    if last is None or last < boundary - 1:
        raise InputError(
            f"{folder}: its papers end in {last}, and its boundary {boundary} lies after them: of "
            f"the years between nothing is known; build the ecosystem at {(last or 0) + 1}"
        )
    return Window(first=boundary, last=until)


def made_from(field: str, corpus: Corpus, record: TrackRecord) -> FieldForecast:
    """The forecast of the last window of a record.

    Args:
        field: its name.
        corpus: the papers; those before the window are counted and hashed.
        record: of earlier windows and of the one that is forecast.
    """
    window = record.windows[-1]
    made = predictions(record.observed, record.society, record.rival, len(QUANTITIES))
    values = [
        [to_value(name, level) for name, level in zip(QUANTITIES, levels, strict=False)]
        for levels in record.observed
    ]
    change = np.sqrt((np.diff(values, axis=0) ** 2).mean(axis=0))
    return FieldForecast(
        field,
        window,
        made,
        dict(zip(QUANTITIES, values[-1], strict=True)),
        dict(zip(QUANTITIES, change.tolist(), strict=True)),
        len(corpus.before(window.first)),
        corpus.digest(None, window.first),
    )


def rows_of(forecast: FieldForecast) -> list[tuple[str, list[float]]]:
    """Each quantity: the last window, the median, and the 80 and 90 % intervals."""
    shares = np.array([0.5, 0.1, 0.9, 0.05, 0.95])
    levels = forecast.predictions["forecast"].quantiles(shares)
    return [
        (name, [forecast.last[name], *(to_value(name, one) for one in levels[place].tolist())])
        for place, name in enumerate(NAMES[: len(QUANTITIES)])
    ]
