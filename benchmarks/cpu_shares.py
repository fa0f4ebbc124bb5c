"""Where the CPU time goes in the benchmarks that miss their marks.

A process is interrupted after every two milliseconds of CPU time. Each sample counts for the
package of this project whose function is innermost on the stack, with the libraries that it calls,
or for *imports* while a module is imported. ``--write`` puts the table into
``docs/contributing/performance.md``.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType

os.environ.setdefault("OMP_NUM_THREADS", "1")
ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

INTERVAL = 0.002
LARGEST = 8
"""Packages of a row; the smaller ones are added up."""
NAME = "table of CPU shares"
IMPORTS, OTHER, SMALLER = "imports", "Python", "the others"


def sampled(work: Callable[[], object]) -> Counter[str]:
    """Samples of CPU time by package while a function runs."""
    shares: Counter[str] = Counter()

    def count(_signal: int, frame: FrameType | None) -> None:
        shares[package(frame)] += 1

    signal.signal(signal.SIGPROF, count)
    signal.setitimer(signal.ITIMER_PROF, INTERVAL, INTERVAL)
    try:
        work()
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return shares


def package(frame: FrameType | None) -> str:
    """The package to which a sample with this innermost frame belongs."""
    found = OTHER
    while frame is not None:
        name = frame.f_code.co_filename
        if name.startswith("<frozen importlib"):
            return IMPORTS
        if found == OTHER and name.startswith(f"{ROOT}/") and "site-packages" not in name:
            parts = Path(name).relative_to(ROOT).parts[:-1]
            found = "/".join(part for part in parts if part != "virsci_society")
        frame = frame.f_back
    return found


def eight_calls(folder: Path) -> Counter[str]:
    """A run of eight calls, from start to page."""
    from benchmarks.start_up import EIGHT_CALLS

    def command() -> None:
        from virsci_society.scenarios.cli.app import main

        sys.argv = ["society", "run", "virsci/paper", *EIGHT_CALLS, "--out", str(folder / "run")]
        try:
            main()
        except SystemExit as end:
            if end.code:
                raise

    return sampled(command)


def replay(folder: Path) -> Counter[str]:
    """The run of ``resume.py`` a second time, from its journal."""
    from benchmarks.resume import society
    from virsci_society.agents.journal.journal import Journal

    def run() -> None:
        journal = Journal(folder / "journal.sqlite")
        counted.update(sampled(society(journal, 90.0).run_to_end))
        journal.close()

    counted: Counter[str] = Counter()
    run()
    counted.clear()
    run()
    return counted


def events(_folder: Path) -> Counter[str]:
    """The waiting teams of ``kernel.py``."""
    from benchmarks.kernel import Patience, society
    from virsci_society.agents.offline.backend import Offline

    model = society(5_000, Patience(waits=100), Offline())
    model.advance(1.0)
    counted = sampled(lambda: model.advance(99.0))
    model.close()
    return counted


def sweep(folder: Path) -> Counter[str]:
    """Twelve runs of ``sweep.py`` with offline scientists, after a first one."""
    from benchmarks.sweep import KINDS, PAPERS, PEOPLE, opened
    from virsci_society.scenarios.runs.execute import SharedResources
    from virsci_society.scenarios.study.run_one import Opened, run_one
    from virsci_society.society.ecosystem.synthetic.synthetic import Synthetic

    Synthetic(scientists=PEOPLE, papers=PAPERS).generate(1).save(folder / "ecosystem")
    study = folder / "sweep"
    opened(*KINDS["offline"], study, 13)
    shared, resources = Opened(study, trust=False), SharedResources()

    def runs(numbers: range) -> None:
        for number in numbers:
            run_one(study, number, opened=shared, resources=resources)

    # Here and not in the thread of a study, in which signals do not arrive.
    runs(range(1))
    return sampled(lambda: runs(range(1, 13)))


ROWS = {"run of 8 calls": eight_calls, "replay": replay, "events": events, "sweep, offline": sweep}


def shares(name: str) -> dict[str, float]:
    """Percentages of a row, measured in a process of its own, the largest first."""
    command = [sys.executable, __file__, "--one", name]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    counted = Counter(json.loads(done.stdout.splitlines()[-1]))
    total = counted.total()
    largest = dict(counted.most_common(LARGEST))
    largest[SMALLER] = total - sum(largest.values())
    return {where: 100 * samples / total for where, samples in largest.items()}


def main() -> None:
    """Print the table of all rows, or write it."""
    from benchmarks.page import DOCS, head, put

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--one", choices=ROWS, help=argparse.SUPPRESS)
    parser.add_argument("--write", action="store_true", help="put the table into the docs")
    args = parser.parse_args()
    if args.one:
        with tempfile.TemporaryDirectory() as folder:
            print(json.dumps(ROWS[args.one](Path(folder))))
        return
    lines = ["| benchmark | % of CPU time |", "| --- | --- |"]
    for name in ROWS:
        cells = (f"`{where}` {share:.0f}" for where, share in shares(name).items())
        lines.append(f"| {name} | {', '.join(cells)} |")
    table = "\n".join(lines)
    print(table)
    if args.write:
        put(DOCS / "contributing" / "performance.md", NAME, f"{head()}\n\n{table}")


if __name__ == "__main__":
    main()
