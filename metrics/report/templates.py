"""Template environment, style sheet and row helper of all pages."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from virsci_society.agents.files.atomic_files import write_atomically
from virsci_society.agents.files.file_hashes import rewriting
from virsci_society.agents.invented_names import with_invented_names
from virsci_society.agents.spelling import plain_text

THIN_SPACE, MINUS, MISSING = "\u202f", "\u2212", "–"


def format_number(value: Any) -> str:
    """A number as pages show it: grouped thousands, few digits, a dash where it is missing."""
    if value is None or pd.isna(value):
        return MISSING
    size = abs(float(value))
    if size >= 1000 or size == int(size):
        text = f"{round(float(value)):,}".replace(",", THIN_SPACE)
    elif size < 0.001:
        text = "< 0.001" if float(value) > 0 else f"{float(value):.1e}"
    else:
        text = f"{float(value):#.3g}".rstrip(".")
    return text.replace("-", MINUS, 1) if text.startswith("-") else text


def format_percent(share: Any) -> str:
    """A share as per cent: whole from 10 % on, with one decimal below; a dash if it is missing."""
    if share is None or pd.isna(share):
        return MISSING
    percent = 100 * float(share)
    size = abs(percent)
    if 0 < size < 0.1:
        text = "< 0.1"
    else:
        text = f"{percent:.0f}" if size >= 9.95 or percent == round(percent) else f"{percent:.1f}"
    return f"{text.replace('-', MINUS)}{THIN_SPACE}%"


def count_of(number: Any, noun: str, plural: str = "") -> str:
    """A number with its noun: "1 paper", "2 papers"."""
    return f"{format_number(number)} {noun if number == 1 else plural or f'{noun}s'}"


@cache  # templates are compiled once for all pages of a process
def template_environment(*packages: str) -> Environment:
    """The Jinja environment of a page, with filters for numbers, shares and counts."""
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(package, ".") for package in packages]),
        autoescape=True,
        # A misspelt name fails, where an empty cell would look like a result.
        undefined=StrictUndefined,
        # A model may write control characters, which are invalid in a page.
        finalize=_without_control_characters,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["number"] = format_number
    environment.filters["percent"] = format_percent
    environment.filters["count"] = count_of
    environment.filters["breakable"] = _breakable
    environment.filters["with_values"] = columns_with_values
    environment.filters["present"] = columns_present
    return environment


def style_sheet(environment: Environment) -> Markup:
    """The text of ``page.css``, which all pages share."""
    text = environment.loader.get_source(environment, "page.css")[0] if environment.loader else ""
    return Markup(text)  # noqa: S704 - our own file


def source_hash(text: str) -> str:
    """The name by which a content security policy allows one script or style sheet."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def columns_with_values(
    columns: Sequence[tuple[Any, str]], rows: Sequence[dict[str, Any]]
) -> list[tuple[Any, str]]:
    """The columns of a table without those in which every value is zero or missing."""
    kept = [one for one in columns[1:] if any(_is_value(row[one[0]]) for row in rows)]
    return [*columns[:1], *kept] if kept else list(columns)


def columns_present(
    columns: Sequence[tuple[Any, str]], rows: Sequence[dict[str, Any]]
) -> list[tuple[Any, str]]:
    """The columns that the rows of a table have."""
    return [
        one for one in columns if not rows or {one[0]} & {*rows[0]} or not isinstance(one[0], str)
    ]


def _is_value(value: Any) -> bool:
    if value is None or isinstance(value, str):
        return bool(value)
    return not pd.isna(value) and value != 0


def records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of a table as dicts from column name to value, for a template."""
    return [{str(key): value for key, value in row.items()} for row in table.to_dict("records")]


def known_text(value: Any) -> str:
    """A cell of a table as text, empty where it is missing."""
    return "" if pd.isna(value) else str(value)


def write_html(path: Path, text: str) -> Path:
    """Write a page atomically and return its path; an existing link is refused."""
    with rewriting(path):
        write_atomically(path, with_invented_names(text))
    return path


def _breakable(text: str) -> Markup:
    """A text whose lines may be broken behind commas."""
    return escape(plain_text(text)).replace(",", Markup(",<wbr>"))


def _without_control_characters(value: Any) -> Any:
    """Remove characters that are invalid in XML."""
    if isinstance(value, Markup) or not isinstance(value, str):
        return value
    return plain_text(value)
