"""Runs of library scenarios that several benchmarks read, kept in ``runs/benchmarks``."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "runs" / "benchmarks"


def society(*arguments: str, folder: Path = ROOT) -> str:
    """Run a command and return what it prints."""
    done = subprocess.run(
        [sys.executable, "-m", "virsci_society", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "100"},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return done.stdout


@cache
def kept(name: str, *settings: str) -> Path:
    """Return the folder of a finished run; an interrupted one is resumed.

    Args:
        name: of the scenario.
        settings: pairs ``KEY=VALUE``.
    """
    folder = KEPT / "-".join([name.replace("/", "-"), *(one.split("=")[-1] for one in settings)])
    options = [part for one in settings for part in ("--set", one)]
    society("run", name, *options, "--out", str(folder))
    return folder


def table(heads: Iterable[object], rows: Iterable[Iterable[object]]) -> str:
    """Format a table in Markdown."""
    lines = [[str(cell) for cell in row] for row in (heads, *rows)]
    lines.insert(1, ["---"] * len(lines[0]))
    return "\n".join(f"| {' | '.join(line)} |".replace("|  |", "| |") for line in lines)
