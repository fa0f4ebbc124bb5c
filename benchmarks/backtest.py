"""Did ideas by rules come true in two real fields? Beside the controls (docs/metrics.md).

Builds each field at its boundary and lets `quickstart` run in it, whose words are made by rules;
``society compare --ideas`` says which of its ideas appeared later. Runs are in ``runs/benchmarks``.

    python -m benchmarks.backtest vis=FILE@2012-2023 nlp=FILE@2014-2021
"""

from __future__ import annotations

import sys

import pandas as pd

from benchmarks.facts import field
from benchmarks.library_runs import KEPT, kept, society, table

SEEDS = 3
TEAMS = ("founding.use=yearly", "founding.teams_per_year=60")


def asked(name: str, given: str) -> list[tuple[str, ...]]:
    """The rows of one field.

    Args:
        name: of the field.
        given: ``FILE@BOUNDARY-LAST``, the last year with papers.
    """
    file, _, years = given.rpartition("@")
    boundary, _, last = years.partition("-")
    folder = field(name, file, **{"boundary": boundary, "last-year": last, "active-years": "6"})
    place = ("population.ecosystem.use=folder", f"population.ecosystem.path={folder}", *TEAMS)
    runs = [kept("quickstart", *place, f"seed={seed}") for seed in range(1, SEEDS + 1)]
    out = KEPT / "backtest" / name
    society("compare", *map(str, runs), "--with", str(folder), "--ideas", "--out", str(out))
    found = pd.read_csv(out / "backtest.csv", comment="#")
    return [
        (name if not number else "", *_row(row))
        for number, row in enumerate(found.to_dict("records"))
    ]


def _row(row: dict[str, object]) -> tuple[str, ...]:
    share = f"{row['came_true']:.3f} ({row['low']:.3f} to {row['high']:.3f})"
    return (*(str(row[one]) for one in ("ideas", "number")), share)


if __name__ == "__main__":
    fields = dict(one.split("=", 1) for one in sys.argv[1:])
    rows = [row for name, given in fields.items() for row in asked(name, given)]
    print(table(("field", "taken as ideas", "number", "came true (95 % interval)"), rows))
