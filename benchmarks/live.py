"""What a live call costs, and how near a run through real HTTP comes to bare clients.

A server on loopback (tests/faultserver, driven by the rule-based scientists: no language model)
answers every request after 200 ms. 64 teams run against it with 64 slots, through litellm and
through our own client; in the same run bare aiohttp and bare litellm send the requests of that
society (messages, sampling, schema), 64 at a time. The table has the share of ideal throughput
(calls x latency / slots over wall time) and the CPU time of a call, split into client (the time of
the bare client), simulation (the main thread, on which the clock runs) and the rest (prompts,
slots, budget, journal).

A bare client always has a next request. 64 teams do not always have 64 questions, so their lower
bound is printed, too: the longest chain of dependent calls, or the work over the slots. Marks count
only the time in which a request waits for a slot: calls ended in that time x latency / (slots x
that time). With 160 teams and one turn a stage this is a larger part of a run.

Marks: throughput through litellm at least 0.85, through `openai` at least 0.93 of that of the bare
client; CPU of a call through litellm at most 1.25 of bare litellm; simulation, gateway and journal
together at most 1 thousandth of a calibration loop a call.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
HERE = Path(__file__).resolve()
sys.path.insert(0, str(HERE.parents[1]))

LATENCY, SLOTS = 0.2, 64
SHORT_ROWS = (
    *("aiohttp", "litellm"),
    *("society through openai, many teams", "society through litellm, many teams"),
)
ROWS = (
    *("aiohttp", "litellm"),
    *("society through openai", "society through litellm"),
    *("society through openai, many teams", "society through litellm, many teams"),
)
TEAMS = {"many teams": (160, 1)}
"""Teams and turns of the rows in which requests wait for slots most of the time."""


def society(backend: Any, folder: Path | None, args: argparse.Namespace) -> Any:
    """64 leaders found a team each within two weeks; default protocol and windows."""
    from virsci_society.agents.gateway.gateway import Gateway
    from virsci_society.agents.journal.journal import Journal
    from virsci_society.protocols.virsci.protocol import VirSci
    from virsci_society.society.ecosystem.synthetic.synthetic import Synthetic
    from virsci_society.society.formation.founding import Once
    from virsci_society.society.kernel.durations import Times
    from virsci_society.society.model import Society

    journal = None if folder is None else Journal(folder / "journal.sqlite")
    return Society(
        Synthetic(scientists=400, papers=1500).generate(1),
        protocol=VirSci(turns=args.turns),
        founding=Once(count=args.teams, every=14.0 / args.teams),
        times=Times(),
        backend=backend,
        gateway=Gateway(backend, SLOTS, journal),
        until=args.days,
        seed=1,
    )


def requests(args: argparse.Namespace) -> list[dict[str, Any]]:
    """The first thousand requests of the society, in order: messages, sampling and schema."""
    from virsci_society.agents.backends.openai import OpenAI
    from virsci_society.agents.offline.backend import Offline
    from virsci_society.agents.prompts.request import Reply, Request

    bodies: list[dict[str, Any]] = []
    model = OpenAI(model=args.model, structured="on")

    class Recorder(Offline):
        async def complete(self, request: Request) -> Reply:
            if len(bodies) < 1000:
                bodies.append(model.request_fields(request) | {"max_tokens": model.max_tokens})
            return await super().complete(request)

    society(Recorder(), None, args).run_to_end()
    return bodies


def bare(name: str, url: str, args: argparse.Namespace) -> dict[str, Any]:
    """Send the requests of the society with a bare client, 64 at a time."""
    bodies = requests(args)

    async def all_calls() -> dict[str, Any]:
        send, close = CLIENTS[name](url)
        waiting = list(range(args.calls))

        async def one_slot() -> None:
            while waiting:
                await send(bodies[waiting.pop() % len(bodies)])

        await asyncio.gather(*(send(bodies[0]) for _ in range(SLOTS)))
        began, cpu = time.perf_counter(), time.process_time()
        await asyncio.gather(*(one_slot() for _ in range(SLOTS)))
        wall, spent = time.perf_counter() - began, time.process_time() - cpu
        await close()
        return {"row": name, "calls": args.calls, "wall": wall, "cpu": spent}

    return asyncio.run(all_calls())


def _aiohttp(url: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    import aiohttp

    session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0))

    async def send(body: Any) -> None:
        body = {"model": "bench", **body}
        async with session.post(f"{url}/chat/completions", json=body) as response:
            await response.json()

    return send, session.close


def _litellm(url: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    import litellm

    litellm.suppress_debug_info = True

    async def send(body: Any) -> None:
        await litellm.acompletion(
            model="openai/bench",
            **body,
            api_base=url,
            api_key="none",
            num_retries=0,
            max_retries=0,
            timeout=60,
        )

    async def close() -> None:
        return None

    return send, close


CLIENTS: dict[str, Callable[[str], tuple[Callable[..., Any], Callable[..., Any]]]] = {
    "aiohttp": _aiohttp,
    "litellm": _litellm,
}


def living(row: str, url: str, args: argparse.Namespace) -> dict[str, Any]:
    """A whole run of the society through one of the backends, journal on disk."""
    from benchmarks.critical_path import lower_bound
    from benchmarks.slot_use import SlotUse
    from virsci_society.agents.gateway.backend import Backend

    backend: Backend
    if row.endswith("openai"):
        from virsci_society.agents.backends.openai import OpenAI

        backend = OpenAI(model=args.model, api_base=url, structured="on")
    else:
        from virsci_society.agents.backends.litellm import LiteLLM

        backend = LiteLLM(model=f"openai/{args.model}", api_base=url, structured="on")
        backend.takes_schema()  # imports litellm, which is not part of a call
    with tempfile.TemporaryDirectory() as folder:
        model = society(backend, Path(folder), args)
        clocks: dict[str, float] = {}
        seen: dict[str, int] = {}

        def look(_: Any) -> None:
            for thread in threading.enumerate():
                if thread.ident is not None:
                    seen.setdefault(thread.name, time.pthread_getcpuclockid(thread.ident))
            for name, clock in seen.items():
                try:
                    clocks[name] = time.clock_gettime(clock)
                except OSError:
                    continue

        look(None)
        before, cpu = dict(clocks), time.process_time()
        with SlotUse() as use:
            began = time.perf_counter()
            model.run_to_end(look)
            wall, spent = time.perf_counter() - began, time.process_time() - cpu
        calls = len(model.log.rows["calls"])
        journal = model.dispatcher.gateway.journal
        commits = journal.commits
        journal.close()
    rows, waited = model.log.rows, dict.fromkeys(_ids(model.log.rows), LATENCY)
    bound = lower_bound(rows, waited, SLOTS)[0]
    used = {name: clocks[name] - before.get(name, 0.0) for name in clocks}
    return {
        "row": row,
        "calls": calls,
        "wall": wall,
        "bound": round(bound, 1),
        "cpu": spent,
        "clock": used.get("MainThread", 0.0),
        "commits": commits,
        "waited": round(use.waited, 1),
        "share while waiting": round(1 / use.slots_over_calls(waited, SLOTS), 3)
        if use.ended
        else 0,
    }


def _ids(rows: Any) -> list[str]:
    """Ids of all calls of a run."""
    return [row[0] for row in rows["calls"]]


def measure(row: str, url: str, args: argparse.Namespace) -> dict[str, Any]:
    """One row in a process of its own."""
    command = [sys.executable, HERE, "--row", row.partition(", ")[0], "--url", url]
    teams, turns = TEAMS.get(row.partition(", ")[2], (args.teams, args.turns))
    options = {"calls": args.calls, "teams": teams, "turns": turns, "days": args.days}
    for name, value in {**options, "model": args.model}.items():
        command += [f"--{name}", str(value)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    figures["ideal share"] = round(figures["calls"] * LATENCY / SLOTS / figures["wall"], 3)
    figures["ms a call"] = round(1000 * figures["cpu"] / figures["calls"], 3)
    return figures


def split(row: dict[str, Any], client: dict[str, Any]) -> dict[str, Any]:
    """CPU of one call of the society, in milliseconds, by part of the program."""
    per = 1000 / row["calls"]
    simulation = row["clock"] * per
    rest = row["ms a call"] - simulation - client["ms a call"]
    return {
        "client": round(client["ms a call"], 3),
        "gateway, prompts and journal": round(rest, 3),
        "simulation": round(simulation, 3),
        "ours": round(simulation + rest, 3),
        "of the bare client": round(row["share while waiting"] / client["ideal share"], 3),
    }


def main() -> None:
    """Measure every row and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--row")
    parser.add_argument("--url", default="")
    parser.add_argument("--model", default="bench")
    parser.add_argument("--full", action="store_true", help="few teams too")
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--teams", type=int, default=64)
    parser.add_argument("--turns", type=int, default=2)
    parser.add_argument("--days", type=float, default=400.0)
    parser.add_argument("--json", type=Path, default=HERE.with_suffix(".json"))
    args = parser.parse_args()
    if args.row:
        one = bare if args.row in CLIENTS else living
        print(json.dumps(one(args.row, args.url, args)))
        return
    from tests.faultserver import FaultServer, Plan

    rows: dict[str, dict[str, Any]] = {}
    with FaultServer(Plan(latency=LATENCY)) as server:
        for name in ROWS if args.full else SHORT_ROWS:
            rows[name] = {**measure(name, server.url, args), "row": name}
            row = rows[name]
            print(
                f"{name:36} {row['calls']:6} calls {row['wall']:7.1f} s  "
                f"{row['ideal share']:.3f} of ideal  {row['ms a call']:.2f} ms CPU a call"
                + (
                    f"  (its own bound: {row['bound']} s; {row['share while waiting']:.3f} of "
                    f"ideal in the {row['waited']} s when requests waited for a slot)"
                    if "bound" in row
                    else ""
                ),
                flush=True,
            )
    for name in (name for name in rows if name.startswith("society")):
        client = "aiohttp" if "openai" in name else "litellm"
        rows[name]["split"] = split(rows[name], rows[client])
        parts = ", ".join(f"{what} {value}" for what, value in rows[name]["split"].items())
        print(f"{name}: {parts}")
    args.json.write_text(json.dumps(list(rows.values()), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
