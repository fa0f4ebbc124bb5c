"""Run the benchmarks and print one table of all marks (``make bench``).

Each script runs in its short form, which takes at most two minutes on two idle processors, all
together about twelve; ``--full`` runs the long forms, which together take more than an hour.
Output and figures of the scripts are kept in ``benchmarks/results/``, and the table with the
machine and the commit as ``bench.json``. A calibration loop runs on all processors before and after
each script; if the machine was busy with other work, the figures of that script are marked.

``--only NAME ...`` runs some scripts again; the others stand in the table as they were run before.
``--write`` puts the table into ``docs/contributing/performance.md``. Exit codes: 0 all scripts ran,
whatever their figures; 1 one failed.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from benchmarks.machine import TOO_BUSY, describe, load  # noqa: E402
from benchmarks.marks import MARKS, Mark  # noqa: E402
from benchmarks.page import DOCS, head, put  # noqa: E402

RESULTS = HERE / "results"
BENCH = RESULTS / "bench.json"
PAGE = DOCS / "contributing" / "performance.md"
NAME = "table of make bench"
SCRIPTS = (
    *("start_up", "kernel", "overlap", "live", "resume", "prefix"),
    *("studies", "sweep", "explorer"),
)
LONG = ("overlap", "live", "resume", "studies", "explorer")
"""Scripts that have a long form."""
HEADS = ("id", "what", "figure", "aim", "limit", "")


def main() -> int:
    """Run what is asked for, print the table and keep it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="the long form of every script")
    parser.add_argument("--only", nargs="+", choices=SCRIPTS, default=SCRIPTS, metavar="SCRIPT")
    parser.add_argument("--write", action="store_true", help=f"put the table into {PAGE.name}")
    args = parser.parse_args()
    RESULTS.mkdir(exist_ok=True)
    runs = earlier_runs() | {name: run(name, args.full) for name in args.only}
    rows = [row(mark, runs) for mark in MARKS if mark.script in runs]
    told = {"date": f"{datetime.now(UTC):%Y-%m-%d}", "machine": describe(), "runs": runs}
    BENCH.write_text(json.dumps({**told, "rows": rows}, indent=1) + "\n", encoding="utf-8")
    show(rows)
    print(f"\n{summary(rows, runs)}\nfigures and output: {RESULTS}")
    if args.write:
        write_table(rows, runs)
    return int(any(one["exit"] for one in runs.values()))


def earlier_runs() -> dict[str, Any]:
    """The scripts that were run before, by name, as far as their figures are still there."""
    if not BENCH.is_file():
        return {}
    runs: dict[str, Any] = json.loads(BENCH.read_text(encoding="utf-8"))["runs"]
    return {name: one for name, one in runs.items() if (RESULTS / f"{name}.json").is_file()}


def run(name: str, full: bool) -> dict[str, Any]:
    """Run a script, with its output in a file; how it ended and how busy the machine was."""
    before = load()
    command = [sys.executable, str(HERE / f"{name}.py"), "--json", str(RESULTS / f"{name}.json")]
    print(f"{name:<10}", end=" ", flush=True)
    began = time.perf_counter()
    with (RESULTS / f"{name}.txt").open("w", encoding="utf-8") as output:
        exit_code = subprocess.run(
            [*command, "--full"] if full and name in LONG else command,
            stdout=output,
            stderr=subprocess.STDOUT,
            check=False,
        ).returncode
    seconds = time.perf_counter() - began
    after = load()
    busy, loop = max(before.busy, after.busy), (before.loop + after.loop) / 2
    end = "" if exit_code == 0 else f", exit code {exit_code}: see results/{name}.txt"
    beside = "" if busy < TOO_BUSY else f", machine busy ({busy:.2f})"
    print(f"{seconds:5.0f} s{beside}{end}", flush=True)
    times = {"seconds": round(seconds, 1), "busy": round(busy, 2), "loop": round(loop, 2)}
    return {**times, "exit": exit_code}


def row(mark: Mark, runs: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """A line of the table."""
    ran = runs[mark.script]
    figure = None
    if ran["exit"] == 0:
        figures = json.loads((RESULTS / f"{mark.script}.json").read_text(encoding="utf-8"))
        figure = mark.figure(figures, ran["loop"])
    if ran["exit"]:
        verdict = "failed"
    elif figure is None:
        verdict = "with --full"
    else:
        verdict = "met" if mark.is_met(figure) else "short"
        verdict += ", machine busy" if ran["busy"] >= TOO_BUSY else ""
    return {
        "mark": mark.key,
        "what": mark.what,
        "figure": figure,
        "at": f"{'≥' if mark.at_least else '≤'} {_number(mark.mark)}",
        "limit": mark.limit,
        "verdict": verdict,
    }


def cells(row: dict[str, Any]) -> tuple[str, ...]:
    """A line of the table as text."""
    figure = "" if row["figure"] is None else _number(row["figure"])
    return row["mark"], row["what"], figure, row["at"], row["limit"], row["verdict"]


def show(rows: list[dict[str, Any]]) -> None:
    """Print the table."""
    table = [HEADS, *map(cells, rows)]
    widths = [max(len(line[column]) for line in table) for column in range(len(HEADS))]
    print()
    for line in table:
        print("  ".join(f"{cell:<{width}}" for cell, width in zip(line, widths, strict=True)))


def summary(rows: list[dict[str, Any]], runs: dict[str, dict[str, Any]]) -> str:
    """How many figures meet their marks, and how long it took."""
    met = sum(row["verdict"].startswith("met") for row in rows)
    short = sum(row["verdict"].startswith("short") for row in rows)
    minutes = sum(one["seconds"] for one in runs.values()) / 60
    crowded = [name for name, one in runs.items() if one["busy"] >= TOO_BUSY]
    warning = (
        f"\nOther work was done meanwhile (loop at {TOO_BUSY} and more) beside: "
        f"{', '.join(crowded)}. Their timings are not to be believed."
        if crowded
        else ""
    )
    return f"{met} met, {short} short, in {minutes:.0f} minutes{warning}"


def write_table(rows: list[dict[str, Any]], runs: dict[str, Any]) -> None:
    """Put the table into the page, without the figures that only the long forms have."""
    measured = [row for row in rows if row["verdict"] != "with --full"]
    lines = [" | ".join(line) for line in (HEADS, ["---"] * len(HEADS), *map(cells, measured))]
    table = "".join(f"| {line} |\n" for line in lines)
    put(PAGE, NAME, f"{head()}. {summary(rows, runs)}\n\n{table}")


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3g}"


if __name__ == "__main__":
    sys.exit(main())
