"""Files of texts and of their ratings, one JSON object a line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from virsci_society.agents.errors import InputError
from virsci_society.agents.spelling import did_you_mean

NEEDED = ("item", "rater", "score")
FIELDS = (*NEEDED, "text", "title", "topic", "dimension")
"""Fields with a meaning of their own; others may be what leads a judge."""
EXAMPLE = '"item": "7", "rater": "ann", "score": 6'


def read_ratings(path: Path, dimension: str | None = None) -> pd.DataFrame:
    """Read ratings from JSON lines, one a rating.

    Args:
        path: each line has ``item``, ``rater`` and ``score`` (a number), and may have ``text``,
            ``dimension`` (such as novelty) and further numbers or truth values by which a judge may
            be led, such as ``position`` (in the rater's list) or ``own`` (its own words).
        dimension: to be looked at; may be left out where there is one.

    Raises:
        InputError: unreadable, a field is missing or no number, or several dimensions.
    """
    table = pd.DataFrame(list(read_lines(path, NEEDED)))
    if "dimension" not in table:
        return table
    known = sorted(table["dimension"].astype(str).unique())
    if dimension is None and len(known) > 1:
        raise InputError(f"{path}: has ratings of {', '.join(known)}; choose with --dimension")
    if dimension is not None and dimension not in known:
        hint = did_you_mean(dimension, known)
        raise InputError(f"--dimension {dimension}: {path} has {', '.join(known)}{hint}")
    return table[table["dimension"].astype(str) == (dimension or known[0])]


def read_lines(path: Path, needed: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The lines of a file as mappings with an ``item`` and a ``rater``, which are strings.

    Args:
        path: JSON lines.
        needed: fields of each line.

    Raises:
        InputError: unreadable, empty, or a line lacks a field or has a score that is no number.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read as JSON lines: {error}") from error
    if not any(map(str.strip, lines)):
        raise InputError(f"{path}: holds no rating")
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{path}:{number}: is no JSON object: {error}") from error
        if not isinstance(row, dict):
            raise InputError(f"{path}:{number}: is no JSON object, such as {{{EXAMPLE}}}")
        if missing := [name for name in needed if name not in row]:
            listed = ", ".join(needed)
            raise InputError(f"{path}:{number}: has no {missing[0]!r}; each line has {listed}")
        score = row.get("score", 0)
        if isinstance(score, bool) or not isinstance(score, int | float) or not np.isfinite(score):
            raise InputError(f"{path}:{number}: score is {score!r}, expected a number")
        yield {**row, "item": str(row["item"]), "rater": str(row.get("rater"))}
