"""Run every benchmark and say which fall short of their marks (`make bench`)."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
MARKS = {"8": 1.05, "16": 1.05, "64": 1.25, "unlimited": 1.25}
"""Largest ratio of wall time to bound for reading at decisions, by slots."""

SCRIPTS = (
    *("overlap", "mechanism", "prefix", "plan", "live", "resume", "search", "kernel", "scale"),
    *("coverage", "cluster", "studies", "start_up", "explorer"),
)
SHORTER = {"scale": ("--quick",)}
"""What a script is told so as to be done in minutes; all of ``scale`` takes half an hour."""

LIVE = (("ours", 1.0, 1), ("of the bare client", 0.85, -1))
"""What a live run is measured by: milliseconds of our own a call, share of the bare client."""


def main() -> int:
    """Run the scripts one after another; 0 if all ran, whatever their figures."""
    failed = False
    for name in SCRIPTS:
        print(f"== {name}", flush=True)
        done = subprocess.run(
            [sys.executable, HERE / f"{name}.py", *SHORTER.get(name, ())], check=False
        )
        failed = failed or done.returncode != 0
    for row in json.loads((HERE / "overlap.json").read_text(encoding="utf-8")):
        mark = MARKS[str(row["slots"])]
        if row["read"] == "decisions" and row["ratio"] > mark:
            print(f"short of its mark: overlap at {row['slots']} slots: {row['ratio']} > {mark}")
    for row in json.loads((HERE / "live.json").read_text(encoding="utf-8")):
        for what, mark, sign in LIVE:
            value = row.get("split", {}).get(what)
            if value is not None and sign * value > sign * mark:
                print(f"short of its mark: {row['row']}: {what} {value}, mark {mark}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
