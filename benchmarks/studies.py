"""How near studies come to their bound: societies that share slots, and workers on a cluster.

Runs ask a server on loopback (tests/faultserver, driven by the rule-based scientists: no language
model) that answers after 200 ms. Digests must be those of the runs done one after another.

- Eight runs of one process share one set of slots. Printed is the time from the first call for a
  slot to the last answer, over the bound: the longest run alone, or the sum of the seconds for
  which slots were held over the slots, whichever is longer. Mark: 1.05.
- Four runs with one call at a time, on a local cluster of one worker and of two. Printed is the
  speed-up; start-up of scheduler and workers counts. Mark: 1.7.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.faultserver import FaultServer, Plan
from virsci_society.agents.gateway.slots import Slot, SlotPool
from virsci_society.scenarios.study.dask_engine import run_on_cluster
from virsci_society.scenarios.study.design import read_study
from virsci_society.scenarios.study.lock import open_folder
from virsci_society.scenarios.study.run_study import run_locally

SHARED_RUNS, SLOTS, WAITING_RUNS = 8, 16, 4


class HeldSlots:
    """Notes when slots are asked for, held and given back, of all runs of this process."""

    def __init__(self) -> None:
        self.first, self.last, self.work, self.calls = 0.0, 0.0, 0.0, 0
        self._since: dict[int, float] = {}
        self._take, self._give_back = SlotPool.acquire, Slot.release

    def __enter__(self) -> HeldSlots:
        noting = self

        async def take(self: SlotPool, due: float, id: str, attempt: int) -> Slot:
            noting.first = noting.first or time.perf_counter()
            slot = await noting._take(self, due, id, attempt)
            noting._since[hash(slot)] = time.perf_counter()
            return slot

        def give_back(self: Slot) -> None:
            since = noting._since.pop(hash(self), None)
            if since is not None:
                noting.last = time.perf_counter()
                noting.work += noting.last - since
                noting.calls += 1
            noting._give_back(self)

        SlotPool.acquire, Slot.release = take, give_back  # type: ignore[method-assign]
        return self

    def __exit__(self, *_: object) -> None:
        SlotPool.acquire, Slot.release = self._take, self._give_back  # type: ignore[method-assign]


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


def shared_slots(place: Path, url: str, days: int) -> dict[str, Any]:
    """All runs one after another, then together."""
    keys = {"until": f"{days}d", "population.ecosystem": {"scientists": 100, "papers": 600}}
    apart, together = (
        study(place / name, url, SLOTS, SHARED_RUNS, **keys) for name in ("apart", "together")
    )
    spans, alone = [], []
    for index in range(SHARED_RUNS):
        with HeldSlots() as slots:
            alone += digests(run_locally(apart, [index], together=1))
        spans.append(slots.last - slots.first)
    began = time.perf_counter()
    with HeldSlots() as slots:
        ends = digests(run_locally(together, list(range(SHARED_RUNS)), together=SHARED_RUNS))
    makespan, work = slots.last - slots.first, slots.work / SLOTS
    return {
        "calls": slots.calls,
        "longest alone": round(max(spans), 2),
        "one after another": round(sum(spans), 2),
        "work / slots": round(work, 2),
        "makespan": round(makespan, 2),
        "whole command": round(time.perf_counter() - began, 2),
        "ratio": round(makespan / max(*spans, work), 3),
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
    seconds, found = [], []
    for workers in (1, 2):
        folder = study(place / f"by-{workers}", url, 1, WAITING_RUNS, **keys)
        began = time.perf_counter()
        ends = run_on_cluster(folder, range(WAITING_RUNS), local_cluster=workers)
        seconds.append(time.perf_counter() - began)
        found.append(digests(ends))
    return {
        "one worker": round(seconds[0], 2),
        "two workers": round(seconds[1], 2),
        "speed-up": round(seconds[0] / seconds[1], 2),
        "digests equal": found[0] == found[1],
    }


def main() -> None:
    """Print and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="240 days and not 60")
    parser.add_argument("--json", type=Path, default=Path(__file__).with_suffix(".json"))
    args = parser.parse_args()
    days = 240 if args.full else 60
    figures: dict[str, Any] = {}
    with FaultServer(Plan(latency=0.2)) as server, tempfile.TemporaryDirectory() as place:
        figures["shared slots"] = shared_slots(Path(place), server.url, days)
        figures["cluster"] = cluster(Path(place), server.url)
    for name, rows in figures.items():
        for figure, value in rows.items():
            print(f"{name:14}{figure:22}{value}")
    args.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
