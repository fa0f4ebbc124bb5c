"""How near studies come to their bound: societies that share slots, and workers on a cluster.

Runs ask a server on loopback (tests/faultserver, driven by the rule-based scientists: no language
model) that answers after 200 ms. Digests must equal those of sequential runs.

- Eight runs of one process share one set of slots. ``waiting`` is slots / calls in flight while
  requests wait for a slot; mark: 1.05. ``ratio`` is the time from the first request for a slot to
  the last answer, over a lower bound: all calls times the latency over the slots, or the longest
  chain of dependent calls of any run, whichever is longer.
- Four runs with one call at a time, on a local cluster of one worker and of two. The printed
  speed-up includes the start-up of scheduler and workers. Mark: 1.7.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.critical_path import CriticalPath
from benchmarks.slot_use import SlotUse
from tests.faultserver import FaultServer, Plan
from virsci_society.scenarios.study.dask_engine import run_on_cluster
from virsci_society.scenarios.study.design import read_study
from virsci_society.scenarios.study.lock import folder_of, open_folder
from virsci_society.scenarios.study.run_study import run_locally
from virsci_society.society.results.run import Run
from virsci_society.society.results.tables import TABLES

SHARED_RUNS, SLOTS, WAITING_RUNS = 8, 16, 4
LATENCY = 0.2
TRACED = ("calls", "reads", "meetings", "members", "papers")
"""Tables from which the longest chain is computed."""


def study(folder: Path, url: str, slots: int, runs: int, **keys: Any) -> Path:
    """A study folder in which nothing has been run."""
    backend = {"use": "openai", "model": "test", "api_base": url, "in_flight": slots}
    design = {
        "study": folder.name,
        "base": "community/closed",
        "set": {"backend": backend, "metrics": ["cost"], **keys},
        "arms": {"field": {}},
        "replicates": runs,
        "measures": ["calls"],
    }
    file = folder.with_suffix(".yaml")
    file.write_text(json.dumps(design), encoding="utf-8")
    open_folder(read_study(file), folder)
    return folder


def digests(ends: list[Any]) -> list[str]:
    """The digests of runs that are done."""
    if failed := [end for end in ends if end.state != "done"]:
        raise SystemExit(f"a run is not done: {failed}")
    return [end.digest for end in ends]


def chain(folder: Path) -> tuple[int, float]:
    """The number of calls of a run, and the seconds of its longest chain of dependent calls."""
    run, rows = Run.open(folder), {}
    for name in TRACED:
        columns = [column.name for column in TABLES[name]]
        rows[name] = list(run.table(name)[columns].itertuples(index=False, name=None))
    seconds = dict.fromkeys((row[0] for row in rows["calls"]), LATENCY)
    return len(seconds), CriticalPath(rows, seconds).length


def shared_slots(place: Path, url: str, teams: int) -> dict[str, Any]:
    """All runs in sequence from a server without latency, then together."""
    keys = {"until": "150d", "population.ecosystem": {"scientists": 200, "papers": 600}}
    keys["founding"] = {"use": "once", "count": teams, "max_teams": 2}
    every = list(range(SHARED_RUNS))
    with FaultServer(Plan()) as quick:
        apart = study(place / "apart", quick.url, SLOTS, SHARED_RUNS, **keys)
        alone = digests(run_locally(apart, every, together=1))
    together = study(place / "together", url, SLOTS, SHARED_RUNS, **keys)
    began = time.perf_counter()
    with SlotUse() as use:
        ends = digests(run_locally(together, every, together=SHARED_RUNS))
    calls, chains = zip(*(chain(folder_of(together, index)) for index in every), strict=True)
    makespan, work = use.last - use.first, sum(calls) * LATENCY / SLOTS
    return {
        "calls": sum(calls),
        "longest chain": round(max(chains), 2),
        "work / slots": round(work, 2),
        "makespan": round(makespan, 2),
        "whole command": round(time.perf_counter() - began, 2),
        "ratio": round(makespan / max(*chains, work), 3),
        "waiting": round(use.slots_over_calls(defaultdict(lambda: LATENCY), SLOTS), 3),
        "digests equal": ends == alone,
    }


def cluster(place: Path, url: str) -> dict[str, Any]:
    """The same runs by one worker, then by two."""
    keys = {
        "until": "26w",
        "population.ecosystem": {"scientists": 20, "papers": 150, "fields": 2},
        "founding": {"use": "once", "count": 2, "every": "7d"},
        "protocol": {"use": "virsci", "team_size": 3, "turns": 2},
    }
    seconds, digests_of = [], []
    for workers in (1, 2):
        folder = study(place / f"by-{workers}", url, 1, WAITING_RUNS, **keys)
        began = time.perf_counter()
        ends = run_on_cluster(folder, range(WAITING_RUNS), local_cluster=workers)
        seconds.append(time.perf_counter() - began)
        digests_of.append(digests(ends))
    return {
        "one worker": round(seconds[0], 2),
        "two workers": round(seconds[1], 2),
        "speed-up": round(seconds[0] / seconds[1], 2),
        "digests equal": digests_of[0] == digests_of[1],
    }


def main() -> None:
    """Print and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="32 teams a society instead of 8")
    parser.add_argument("--json", type=Path, default=Path(__file__).with_suffix(".json"))
    args = parser.parse_args()
    figures: dict[str, Any] = {}
    with FaultServer(Plan(latency=LATENCY)) as server, tempfile.TemporaryDirectory() as place:
        figures["shared slots"] = shared_slots(Path(place), server.url, 32 if args.full else 8)
        figures["cluster"] = cluster(Path(place), server.url)
    for name, rows in figures.items():
        for figure, value in rows.items():
            print(f"{name:14}{figure:22}{value}")
    args.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
