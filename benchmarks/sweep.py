"""How many small societies a minute a sweep runs (H18): in one process, in two, a command each.

Societies of 300 people, once wordless (teams form and publish, nobody is asked anything) and once
with offline scientists (rule-based words, no language model), each with its own seed. They are run
as a study with one measure (``run_locally``: many runs in a process, the ecosystem read once), and,
for comparison, by ``society run`` in a process each, with the default page and measures. The table
has societies a minute, and how many times as quick the study and a second process are.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.start_up import ROOT, RUN
from virsci_society.scenarios.study.design import read_study
from virsci_society.scenarios.study.lock import open_folder
from virsci_society.scenarios.study.run_study import run_locally
from virsci_society.society.ecosystem.synthetic.synthetic import Synthetic

PEOPLE, PAPERS = 300, 900
KINDS = {"wordless": ("community/assembly", 365), "offline": ("community/closed", 60)}
"""Scenario and simulated days of each kind of society."""
STUDY = """\
study: Sweep
base: {base}
set:
  until: {days}d
  population.ecosystem: {{use: folder, path: {ecosystem}}}
  metrics: []
arms: {{one: {{}}}}
replicates: {runs}
measures: [papers]
"""


def opened(base: str, days: int, place: Path, runs: int) -> None:
    """Make the folder of a study."""
    file = place.with_suffix(".study.yaml")
    text = STUDY.format(base=base, runs=runs, days=days, ecosystem=place.parent / "ecosystem")
    file.write_text(text, encoding="utf-8")
    open_folder(read_study(file), place)


def swept(base: str, days: int, place: Path, runs: int, jobs: int) -> dict[str, float]:
    """Run a study; return seconds until its first run ended and per further run."""
    opened(base, days, place, runs)
    ended: list[float] = []
    began = time.perf_counter()
    ends = run_locally(
        place,
        list(range(runs)),
        jobs=jobs,
        on_result=lambda *_: ended.append(time.perf_counter() - began),
    )
    if not all(end.state == "done" for end in ends):
        raise SystemExit(f"a run is not done: {ends}")
    gaps = [later - before for before, later in itertools.pairwise(ended)]
    return {"first": ended[0], "each": sum(gaps) / max(len(gaps), 1)}


def by_commands(base: str, days: int, place: Path, runs: int) -> float:
    """Seconds of one command per run, in sequence."""
    began = time.perf_counter()
    for seed in range(runs):
        population: tuple[str, ...] = ("--set", "population.ecosystem.use=folder")
        population += ("--set", f"population.ecosystem.path={place.parent / 'ecosystem'}")
        more = ("--set", f"until={days}d", "--seed", str(seed), "--out", str(place / str(seed)))
        line = [sys.executable, "-c", RUN, "run", base, *population, *more]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        subprocess.run(line, check=True, env=environment, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def measure(folder: Path, kind: str, args: argparse.Namespace) -> dict[str, Any]:
    """All figures of one kind of society."""
    base = KINDS[kind]
    one = swept(*base, folder / f"{kind}-1", args.runs, 1)
    two = swept(*base, folder / f"{kind}-2", args.runs, 2)
    commands = by_commands(*base, folder / f"{kind}-commands", args.commands) / args.commands
    return {
        "kind": kind,
        "runs": args.runs,
        "a minute, one process": 60 / one["each"],
        "a minute, two processes": 60 / two["each"],
        "a minute, a command each": 60 / commands,
        "times a command each": commands / one["each"],
        "times with a second process": one["each"] / two["each"],
        "seconds until the first": one["first"],
    }


def main() -> None:
    """Print and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=12)
    parser.add_argument("--commands", type=int, default=2)
    parser.add_argument("--json", type=Path, default=Path(__file__).with_suffix(".json"))
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        Synthetic(scientists=PEOPLE, papers=PAPERS).generate(1).save(folder / "ecosystem")
        rows = [measure(folder, kind, args) for kind in KINDS]
    for figure in rows[0]:
        print(f"{figure:>36} " + " ".join(f"{_short(row[figure]):>10}" for row in rows))
    args.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


def _short(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    main()
