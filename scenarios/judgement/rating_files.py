"""Files of texts and of their ratings, one JSON object a line, and released reviews of ideas."""

from __future__ import annotations

import json
from collections import Counter
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


RELEASED = "idea_id"
"""The column by which the layout of released reviews is known."""


def read_ratings(path: Path, dimension: str | None = None) -> pd.DataFrame:
    """Read ratings from JSON lines, one a rating, or in the layout of ``released_reviews``.

    Args:
        path: each line has ``item``, ``rater`` and ``score`` (a number), and may have ``text``,
            ``dimension`` (such as novelty) and further numbers or truth values by which a judge may
            be led, such as ``position`` (in the rater's list) or ``own`` (its own words).
        dimension: to be looked at; may be left out where there is one.

    Raises:
        InputError: unreadable, a field is missing or no number, or several dimensions.
    """
    table = pd.DataFrame(list(released_reviews(path) or read_lines(path, NEEDED)))
    if "dimension" not in table:
        return table
    known = sorted(table["dimension"].astype(str).unique())
    if dimension is None and len(known) > 1:
        raise InputError(f"{path}: has ratings of {', '.join(known)}; choose with --dimension")
    if dimension is not None and dimension not in known:
        hint = did_you_mean(dimension, known)
        raise InputError(f"--dimension {dimension}: {path} has {', '.join(known)}{hint}")
    return table[table["dimension"].astype(str) == (dimension or known[0])]


def released_reviews(path: Path) -> list[dict[str, Any]]:
    """Ratings in the layout of the reviews that Si, Yang and Hashimoto released (2025).

    The file is one JSON object of columns, lists with an entry for each review: ``idea_id``,
    ``condition`` (``Human`` or how a machine was used) and a column ``NAME_score`` for each
    dimension. Reviewers are not named, so the reviews of an idea are numbered in their order, and
    number 1 of two ideas may be two people. ``machine`` says whether the idea is a machine's.

    Returns:
        One mapping a rating; none if the file has another layout.

    Raises:
        InputError: unreadable, columns of different lengths, or a score that is no number.
    """
    try:
        data = json.loads(_text_of(path))
    except (ValueError, RecursionError):
        return []
    if not isinstance(data, dict) or not isinstance(data.get(RELEASED), list):
        return []
    # How sure the reviewer is, which is said of no idea.
    scores = [one for one in data if one.endswith("_score") and one != "confidence_score"]
    ideas = ["".join(str(idea).split()) for idea in data[RELEASED]]
    for name in (*scores, "condition"):
        if not isinstance(data.get(name), list) or len(data[name]) != len(ideas):
            raise InputError(f"{path}: {name} is no list of {len(ideas)} entries, one a review")
    rows, met = [], Counter[str]()
    for review, idea in enumerate(ideas):
        met[idea] += 1
        told: dict[str, Any] = {"item": idea, "rater": f"reviewer {met[idea]}"}
        told["machine"] = not str(data["condition"][review]).startswith("Human")
        for name in scores:
            score = _score(data[name][review], f"{path}: {name} of review {review + 1}")
            rows.append({**told, "dimension": name.removesuffix("_score"), "score": score})
    return rows


def _score(value: Any, place: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not np.isfinite(value):
        raise InputError(f"{place} is {value!r}, expected a number")
    return value


def _text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read as JSON lines: {error}") from error


def read_lines(path: Path, needed: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The lines of a file as mappings with an ``item`` and a ``rater``, which are strings.

    Args:
        path: JSON lines.
        needed: fields of each line.

    Raises:
        InputError: unreadable, empty, or a line lacks a field or has a score that is no number.
    """
    lines = _text_of(path).splitlines()
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
        _score(row.get("score", 0), f"{path}:{number}: score")
        yield {**row, "item": str(row["item"]), "rater": str(row.get("rater"))}
