"""Template environment, style sheet, security policy and row helper of all pages.

The macros of ``macros.html`` (tables, figures, banners) belong to them. Every text is escaped; only
figures, which are drawn from numbers, are not.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from virsci_society.agents.files.atomic_files import write_atomically
from virsci_society.metrics.exports import xml_text
from virsci_society.metrics.report.number_format import count_of, format_number, format_percent


@cache  # templates are compiled once for all pages of a process
def template_environment(*packages: str) -> Environment:
    """The Jinja environment of a page, with filters for numbers, shares and counts.

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
    environment.filters["percent"] = format_percent
    environment.filters["count"] = count_of
    environment.filters["with_values"] = columns_with_values
    return environment


def style_sheet(environment: Environment) -> Markup:
    """The text of ``page.css``, which all pages share."""
    return own_file(environment, "page.css")


def own_file(environment: Environment, name: str) -> Markup:
    """The text of a style sheet or script that lies beside the templates, as it is.

    Args:
        environment: of the page.
        name: of the file.
    """
    text = environment.loader.get_source(environment, name)[0] if environment.loader else ""
    return Markup(text)  # noqa: S704 - our own file


def content_policy(script: str) -> Markup:
    """The content security policy of a page: no request, and no script but the given one.

    Args:
        script: text of the page's script element.
    """
    policy = (
        f"default-src 'none'; script-src '{source_hash(script)}'; style-src 'unsafe-inline'; "
        "base-uri 'none'; form-action 'none'"
    )
    return Markup(policy)  # noqa: S704 - our own text


def source_hash(text: str) -> str:
    """The name by which a content security policy allows one script or style sheet."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def columns_with_values(
    columns: Sequence[tuple[Any, str]], rows: Sequence[dict[str, Any]]
) -> list[tuple[Any, str]]:
    """The columns of a table without those in which every value is zero or missing.

    Args:
        columns: keys and heads; the first column always stays.
        rows: a value for each key.
    """
    kept = [one for one in columns[1:] if any(_is_value(row[one[0]]) for row in rows)]
    return [*columns[:1], *kept] if kept else list(columns)


def _is_value(value: Any) -> bool:
    if value is None or isinstance(value, str):
        return bool(value)
    return not pd.isna(value) and value != 0


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
