"""Tries every promise and counts with what (docs/performance.md).

``python -m tests.promises`` runs the tests that count and prints their counts as a table; with
``--slow`` their heavier sweeps too. ``--write`` puts the table into the page, if no test failed.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

from benchmarks.page import DOCS, head, put

TESTS = Path(__file__).resolve().parents[1]
PAGE = DOCS / "performance.md"
NAME = "counts of the promises"
COUNT = re.compile(r"^(R\d+): (.*): ([\d,]+)$", re.MULTILINE)
"""A line of the section that the tests print at their end."""


def counting():
    """The files of tests that count for a promise."""
    files = sorted(TESTS.rglob("test_*.py"))
    return [str(path) for path in files if "promise(" in path.read_text(encoding="utf-8")]


def table(counts):
    """The counts, one row for each promise."""
    rows = {}
    for name, what, number in counts:
        rows.setdefault(name, []).append(f"{what}: {number}")
    lines = [f"| {name} | {'; '.join(found)} |" for name, found in rows.items()]
    return "\n".join(["| promise | counted |", "|---|---|", *lines])


def main():
    """Run, print and keep; the exit code of the tests."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--slow", action="store_true", help="the heavier sweeps as well")
    parser.add_argument("--write", action="store_true", help=f"put the table into {PAGE.name}")
    args = parser.parse_args()
    which = "not peers and not models" + ("" if args.slow else " and not slow")
    command = [sys.executable, "-m", "pytest", "-n", "3", "--dist", "worksteal", "-m", which]
    done = subprocess.run([*command, *counting()], stdout=subprocess.PIPE, text=True)
    counts = COUNT.findall(done.stdout)
    print(table(counts) if done.returncode == 0 else done.stdout)
    if args.write and done.returncode == 0:
        scope = "with the heavier sweeps" if args.slow else "as `make test` tries them"
        put(PAGE, NAME, f"{head()}; {scope}.\n\n{table(counts)}")
    return done.returncode


if __name__ == "__main__":
    raise SystemExit(main())
