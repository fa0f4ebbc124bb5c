"""Cost of the clock: events a second compared with bare SimPy, and CPU while all wait (H9, H11).

5,000 teams that only wait, against 5,000 bare SimPy processes that wait as often; and 4,000 teams
whose replies do not arrive: the CPU time of the process while nothing happens.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import threading
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import simpy

from virsci_society.agents.offline.backend import Offline
from virsci_society.protocols.virsci.protocol import VirSci
from virsci_society.society.ecosystem.synthetic.synthetic import Synthetic
from virsci_society.society.formation.founding import Once
from virsci_society.society.kernel.durations import Times
from virsci_society.society.model import Society
from virsci_society.society.teams.contracts import Manuscript, TeamProtocol
from virsci_society.society.teams.lab import Lab
from virsci_society.society.teams.team import Team

LATE = 6e5
"""Seconds after which words would come."""


class Patience(TeamProtocol):
    """A team of one that waits so many times and hands nothing in."""

    waits: int = 20

    def run(self, team: Team, lab: Lab) -> Generator[Any, Any, Manuscript]:
        """Days of different length, so that no two teams wake together."""
        for number in range(self.waits):
            yield from lab.wait(1.0 + lab.rng("wait").random() / 8 if number == 0 else 1.0)
        return Manuscript(None)  # type: ignore[arg-type]


def society(teams: int, protocol: TeamProtocol, backend: Offline) -> Society:
    """So many teams at once in a small world."""
    return Society(
        Synthetic(scientists=300, papers=2_000).generate(1),
        protocol=protocol,
        founding=Once(count=teams, max_teams=teams),
        times=Times(),
        backend=backend,
        in_flight=teams,
        until=365.0,
        seed=1,
    )


def bare(teams: int, waits: int) -> float:
    """Waits a second of CPU of bare SimPy processes."""
    env = simpy.Environment()

    def wait(first: float) -> Generator[Any, Any, None]:
        yield env.timeout(first)
        for _ in range(waits - 1):
            yield env.timeout(1.0)

    for number in range(teams):
        env.process(wait(1.0 + number / (8 * teams)))
    start = time.process_time()
    env.run()
    return teams * waits / (time.process_time() - start)


def ours(teams: int, waits: int) -> float:
    """Waits a second of CPU of teams, from after their founding to before their end."""
    model = society(teams, Patience(waits=waits), Offline())
    model.advance(1.0)
    start = time.process_time()
    model.advance(waits - 1.0)
    seconds = time.process_time() - start
    model.close()
    return teams * (waits - 2) / seconds


def parked(teams: int, seconds: float) -> float:
    """Share of a core that a society takes whose teams all wait for words."""
    model = society(teams, VirSci(inviting="at_once"), Offline(latency=LATE))
    told: list[float] = []

    def watch() -> None:
        # All are asked on day 0, and the clock stands at the first answer.
        time.sleep(max(5.0, teams / 200))
        start = time.process_time()
        time.sleep(seconds)
        told.append((time.process_time() - start) / seconds)
        print(json.dumps({"parked": told[0], "waiting": len(model.world.teams)}), flush=True)
        os._exit(0)

    threading.Thread(target=watch, daemon=True).start()
    model.run_to_end()
    raise SystemExit("the words came")


def main() -> None:
    """Both sides of the events, then the waiting in a process that ends with it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--teams", type=int, default=5_000)
    parser.add_argument("--waits", type=int, default=30)
    parser.add_argument("--parked", type=int, default=4_000)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--json", type=Path, default=Path(__file__).with_suffix(".json"))
    args = parser.parse_args()
    simpys, clocks = zip(
        *((bare(args.teams, args.waits), ours(args.teams, args.waits)) for _ in range(3)),
        strict=True,
    )
    row: dict[str, Any] = {"bare events/s": max(simpys), "our events/s": max(clocks)}
    row["ratio"] = row["our events/s"] / row["bare events/s"]
    row |= _parked_apart(args.parked, args.seconds)
    for name, value in row.items():
        print(f"{name:>16} {value:,.4g}")
    args.json.write_text(json.dumps(row, indent=1) + "\n", encoding="utf-8")


def _parked_apart(teams: int, seconds: float) -> dict[str, float]:
    import subprocess

    code = f"from benchmarks.kernel import parked; parked({teams}, {seconds})"
    root = Path(__file__).resolve().parents[1]
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=root, check=True, stdout=subprocess.PIPE, text=True
    )
    found: dict[str, float] = json.loads(done.stdout)
    return found


if __name__ == "__main__":
    main()
