"""What many calls at many slots hold: memory and open files as a run of 20,000 calls goes on.

A run with a journal asks the fault server on loopback (tests/faultserver; its words are those of
the rule-based scientists, no language model), 256 calls at a time, each answered after 200 ms.
Printed are, at every tenth of the calls, resident memory of the process of the run, its open files
and which of them are sockets. Files may not grow with the calls, nor memory beyond what the rows
of the tables take. ``--calls 2000`` is a short form, ``--write`` puts the table into
docs/performance.md. Needs ``/proc``.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.machine import busy
from benchmarks.page import DOCS, head, put
from tests.faultserver import FaultServer, Plan
from virsci_society import load_scenario, run_scenario

PAGE, NAME = DOCS / "performance.md", "calls at 256 slots"
A_TEAM = 14.9
"""Calls of a team of two with one turn a stage, about."""
TENTHS = 10
EVERY = 0.2
"""Seconds between two looks."""


class Watch(threading.Thread):
    """Looks at this process until it is told to stop."""

    def __init__(self, server: FaultServer) -> None:
        super().__init__(daemon=True)
        self.server, self.over = server, threading.Event()
        self.rows: list[dict[str, float]] = []

    def run(self) -> None:
        """Note a row at each look."""
        began = time.perf_counter()
        while not self.over.wait(EVERY):
            files = [os.readlink(f"/proc/self/fd/{one}") for one in _files()]
            pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
            self.rows.append(
                {
                    "seconds": round(time.perf_counter() - began, 1),
                    "calls": self.server.counts()["requests"],
                    "memory MB": round(pages * os.sysconf("SC_PAGE_SIZE") / 1e6),
                    "files": len(files),
                    "sockets": sum(one.startswith("socket:") for one in files),
                }
            )


def _files() -> list[str]:
    """Numbers of the open files of this process, but for those that are closed meanwhile."""
    return [one for one in os.listdir("/proc/self/fd") if Path(f"/proc/self/fd/{one}").is_symlink()]


def measure(calls: int, slots: int) -> dict[str, Any]:
    """Run, and look on."""
    teams = round(calls / A_TEAM)
    people = max(100, 2 * teams)
    with tempfile.TemporaryDirectory() as folder, FaultServer(Plan(latency=0.2)) as server:
        scenario = load_scenario(
            "quickstart",
            **{
                "until": "26w",
                "metrics": [],
                "population.ecosystem.scientists": people,
                "population.ecosystem.papers": 2 * people,
                "founding": {"use": "once", "count": teams, "every": "0d"},
                "protocol.team_size": 2,
                "protocol.turns": 1,
                "protocol.inviting": "at_once",
                "protocol.topic.leaving": "off",
                "backend.use": "openai",
                "backend.model": "test",
                "backend.api_base": server.url,
                "backend.in_flight": slots,
            },
        )
        watch = Watch(server)
        watch.start()
        run_scenario(scenario, Path(folder) / "run", page=False)
        watch.over.set()
        watch.join()
        counts = server.counts()
    return {
        "slots": slots,
        "most at once": counts["most_at_once"],
        "calls": counts["requests"],
        "rows": watch.rows,
    }


def tenths(rows: list[dict[str, float]]) -> list[dict[str, float]]:
    """The first row at or after each tenth of the calls."""
    last = rows[-1]["calls"]
    steps = [last * step / TENTHS for step in range(1, TENTHS + 1)]
    return [next(row for row in rows if row["calls"] >= step) for step in steps]


def growth(rows: list[dict[str, float]]) -> float:
    """Kilobytes of memory that each further call takes, once what is made only once is there."""
    first, last = rows[TENTHS // 5 - 1], rows[-1]
    return 1000 * (last["memory MB"] - first["memory MB"]) / (last["calls"] - first["calls"])


def main() -> int:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--calls", type=int, default=20_000)
    parser.add_argument("--slots", type=int, default=256)
    parser.add_argument("--write", action="store_true", help=f"put the table into {PAGE.name}")
    parser.add_argument("--json", type=Path, default=Path(__file__).with_suffix(".json"))
    args = parser.parse_args()
    before = busy()
    found = measure(args.calls, args.slots)
    args.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    rows = tenths(found["rows"])
    heads = list(rows[0])
    lines = [heads, ["---:"] * len(heads), *([f"{row[key]:,}" for key in heads] for row in rows)]
    text = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    said = (
        f"{found['calls']:,} calls, at most {found['most at once']} at once; from the first fifth "
        f"on {growth(rows):.1f} kB of memory a call"
    )
    print(f"{said}\n\n{text}")
    if args.write:
        put(PAGE, NAME, f"{head(max(before, busy()))} {said}.\n\n{text}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
