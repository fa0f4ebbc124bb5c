"""The same work through this project and through other systems, in one run.

A server on loopback (tests/faultserver) answers every call after 200 ms; at most 64 calls are made
at a time. Each of 64 agents makes six calls, one after another (``--work 64x6``).
Each system is driven by a script in this folder, through its public interface, in a process and a
virtual environment of its own (``--environments``), which the first run makes: it takes minutes and
needs PyPI. Printed are the share of the ideal throughput, CPU and memory of the process, and how
many calls a run that is killed half-way and started again pays for a second time.

``--full`` is the long form: 64 agents with 80 calls, 1,000 agents with four, and a society of
VirSci teams. ``--work 64x20 1000x2`` lies between. ``--write`` puts the table into
``docs/contributing/performance.md``.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.machine import load  # noqa: E402
from benchmarks.page import DOCS, head, put  # noqa: E402
from benchmarks.peers.environments import CannotInstall, cache_folder, python_of  # noqa: E402
from benchmarks.peers.registry import PEERS, Peer  # noqa: E402
from benchmarks.peers.results import Row, lines, paid_again, row_of  # noqa: E402
from tests.faultserver import FaultServer, Plan  # noqa: E402

LATENCY, SLOTS = 0.2, 64
Work = tuple[int, int]
"""Number of agents, and calls of each."""
SHORT: list[Work] = [(64, 6)]
LONG: list[Work] = [(64, 80), (1000, 4)]
PATIENCE, LONG_PATIENCE = 60.0, 600.0
"""Seconds after which a run is given up, in the short form and else."""
PAGE = DOCS / "contributing" / "performance.md"
NAME = "table of the peers"


class Failed(Exception):
    """Why a run has no figures."""


def read_work(text: str) -> Work:
    """Agents and calls as the command line states them: ``64x80``.

    Raises:
        argparse.ArgumentTypeError: it is stated otherwise.
    """
    agents, _, calls = text.partition("x")
    if not (agents.isdecimal() and calls.isdecimal() and int(agents) and int(calls)):
        raise argparse.ArgumentTypeError(f"{text!r}: expected agents and calls of each, as 64x80")
    return int(agents), int(calls)


def command(peer: Peer, python: Path, url: str, work: Work, folder: Path) -> list[str]:
    """The command line of one run."""
    numbers = {"agents": work[0], "calls": work[1], "slots": SLOTS}
    given = {"url": url, "folder": folder, "protocol": peer.protocol, **numbers}
    options = [part for name, value in given.items() for part in (f"--{name}", str(value))]
    return [str(python), str(HERE / peer.adapter), *options]


def start(line: list[str], output: Path) -> subprocess.Popen[bytes]:
    """Start a run; what it prints goes into a file."""
    with output.open("wb") as file:
        return subprocess.Popen(line, stdout=file, stderr=subprocess.STDOUT, cwd=output.parent)


def finish(process: subprocess.Popen[bytes], output: Path, patience: float) -> dict[str, Any]:
    """Wait for a run and read its figures.

    Raises:
        Failed: it took too long, or ended with an error.
    """
    try:
        code = process.wait(patience)
    except subprocess.TimeoutExpired:
        raise Failed(f"not finished in {patience:.0f} s") from None
    finally:
        end(process)
    said = output.read_text(encoding="utf-8", errors="replace").splitlines()
    if code:
        raise Failed(f"failed: {(said or ['without a word'])[-1][:100]}")
    figures: dict[str, Any] = json.loads(next(line for line in said[::-1] if line[:1] == "{"))
    return figures


def end(process: subprocess.Popen[bytes]) -> None:
    """Kill a run, if it is still there."""
    process.kill()
    process.wait()


def measure(peer: Peer, python: Path, server: FaultServer, work: Work, patience: float) -> Row:
    """One run from start to end."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        line = command(peer, python, server.url, work, folder / "kept")
        figures = finish(start(line, folder / "output.txt"), folder / "output.txt", patience)
        answered = server.counts()["answers"]
    if not answered:
        raise Failed("made no call")
    return row_of(peer.title, work[0], SLOTS, LATENCY, answered, figures)


def kill_half_way(
    peer: Peer, python: Path, server: FaultServer, row: Row, work: Work, patience: float
) -> Row:
    """Kill a run when half of its calls are answered, start it again, and count."""
    whole = row.calls or 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        line = command(peer, python, server.url, work, folder / "kept")
        server.reset()
        process = start(line, folder / "killed.txt")
        last = time.monotonic() + patience
        while server.counts()["answers"] < whole / 2 and process.poll() is None:
            if time.monotonic() > last:
                break
            time.sleep(0.05)
        end(process)
        before = server.counts()["answers"]
        finish(start(line, folder / "output.txt"), folder / "output.txt", patience)
        after = server.counts()["answers"]
    return row._replace(again=paid_again(before, after, whole), before=before)


def rows_of(peer: Peer, args: argparse.Namespace, server: FaultServer) -> list[Row]:
    """All rows of one system."""
    patience = PATIENCE if args.work == SHORT else LONG_PATIENCE
    try:
        python = python_of(peer, args.environments)
    except CannotInstall as reason:
        return [Row(peer.title, "", reason=str(reason))]
    rows: list[Row] = []
    # A society of VirSci says itself how many calls its teams make.
    for work in args.work if peer.protocol == "chain" else args.work[:1]:
        try:
            row = measure(peer, python, server, work, patience)
            if not rows:
                row = kill_half_way(peer, python, server, row, work, patience)
        except Failed as reason:
            row = Row(peer.title, f"{work[0]} x {work[1]}", reason=str(reason))
        print(lines([row])[-1], flush=True)
        rows.append(row)
    return rows


def main() -> None:
    """Measure every system and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="the long form")
    parser.add_argument("--work", nargs="+", type=read_work, metavar="AGENTSxCALLS")
    names = [peer.name for peer in PEERS]
    parser.add_argument("--only", nargs="+", choices=names, default=names, metavar="SYSTEM")
    parser.add_argument("--environments", type=Path, default=cache_folder(), metavar="DIR")
    parser.add_argument("--write", action="store_true", help=f"put the table into {PAGE.name}")
    parser.add_argument("--json", type=Path, default=HERE.parent / "peers.json")
    args = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    args.work = args.work or (LONG if args.full else SHORT)
    before, rows = load().busy, []
    with FaultServer(Plan(latency=LATENCY)) as server:
        for peer in PEERS:
            if peer.name in args.only and (args.full or not peer.long_only):
                rows += rows_of(peer, args, server)
    text = f"{head(max(before, load().busy))}\n\n" + "".join(f"{line}\n" for line in lines(rows))
    print(f"\n{text}")
    args.json.write_text(json.dumps([row._asdict() for row in rows], indent=1), "utf-8")
    if args.write:
        put(PAGE, NAME, text)


if __name__ == "__main__":
    main()
