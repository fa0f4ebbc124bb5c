"""Time and memory of a run of 100,000 calls that is resumed from its journal.

Rule-based scientists (no language model) answer, with a journal, into a run folder. Its results are
then deleted and the same command repeats the run: every call comes from the journal. The output has
calls, seconds of both runs (simulation, and all without tables and page), calls a second of the
replay, the journal's size, and resident memory as the run grows; with ``--full`` also the memory of
the same society without a journal. Mark: the resume takes less than 60 s on two cores, and memory
does not grow with calls beyond what the tables need.

``kB a call later`` is the memory that each call adds in the last quarter of a long run of fewer
people, without a journal: by then caches are filled, and as many teams end as begin.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

if TYPE_CHECKING:
    from virsci_society.agents.journal.journal import Journal
    from virsci_society.society.model import Society

HERE = Path(__file__).resolve()
PEOPLE = 1500
LATER_PEOPLE, LATER_DAYS = 300, 600.0
"""Of the run whose memory is measured; five times as many days with ``--full``."""


def society(journal: Journal | None, days: float, *, later: bool = False) -> Society:
    """A society of offline scientists that has not begun; ``later``: of fewer people."""
    from virsci_society.agents.gateway.gateway import Gateway
    from virsci_society.agents.offline.backend import Offline
    from virsci_society.protocols.virsci.protocol import VirSci
    from virsci_society.society.ecosystem.synthetic.synthetic import Synthetic
    from virsci_society.society.formation.founding import Poisson
    from virsci_society.society.kernel.durations import Times
    from virsci_society.society.model import Society

    people = LATER_PEOPLE if later else PEOPLE
    backend = Offline()
    return Society(
        Synthetic(scientists=people, papers=2 * people).generate(1),
        protocol=VirSci(team_size=3, turns=2),
        founding=Poisson(teams_per_year=2.0, max_teams=3),
        times=Times(),
        backend=backend,
        gateway=Gateway(backend, 64, journal),
        until=days,
        seed=1,
    )


def run(path: Path | None, args: argparse.Namespace) -> dict[str, Any]:
    """Simulate once, from and into a journal (or none); returns figures of this process."""
    from virsci_society.agents.journal.journal import Journal

    journal = None if path is None else Journal(path)
    known = 0 if journal is None else journal.unreplayed
    model = society(journal, args.days, later=args.later)
    before = memory()
    began, cpu = time.perf_counter(), time.process_time()
    growth: dict[str, Any] = {}
    if args.later:
        growth = grow(model, args)
    else:
        model.run_to_end()
    if journal is not None:
        journal.close()
    took = time.perf_counter() - began
    calls = len(model.log.rows["calls"])
    return {
        "calls": calls,
        "known": known,
        "seconds": round(took, 1),
        "CPU seconds": round(time.process_time() - cpu, 1),
        "calls a second": round(calls / took),
        "MB before": round(before),
        "MB after": round(memory()),
        "MB peak": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
        "journal MB": 0 if path is None else round(path.stat().st_size / 2**20),
        **growth,
    }


def grow(model: Society, args: argparse.Namespace) -> dict[str, Any]:
    """Run to the end; return the memory that each call added in the last quarter of the days."""
    made = count_calls()
    while model.env.now < 0.75 * args.days:
        model.step()
    gc.collect()
    before, calls = memory(), made[0]
    while model.running:
        model.step()
    gc.collect()
    later = made[0] - calls
    return {"calls later": later, "kB a call later": round(1024 * (memory() - before) / later, 2)}


def count_calls() -> list[int]:
    """A list with the number of calls made from now on."""
    from virsci_society.society.kernel.answer import Call

    made, init = [0], Call.__init__

    def counted(*values: Any, **more: Any) -> None:
        made[0] += 1
        init(*values, **more)

    Call.__init__ = counted  # type: ignore[method-assign]
    return made


def memory() -> float:
    """Resident memory of this process in MB."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmRSS"):
            return float(line.split()[1]) / 1024
    return 0.0


def main() -> None:
    """Without a journal, into a new one, and from it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--full", action="store_true", help="100,000 calls and not about 10,000")
    parser.add_argument(
        "--days",
        type=float,
        help="simulated days, but of the run whose memory is measured (90; with --full 365)",
    )
    parser.add_argument("--one", type=Path)
    parser.add_argument("--none", action="store_true")
    parser.add_argument("--later", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--json", type=Path, default=HERE.with_suffix(".json"))
    args = parser.parse_args()
    args.days = args.days or (365.0 if args.full else 90.0)
    if args.one or args.none:
        print(json.dumps(run(args.one, args)))
        return
    rows = {}
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "journal.sqlite")
        ways = {"no journal": ["--none"]} if args.full else {}
        ways |= {"into": ["--one", path], "resume": ["--one", path]}
        ways["later"] = ["--none", "--later"]
        for name, way in ways.items():
            days = args.days
            if name == "later":
                days = 5 * LATER_DAYS if args.full else LATER_DAYS
            command = [sys.executable, HERE, "--days", str(days), *way]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            rows[name] = json.loads(done.stdout)
            told = (f"{what} {value}" for what, value in rows[name].items())
            print(f"{name:10} {', '.join(told)}", flush=True)
    args.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
