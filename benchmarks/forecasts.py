"""Forecasts at several boundaries of real communities, sealed and scored as by `society forecast`.

At each boundary the field is forecast for some years from the papers before it alone, and scored
against those that came, beside the wordless society alone, team assembly by p and q (Guimera et al.
2005) and persistence. The first table has the score (root mean square of the errors of medians of
14 quantities in tolerances) and its ratio to that of persistence; the second the continuous ranked
probability score, in changes from window to window, and how many quantities lie inside the central
80 and 90 %.

    python benchmarks/forecasts.py vis=shared/vis/papers.jsonl.gz nlp=shared/nlp/papers.jsonl.gz

A window is forecast once, for all boundaries after it, and kept in the folder.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import numpy as np
import pandas as pd

from virsci_society.scenarios.calibration.calibration_file import Window
from virsci_society.scenarios.calibration.corpus import Corpus, read_source
from virsci_society.scenarios.config.schema import load_scenario
from virsci_society.scenarios.forecasting.forecast import BASE, made_from
from virsci_society.scenarios.forecasting.hindcasts import (
    ForecastWindow,
    TrackRecord,
    track_record,
    windows_before,
)
from virsci_society.scenarios.forecasting.quantities import levels_of
from virsci_society.scenarios.forecasting.scoring import observed_in, scores_of, summary_of
from virsci_society.scenarios.forecasting.sealed_file import sealed, write_sealed

Levels = dict[str, np.ndarray]
"""Levels of one window: ``observed``, ``society`` and ``rival``."""


def levels_in(corpus: Corpus, window: Window, place: Path) -> Levels:
    """One window, forecast from the papers before it or read from a file."""
    if not place.exists():
        made = track_record(corpus, [window], load_scenario(BASE))
        observed = levels_of(ForecastWindow.of(corpus, window).quantities)
        np.savez(place, observed=observed, society=made.society[0], rival=made.rival[0])
    with np.load(place) as held:
        return dict(held)


def record_of(corpus: Corpus, window: Window, name: str, folder: Path) -> TrackRecord:
    """The windows from which one window is forecast, and this one."""
    windows = windows_before(corpus, window)
    found = [levels_in(corpus, one, folder / f"{name}-{one.name}.npz") for one in windows]
    rows = {side: np.array([one[side] for one in found]) for side in found[0]}
    return TrackRecord(windows, rows["observed"][:-1], rows["society"], rows["rival"])


def scored(name: str, corpus: Corpus, window: Window, folder: Path) -> pd.DataFrame:
    """The summary of one forecast, which is sealed in the folder."""
    record = record_of(corpus, window, name, folder)
    # A file that is the same on every day: the papers were there when these were sealed.
    data = sealed(made_from(name, corpus, record), f"before {window.first}, by hindsight")
    place = folder / f"{name}-{window.name}.json"
    place.unlink(missing_ok=True)
    write_sealed(place, data)
    observed = observed_in(corpus, window)
    table = scores_of(data, observed)
    table.to_csv(place.with_suffix(".csv"), index=False)
    return summary_of(data, table, observed).set_index("forecaster")


def tables(found: dict[tuple[str, str], pd.DataFrame]) -> Iterator[str]:
    """The lines of both tables."""
    rivals = ("society", "p, q", "persistence")
    yield "| corpus | years | forecast | society | p, q | persistence | ratio | society | p, q |"
    yield "|---|---|" + "---:|" * 7
    ratios = {name: [] for name in ("forecast", "society", "p, q")}
    for (name, years), one in found.items():
        scores = one["score"]
        told = {key: scores[key] / scores["persistence"] for key in ratios}
        for key, value in told.items():
            ratios[key].append(value)
        cells = [f"{scores[key]:.2f}" for key in ("forecast", *rivals)]
        yield f"| {name} | {years} | {' | '.join([*cells, *(f'{v:.2f}' for v in told.values())])} |"
    yield ""
    for key, values in ratios.items():
        yield f"{key} over persistence: median {median(values):.2f}, largest {max(values):.2f}"
    yield ""
    yield "| corpus | years | CRPS | society | p, q | persistence | in 80 % | in 90 % | of |"
    yield "|---|---|" + "---:|" * 7
    for (name, years), one in found.items():
        cells = [f"{one.loc[key, 'crps']:.2f}" for key in ("forecast", *rivals)]
        own = one.loc["forecast"]
        inside = [f"{own[key] * own['quantities']:.0f}" for key in ("cover_80", "cover_90")]
        yield f"| {name} | {years} | {' | '.join([*cells, *inside])} | {own['quantities']:.0f} |"
    yield ""
    for key in ("forecast", *rivals):
        told = [one.loc[key] for one in found.values()]
        shares = [
            sum(one[name] * one["quantities"] for one in told)
            / sum(one["quantities"] for one in told)
            for name in ("cover_80", "cover_90")
        ]
        yield f"{key}: {shares[0]:.0%} inside 80 %, {shares[1]:.0%} inside 90 %"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("corpora", nargs="+", metavar="NAME=FILE", help="papers as JSON lines")
    parser.add_argument(
        "--boundaries", type=int, nargs="+", default=[2008, 2010, 2012, 2014, 2016, 2018]
    )
    parser.add_argument("--years", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path("runs/forecasts/benchmark"))
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    found = {}
    for name, _, file in (one.partition("=") for one in given.corpora):
        corpus = read_source("jsonl", [Path(file)], max(given.boundaries) + given.years)
        for first in given.boundaries:
            window = Window(first=first, last=first + given.years - 1)
            found[name, window.name] = scored(name, corpus, window, given.out)
    print("\n".join(tables(found)))


if __name__ == "__main__":
    main()
