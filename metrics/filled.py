"""Filled: what people have written into sheets, read back; every fault by file and line."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from agents.errors import InputError
from metrics.ratings import DIMENSIONS
from metrics.sheets import PAIRED, RATED

CHOICES = ("A", "B", "tie")


@dataclass(frozen=True, slots=True)
class Said:
    """One cell that a rater has filled.

    Attributes:
        item: of the sheet.
        rater: who.
        what: the dimension, or ``preferred``.
        value: a score from 1 to 10; of a choice 0 (A), 1 (B) or NaN (tie).
    """

    item: str
    rater: str
    what: str
    value: float


def read_sheets(
    paths: Sequence[Path], key: Mapping[str, Any], *, incomplete: bool = False
) -> list[Said]:
    """What raters have filled in; each sheet without a name in ``rater`` is one rater's.

    Args:
        paths: the sheets.
        key: of all of them.
        incomplete: empty cells and missing rows are no faults.

    Raises:
        InputError: all faults at once, each with its file and line: no sheet of this key, an
            unknown item, an item rated twice by one rater, a score that is missing or is none.
    """
    said: list[Said] = []
    faults: list[str] = []
    seen: dict[tuple[str, str], str] = {}
    for path in paths:
        for line, row in _rows(path, PAIRED if key["kind"] == "pairs" else RATED):
            place, item = f"{path}:{line}", row["item"].strip()
            rater = row["rater"].strip() or path.stem
            if item not in key["items"]:
                faults.append(f"{place}: the key knows no item {item!r}")
            elif (rater, item) in seen:
                faults.append(f"{place}: {rater} has rated {item} already, in {seen[rater, item]}")
            else:
                seen[rater, item] = place
                said += _row_said(row, item, rater, place, key["kind"], faults, incomplete)
        if incomplete:
            continue
        rated = {item for rater, item in seen if seen[rater, item].startswith(f"{path}:")}
        faults += [f"{path}: {item} is missing" for item in key["items"] if item not in rated]
    if faults:
        raise InputError("\n".join(faults))
    return said


def _row_said(
    row: Mapping[str, str],
    item: str,
    rater: str,
    place: str,
    kind: str,
    faults: list[str],
    incomplete: bool,
) -> Iterator[Said]:
    names = ("preferred",) if kind == "pairs" else DIMENSIONS
    for name in names:
        text = row[name].strip()
        value = _choice(text) if kind == "pairs" else _score(text)
        if not text and incomplete:
            continue
        if value is None:
            wanted = "A, B or tie" if kind == "pairs" else "a number from 1 to 10"
            got = f"got {text!r}" if text else "it is empty"
            faults.append(f"{place}: {name} of {item}: {got}, expected {wanted}")
        else:
            yield Said(item, rater, name, value)


def _score(text: str) -> float | None:
    """A number from 1 to 10, with a point or a comma."""
    if not re.fullmatch(r"\d{1,2}([.,]\d{1,6})?", text):
        return None
    value = float(text.replace(",", "."))
    return value if 1 <= value <= 10 else None


def _choice(text: str) -> float | None:
    named = {
        name.casefold(): value for name, value in zip(CHOICES, (0.0, 1.0, np.nan), strict=True)
    }
    return named.get(text.casefold())


def _rows(path: Path, columns: Sequence[str]) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows of a sheet with the lines on which they begin; spreadsheets choose the separator."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            head = file.readline()
            separator = max(",;\t", key=head.count)
            names = next(csv.reader([head], delimiter=separator), [])
            absent = [name for name in columns if name not in names]
            if absent:
                raise InputError(f"{path}:1: no column {absent[0]!r}: not a sheet of this key")
            reader, begins = csv.reader(file, delimiter=separator), 2
            for cells in reader:
                filled = [*cells, *[""] * len(names)][: len(names)]
                if any(map(str.strip, cells)):
                    yield begins, dict(zip(names, filled, strict=True))
                begins = reader.line_num + 2
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path}: cannot be read as a sheet: {error}") from error
