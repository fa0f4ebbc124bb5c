"""Tables of a study as CSV and LaTeX, and its figures as SVG files."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from markupsafe import Markup

from virsci_society.agents.files.atomic_files import make_folder, remove_file, write_atomically
from virsci_society.metrics.exports import xml_text
from virsci_society.metrics.report.drawing.svg import standalone_svg
from virsci_society.society.results.table_files import write_csv

_NO_NAME = re.compile(r"[^A-Za-z0-9.=_-]+")


def write_files(
    folder: Path,
    tables: Mapping[str, pd.DataFrame],
    figures: Mapping[str, Markup],
    speaker: str = "",
) -> None:
    """Write ``NAME.csv``, ``NAME.tex`` and ``NAME.svg``; older files of these kinds are deleted.

    Args:
        folder: made if it is missing.
        tables: name -> table.
        figures: name -> inline SVG.
        speaker: who spoke in the runs, for the metadata of the CSV files.
    """
    make_folder(folder, within=folder.parent)
    for old in sorted(folder.iterdir()):
        if old.suffix in (".csv", ".tex", ".svg"):
            remove_file(old)
    write_csv(folder, tables, speaker)
    for name, table in tables.items():
        write_atomically(folder / f"{name}.tex", latex(table))
    for name, picture in figures.items():
        write_atomically(folder / f"{name}.svg", standalone_svg(picture))


def latex(table: pd.DataFrame) -> str:
    """A table for LaTeX with the package booktabs; every text is escaped.

    Numbers have four digits, a missing one is a dash.
    """
    plain = table.map(lambda value: xml_text(value) if isinstance(value, str) else value)
    styled = plain.style.format(_latex_cell, escape="latex", na_rep="--")
    styled = styled.format_index(_latex_heading, axis=1, escape="latex").hide(axis="index")
    words = [name for name in table if table[name].map(lambda one: isinstance(one, str)).any()]
    columns = "".join("l" if name in words else "r" for name in table)
    return str(styled.to_latex(hrules=True, column_format=columns))


def _latex_cell(value: Any) -> str:
    """Text as it is, a number in mathematics so that its sign is a minus."""
    return str(value) if isinstance(value, str) else f"${value:.4g}$".replace("e", "\\mathrm{e}")


def _latex_heading(name: object) -> str:
    return str(name).replace("\\_", " ")


def file_name(*parts: str) -> str:
    """A name for a file from names of measures and keys: letters, digits and ``.=_-`` only."""
    return "-".join(_NO_NAME.sub("_", part).strip("._") or "_" for part in parts)
