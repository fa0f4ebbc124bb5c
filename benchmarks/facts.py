"""The cards of known facts of two societies and of real fields, side by side (docs/facts.md).

Runs `community/assembly` and, from the first of the fields, `community/vis`, whose words are made
by rules; builds every field, and judges all of them with ``society facts``. Runs are kept in
``runs/benchmarks``.

    python -m benchmarks.facts vis=FILE@1995-2023 nlp=FILE@2000-2021

A row is a fact, a column a society or a field: its value and its verdict. Facts that most of them
do not reproduce come first; among these, those that the fewest reproduce.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from virsci_society.metrics.facts.fact import VERDICTS

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "runs" / "benchmarks"
MARKS = {"not": "**not**", "too short to tell": "too short"}
FIELD = {"boundary": "2012", "active-years": "6", "last-year": "2023"}
"""Of the field in which `community/vis` starts, as its file says."""
SEEDS = {"community/assembly": 3, "community/vis": 3}
YEARS = {"community/assembly": "20y", "community/vis": "5y"}


def society(*arguments: str) -> None:
    """Run a command."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "virsci_society", *arguments]
    subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, check=True)


@cache
def kept(name: str, *settings: str) -> Path:
    """The folder of a finished run with settings ``KEY=VALUE``."""
    folder = KEPT / "-".join([name.replace("/", "-"), *(one.split("=")[-1] for one in settings)])
    options = [part for one in settings for part in ("--set", one)]
    society("run", name, *options, "--out", str(folder))
    return folder


def field(name: str, file: str, **options: str) -> Path:
    """The folder of an ecosystem, which an earlier call may have left."""
    folder = KEPT / "eco" / f"{name}-{options['boundary']}"
    if not folder.is_dir():
        given = [part for key, value in options.items() for part in (f"--{key}", value)]
        society(
            *("ecosystem", "build", "jsonl", str(Path(file).resolve()), "--no-abstract-required"),
            *(*given, "--out", str(folder)),
        )
    return folder


def card(runs: list[Path], with_: Path | None = None) -> pd.DataFrame:
    """What ``society facts`` says of runs, and of the field, judged anew."""
    first = next(iter(runs), with_)
    assert first is not None
    folder = KEPT / "facts" / first.name
    given = [] if with_ is None else ["--with", str(with_)]
    society("facts", *map(str, runs), *given, "--out", str(folder))
    return pd.read_csv(folder / "facts.csv", comment="#")


def cards(corpora: Mapping[str, str]) -> pd.DataFrame:
    """The rows of all cards.

    Args:
        corpora: ``FILE@FIRST-LAST`` by name, with the years that are judged; `community/vis`
            starts from the first.
    """
    fields = []
    for name, given in corpora.items():
        file, _, years = given.rpartition("@")
        first, _, last = years.partition("-")
        fields.append(field(name, file, **{"boundary": first, "last-year": last}))
    name, given = next(iter(corpora.items()))
    start = field(name, given.rpartition("@")[0], **FIELD)
    more = {"community/assembly": [], "community/vis": [f"population.ecosystem.path={start}"]}
    runs = {
        one: [
            kept(one, *settings, f"until={YEARS[one]}", f"seed={seed}")
            for seed in range(1, SEEDS[one] + 1)
        ]
        for one, settings in more.items()
    }
    found = [card(runs["community/assembly"]), card(runs["community/vis"], start)]
    return pd.concat([*found, *(card([], one) for one in fields)])


def side_by_side(found: pd.DataFrame) -> str:
    """The table; the last row counts the verdicts."""
    societies = list(dict.fromkeys(found["society"]))
    cells: dict[tuple[str, str], dict[str, Any]] = {
        (row["fact"], row["society"]): row for row in found.to_dict("records")
    }
    verdicts = found.groupby("fact", sort=False)["verdict"].agg(list)
    rows = [
        (f"`{name}`", _published(cells[name, societies[0]]), *_cells(cells, name, societies))
        for name in sorted(
            verdicts.index,
            key=lambda name: (-verdicts[name].count("not"), verdicts[name].count("reproduced")),
        )
    ]
    told = found.groupby("society")["verdict"].value_counts()
    counts = [
        "; ".join(f"{told[one, word]} {word}" for word in VERDICTS if (one, word) in told)
        for one in societies
    ]
    return table(("fact", "published", *societies), [*rows, ("verdicts", "", *counts)])


def table(heads: Iterable[object], rows: Iterable[Iterable[object]]) -> str:
    """Format a table in Markdown."""
    lines = [[str(cell) for cell in row] for row in (heads, *rows)]
    lines.insert(1, ["---"] * len(lines[0]))
    return "\n".join(f"| {' | '.join(line)} |".replace("|  |", "| |") for line in lines)


def _cells(cells: Mapping[tuple[str, str], Any], name: str, societies: list[str]) -> list[str]:
    shown = []
    for one in societies:
        row = cells[name, one]
        value = "" if pd.isna(row["value"]) else f"{row['value']:.3g} "
        shown.append(value + MARKS.get(row["verdict"], row["verdict"]))
    return shown


def _published(row: Mapping[str, Any]) -> str:
    return f"{row['published']:g} ({row['from']:g} to {row['to']:g})"


if __name__ == "__main__":
    print(side_by_side(cards(dict(one.split("=", 1) for one in sys.argv[1:]))))
