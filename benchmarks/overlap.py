"""How near a run of many teams comes to the bound that its own log sets.

Prints wall time / max(longest dependent chain, work / slots) for societies that read replies at
decisions; digests must be equal. The column ``bound`` names the longer of the two: with the 128
leaders of the rows at 8 and 16 slots it is work / slots, with the 20 leaders at 64 the chain.
``waiting`` is slots / calls in flight while requests wait for a slot (``slot_use.py``). A reply is
read on its simulated date, so that a slow one delays others; ``in order`` is the longest chain with
these waits, and ``ordered`` the wall time over it.

Replies are recorded beforehand with the rule-based scientists (no language model) and replayed
after a random latency, fixed per call; its mean differs between rows.

``tail`` has latencies with a heavy tail (lognormal with sigma 1.5). ``--full`` adds unlimited
slots, ``adaptive`` (the leader decides after each turn whether there is another) and ``lock-step``
(everybody waits at the end of each simulated day); ``--rows`` chooses rows.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import PrivateAttr

os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.critical_path import lower_bound
from benchmarks.slot_use import SlotUse
from virsci_society.agents.gateway.backend import Backend
from virsci_society.agents.gateway.gateway import Gateway
from virsci_society.agents.offline.backend import Offline
from virsci_society.agents.prompts.request import Reply, Request, Usage
from virsci_society.protocols.virsci.protocol import VirSci
from virsci_society.scenarios.planning.plan import longest_chain
from virsci_society.society.ecosystem.ecosystem import Ecosystem
from virsci_society.society.ecosystem.synthetic.synthetic import Synthetic
from virsci_society.society.formation.founding import Once
from virsci_society.society.kernel.durations import Times
from virsci_society.society.kernel.streams import Streams
from virsci_society.society.model import Society
from virsci_society.society.results.dataframes import build_tables
from virsci_society.society.results.digest import digest_tables

UNLIMITED = 1_000_000
TAIL = 1.5
"""Sigma of the lognormal latencies with a heavy tail."""
ROWS = ("decisions", "tail", "adaptive", "lock-step")
TEAMS = {8: (128, 1), 16: (128, 1)}
"""Leaders and turns of a stage by slots; 20 and 5 otherwise."""
LATENCIES = {8: 0.07, 16: 0.13, 64: 0.22}
MEANS = {"adaptive": 0.25, "tail": 0.1, "lock-step": 0.03}
"""Mean latency of rows at 64 slots; shorter for lock-step, which is much slower."""


class Played(Backend):
    """Recorded replies after a random latency: lognormal, one draw per call id."""

    mean: float
    sigma: float = 0.5
    _words: dict[str, Reply] = PrivateAttr(default_factory=dict)
    _taken: dict[str, float] = PrivateAttr(default_factory=dict)

    def load(self, words: dict[str, Reply]) -> Played:
        """Play these back."""
        self._words.update(words)
        return self

    @property
    def seconds(self) -> dict[str, float]:
        """The latency of every call in seconds."""
        return self._taken

    async def complete(self, request: Request) -> Reply:
        """Sleep, then answer."""
        normal = Streams(1).stream("latency", request.id).standard_normal()
        latency = self.mean * float(np.exp(self.sigma * normal - self.sigma**2 / 2))
        self._taken[request.id] = latency
        await asyncio.sleep(latency)
        return self._words[request.id]


class Recorder(Offline):
    """The rule-based scientist, with every reply kept."""

    _words: dict[str, Reply] = PrivateAttr(default_factory=dict)

    @property
    def words(self) -> dict[str, Reply]:
        """Replies by call id."""
        return self._words

    async def complete(self, request: Request) -> Reply:
        """Answer and keep the answer."""
        reply = await super().complete(request)
        self._words[request.id] = Reply(reply.text, Usage(), reply.model)
        return reply


def society(ecosystem: Ecosystem, backend: Backend, slots: int, way: str, args: Any) -> Society:
    """Leaders found a team each within two weeks; default protocol and windows."""
    pacing: Any = "adaptive" if way == "adaptive" else "fixed"
    return Society(
        ecosystem,
        protocol=VirSci(turns=args.turns, discussion={"pacing": pacing}),
        founding=Once(count=args.teams, every=14.0 / args.teams),
        times=Times(),
        backend=backend,
        gateway=Gateway(backend, slots),
        until=args.days,
        seed=args.seed,
    )


def run(model: Society, epoch: float | None = None) -> float:
    """Wall seconds of a whole run; with ``epoch``, everybody waits at the end of each."""
    start = time.perf_counter()
    if epoch is not None:
        date = epoch
        while date < model.until:
            model.advance(date)
            model.dispatcher.settle([a for t in model.world.teams.values() for a in t.answers])
            date += epoch
    model.run_to_end()
    return time.perf_counter() - start


def measure(
    ecosystem: Ecosystem, words: dict[str, Reply], slots: int, mean: float, way: str, args: Any
) -> dict[str, Any]:
    """One row: a whole run one way, at one number of slots and one mean latency (seconds)."""
    backend = Played(mean=mean, sigma=TAIL if way == "tail" else 0.5)
    model = society(ecosystem, backend.load(words), slots, way, args)
    with SlotUse() as use:
        wall = run(model, epoch=1.0 if way == "lock-step" else None)
    bound, chain, work = lower_bound(model.log.rows, backend.seconds, slots)
    ordered = longest_chain(model.log.rows, backend.seconds)
    row = {
        "slots": "unlimited" if slots == UNLIMITED else slots,
        "read": way,
        "mean": mean,
        "calls": len(backend.seconds),
        "wall": round(wall, 2),
        "chain": round(chain, 2),
        "in order": round(ordered, 2),
        "work/slots": round(work, 2),
        "bound": "chain" if bound == chain else "work/slots",
        "ratio": round(wall / bound, 3),
        "ordered": round(wall / ordered, 3),
        "waiting": round(use.slots_over_calls(backend.seconds, slots), 3) if use.ended else "",
        "digest": digest_tables(build_tables(model.log.rows))[:12],
    }
    show(row)
    return row


def show(row: dict[str, Any]) -> None:
    """One line of the table."""
    print("  ".join(f"{value!s:>10}" for value in row.values()), flush=True)


def main() -> None:
    """Reading at decisions at 8, 16, 64 and unlimited slots; then the other ways."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="no limit of slots, lock-step too")
    parser.add_argument("--days", type=float, default=900.0)
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--rows", nargs="*", choices=ROWS, help="decisions, tail; --full: all")
    parser.add_argument("--slots", type=int, nargs="*", help="8 16 64; with --full unlimited too")
    parser.add_argument("--json", type=Path, default=Path(__file__).with_suffix(".json"))
    args = parser.parse_args()
    args.slots = args.slots or [8, 16, 64, *([UNLIMITED] if args.full else [])]
    args.rows = args.rows or list(ROWS if args.full else ROWS[:2])
    ecosystem = Synthetic(scientists=300, papers=2000).generate(args.seed)
    names = ["slots", "read", "mean", "calls", "wall", "chain", "in order", "work/slots", "bound"]
    names += ["ratio", "ordered", "waiting", "digest"]
    show(dict(zip(names, names, strict=True)))
    rows: list[dict[str, Any]] = []
    digests: dict[tuple[Any, ...], set[str]] = {}
    for way in args.rows:
        for slots in args.slots if way == "decisions" else (64,):
            sizes = args.teams, args.turns = TEAMS.get(slots, (20, 5))
            run(society(ecosystem, recorder := Recorder(), 1, way, args))
            mean = MEANS.get(way, LATENCIES.get(slots, 0.4))
            rows.append(measure(ecosystem, recorder.words, slots, mean, way, args))
            digests.setdefault((*sizes, way == "adaptive"), set()).add(rows[-1]["digest"])
    same = all(len(found) == 1 for found in digests.values())
    print("digests are equal" if same else f"DIGESTS DIFFER: {digests}")
    args.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
