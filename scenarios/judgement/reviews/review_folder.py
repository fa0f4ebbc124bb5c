"""Folders and records of the panels that have reviewed a run or a study; light to import."""

from __future__ import annotations

import json
from pathlib import Path

from virsci_society.agents.errors import InputError

FOLDER = "reviews"
"""Of a run folder, or a study's: one folder per panel in it."""
RECORD = "panel.json"


def panel_folders(run: Path) -> list[Path]:
    """The folders of the panels that have reviewed a run or a study, by name."""
    return sorted(path.parent for path in (run / FOLDER).glob("*/averages.parquet"))


def reviewer_description(panel: Path) -> str:
    """Description of the model that has reviewed, from the panel's record; empty where it has none.

    Raises:
        InputError: the record is damaged.
    """
    path = panel / RECORD
    if not path.is_file():
        return ""
    try:
        return str(json.loads(path.read_text(encoding="utf-8"))["backend"]["about"])
    except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
        raise InputError(f"{path}: cannot be read ({error}); remove it") from error
