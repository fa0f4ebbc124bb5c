"""Cards of known facts side by side, in Markdown, from what ``society facts`` has written.

    society facts runs/1 runs/2 --with eco/vis --out cards/vis
    python -m benchmarks.facts cards/vis cards/nlp

A row is a fact, a column a society or a field: its value, and its verdict in a letter. Facts that
some society does not reproduce come first.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.printed import table

MARKS = {"reproduced": "", "not": " **not**", "too short to tell": " (short)"}


def cards(folders: list[Path]) -> pd.DataFrame:
    """The rows of all cards; a society that stands in several counts once."""
    read = pd.concat([pd.read_csv(folder / "facts.csv", comment="#") for folder in folders])
    return read.drop_duplicates(["society", "fact"])


def side_by_side(found: pd.DataFrame) -> str:
    """The table."""
    societies = list(dict.fromkeys(found["society"]))
    cells: dict[tuple[str, str], dict[str, Any]] = {
        (row["fact"], row["society"]): row for row in found.to_dict("records")
    }
    names: dict[str, int] = {}
    for row in cells.values():
        names[row["fact"]] = names.get(row["fact"], 0) + (row["verdict"] == "not")
    rows = [
        (
            name,
            _published(next(cells[name, one] for one in societies if (name, one) in cells)),
            *(_cell(cells.get((name, one))) for one in societies),
        )
        for name in sorted(names, key=lambda name: -names[name])
    ]
    counts = [
        ", ".join(
            f"{n} {word}"
            for word in ("not", "too short to tell", "not measurable", "reproduced")
            if (n := int((found[found["society"] == one]["verdict"] == word).sum()))
        )
        for one in societies
    ]
    return table(("fact", "published", *societies), [*rows, ("verdicts", "", *counts)])


def _published(row: Mapping[str, Any]) -> str:
    return f"{row['published']:g} ({row['from']:g} to {row['to']:g})"


def _cell(row: Mapping[str, Any] | None) -> str:
    if row is None:
        return ""
    if pd.isna(row["value"]):
        return "(short)" if row["verdict"] == "too short to tell" else "–"
    return f"{row['value']:.3g}{MARKS.get(row['verdict'], '')}"


if __name__ == "__main__":
    print(side_by_side(cards([Path(one) for one in sys.argv[1:]])))
