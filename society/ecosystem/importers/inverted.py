"""Abstracts out of an inverted index: word -> the positions at which it stands."""

from __future__ import annotations

import json
from typing import Any

from society.ecosystem.importers.fields import mapping, text


def from_inverted(value: Any, name: str) -> str:
    """The text of an inverted index, in the order of the positions; null is the empty text.

    Nothing is laid out by position, so a huge position costs nothing. ValueError names the field
    where a word has something else than a list of positions.
    """
    placed: list[tuple[int, str]] = []
    for word, positions in mapping(value, name).items():
        if not isinstance(positions, list) or not all(type(at) is int for at in positions):
            raise ValueError(f"{name}: {word!r:.30} has no list of positions")
        placed.extend((at, word) for at in positions)
    placed.sort(key=lambda pair: pair[0])
    return text(" ".join(word for _, word in placed), name)


def from_indexed(value: Any, name: str) -> str:
    """The text of MAG's ``{"IndexLength": n, "InvertedIndex": {...}}``, itself maybe JSON text."""
    if isinstance(value, str) and value.strip():
        try:
            value = json.loads(value)
        except RecursionError as error:
            raise ValueError(f"{name} is nested too deeply") from error
    index = mapping(value, name)
    return from_inverted(index.get("InvertedIndex"), f"{name}.InvertedIndex")
