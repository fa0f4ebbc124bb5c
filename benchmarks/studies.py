"""How near a study of eight societies that share their slots comes to the bound (H1 for studies).

Eight runs of one process ask a server on loopback (tests/faultserver, driven by the rule-based
scientists: no language model) that answers after 200 ms, through one set of slots. Printed are
the makespan over max(longest run alone, all work / slots): from the first call for a slot to the
last answer, which is what the slots can be blamed for, and beside it the whole command, with
ecosystems, measures and files. Work is the sum of the seconds for which slots were held, which on
a busy machine is more than the latency; ``ideal`` is what it would be without. ``all held`` are the
seconds of the makespan during which no slot was free, and ``CPU`` what this process computed in it.
The mark is 1.05; the digests must be those of the runs done one after another.
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

from tests.faultserver.plan import Plan
from tests.faultserver.process import FaultServer
from virsci_society.agents.gateway.slots import Slot, SlotPool
from virsci_society.scenarios.study.design import read_study
from virsci_society.scenarios.study.engine import run_locally
from virsci_society.scenarios.study.lock import open_folder

MARK = 1.05
STUDY = """\
# How full are the slots that several societies share?
study: Slots
base: community/closed
set:
  until: {days}d
  population.ecosystem: {{scientists: 100, papers: 600}}
  backend: {{use: openai, model: test, api_base: "{url}", in_flight: {slots}}}
  metrics: [cost]
arms: {{list: [{{name: field}}]}}
replicates: {runs}
measures: [calls]
"""


class Slots:
    """Notes when slots are asked for, held and given back, of all runs of this process."""

    def __init__(self, places: int) -> None:
        self.first, self.last, self.work, self.calls = 0.0, 0.0, 0.0, 0
        self.all_held, self.cpu_first, self.cpu_last = 0.0, 0.0, 0.0
        self._places, self._full_since = places, 0.0
        self._since: dict[int, float] = {}
        self._take, self._give_back = SlotPool.acquire, Slot.release

    def __enter__(self) -> Slots:
        noting = self

        async def take(self: SlotPool, due: float, id: str, attempt: int) -> Slot:
            noting.first = noting.first or time.perf_counter()
            noting.cpu_first = noting.cpu_first or time.process_time()
            lane = await noting._take(self, due, id, attempt)
            noting._since[id_of(lane)] = time.perf_counter()
            if len(noting._since) == noting._places:
                noting._full_since = time.perf_counter()
            return lane

        def give_back(self: Slot) -> None:
            since = noting._since.pop(id_of(self), None)
            if since is not None:
                noting.last, noting.cpu_last = time.perf_counter(), time.process_time()
                if len(noting._since) == noting._places - 1:
                    noting.all_held += noting.last - noting._full_since
                noting.work += noting.last - since
                noting.calls += 1
            noting._give_back(self)

        SlotPool.acquire, Slot.release = take, give_back  # type: ignore[method-assign]
        return self

    def __exit__(self, *_: object) -> None:
        SlotPool.acquire, Slot.release = self._take, self._give_back  # type: ignore[method-assign]


def id_of(lane: Slot) -> int:
    """What tells one place from another while it is held."""
    return id(lane)


def study(folder: Path, url: str, args: argparse.Namespace) -> Path:
    """A study folder in which nothing has been run."""
    folder.mkdir()
    text = STUDY.format(url=url, days=args.days, slots=args.slots, runs=args.runs)
    (folder / "slots.yaml").write_text(text, encoding="utf-8")
    made = folder / "study"
    open_folder(read_study(folder / "slots.yaml"), made)
    return made


def timed(
    made: Path, indices: list[int], together: int, places: int
) -> tuple[Slots, float, list[Any]]:
    """Do runs; slots, seconds of the whole, and how the runs ended."""
    began = time.perf_counter()
    with Slots(places) as slots:
        ends = run_locally(made, indices, together=together)
    whole = time.perf_counter() - began
    if not all(end.state == "done" for end in ends):
        raise SystemExit(f"a run is not done: {ends}")
    return slots, whole, ends


def measure(url: str, args: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """All runs by themselves, then together."""
    apart, together = study(folder / "apart", url, args), study(folder / "together", url, args)
    spans, alone = [], []
    for index in range(args.runs):
        slots, _, (end,) = timed(apart, [index], 1, args.slots)
        spans.append(slots.last - slots.first)
        alone.append(end)
    slots, whole, ends = timed(together, list(range(args.runs)), args.runs, args.slots)
    work = slots.work / args.slots
    bound = max(*spans, work)
    return {
        "runs": args.runs,
        "slots": args.slots,
        "calls": slots.calls,
        "longest alone": round(max(spans), 2),
        "one after another": round(sum(spans), 2),
        "work / slots": round(work, 2),
        "ideal": round(slots.calls * args.latency / args.slots, 2),
        "makespan": round(slots.last - slots.first, 2),
        "ratio": round((slots.last - slots.first) / bound, 3),
        "all held": round(slots.all_held, 2),
        "CPU": round(slots.cpu_last - slots.cpu_first, 2),
        "whole command": round(whole, 2),
        "digests equal": [end.digest for end in ends] == [end.digest for end in alone],
    }


def main() -> None:
    """Print and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="240 days and not 60")
    parser.add_argument("--runs", type=int, default=8)
    parser.add_argument("--slots", type=int, default=16)
    parser.add_argument("--days", type=int, help="simulated days (60; with --full 240)")
    parser.add_argument("--latency", type=float, default=0.2)
    parser.add_argument("--json", type=Path, default=Path(__file__).with_suffix(".json"))
    args = parser.parse_args()
    args.days = args.days or (240 if args.full else 60)
    with FaultServer(Plan(latency=args.latency)) as server, tempfile.TemporaryDirectory() as spare:
        row = measure(server.url, args, Path(spare))
    for name, value in row.items():
        print(f"{name:18} {value}")
    print(f"mark {MARK}: {'met' if row['ratio'] <= MARK else 'MISSED'}")
    args.json.write_text(json.dumps(row, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
