"""Template environment, style sheet, number format and row helper of all pages.

The macros of ``macros.html`` (tables, figures, banners) belong to them. Every text is escaped; only
figures, which are drawn from numbers, are not.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from agents.files.atomic_files import write_atomically
from metrics.exports import xml_text


@cache  # templates are compiled once for all pages of a process
def template_environment(*packages: str) -> Environment:
    """The Jinja environment of a page, with ``format_number`` as the filter ``number``.

    Args:
        packages: packages whose folders are searched for a template, in this order.
    """
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(package, ".") for package in packages]),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_without_control_characters,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["number"] = format_number
    return environment


def style_sheet(environment: Environment) -> Markup:
    """The text of ``page.css``, which all pages share."""
    text = environment.loader.get_source(environment, "page.css")[0] if environment.loader else ""
    return Markup(text)  # noqa: S704 - our own file


def format_number(value: Any, digits: int = 3) -> str:
    """A number as pages show it: grouped thousands, few digits, a dash where it is missing.

    Args:
        value: a number, NaN or None.
        digits: significant digits of a number that is not whole and below 1,000.
    """
    if value is None or pd.isna(value):
        return "–"
    size = abs(float(value))
    if size >= 1000 or size == int(size):
        text = f"{round(float(value)):,}".replace(",", "\u202f")
    elif size < 0.001:
        text = "< 0.001" if float(value) > 0 else f"{float(value):.1e}"
    else:
        text = f"{float(value):#.{digits}g}".rstrip(".")
    return text.replace("-", "\u2212", 1) if text.startswith("-") else text


def records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of a table as dicts from column name to value, for a template."""
    return [{str(key): value for key, value in row.items()} for row in table.to_dict("records")]


def write_html(path: Path, text: str) -> Path:
    """Write a page, whole or not at all, and return its path; a link that is there is refused."""
    write_atomically(path, text)
    return path


def _without_control_characters(value: Any) -> Any:
    """Leave out the characters that neither XML nor a page can hold."""
    if isinstance(value, Markup) or not isinstance(value, str):
        return value
    return xml_text(value)
