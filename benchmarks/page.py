"""Puts what a benchmark has printed into a page of the docs, with its date and machine."""

from __future__ import annotations

import tomllib
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.machine import describe

DOCS = Path(__file__).resolve().parents[1] / "docs"


def head(load: float | None = None) -> str:
    """When and on what figures were measured.

    Args:
        load: wall time over processor time of the calibration loop, the worst of all that were
            measured. None: it is said elsewhere.
    """
    machine = describe()
    about = tomllib.loads((DOCS.parent / "pyproject.toml").read_text("utf-8"))["project"]
    said = (
        f"{datetime.now(UTC):%Y-%m-%d}, release {about['version']}, commit `{machine['commit']}`, "
        f"{machine['processors']} processors ({machine['processor']}), Python {machine['python']}"
    )
    return said if load is None else f"{said}; calibration loop at {load:.2f} (1: idle machine)."


def marks(name: str) -> tuple[str, str]:
    """The two lines of a page between which the text of this name stands."""
    return f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->\n"


def put(page: Path, name: str, text: str) -> None:
    """Put a text between the two marks of its name, in place of the one before."""
    begin, end = marks(name)
    before, _, rest = page.read_text(encoding="utf-8").partition(begin)
    after = rest.partition(end)[2]
    page.write_text(f"{before}{begin}\n{text.strip()}\n\n{end}{after}", encoding="utf-8")
