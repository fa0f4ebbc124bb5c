"""The machine of a benchmark: what it is, and whether other work was done on it meanwhile.

``python benchmarks/machine.py`` prints how near every processor comes to a loop's own processor
time; 1 is an idle machine.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from pathlib import Path
from statistics import mean
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
LOOP = "sum(i * i for i in range(20_000_000))"
"""The calibration loop: about a second of plain Python."""
TIMED = f"""
import os, time
def cpu(): t = os.times(); return t.user + t.system
wall, before = time.perf_counter(), cpu()
{LOOP}
print(time.perf_counter() - wall, cpu() - before)
"""
TOO_BUSY = 1.15
"""Wall time over processor time of the loop from which on timings are not to be believed."""


class Load(NamedTuple):
    """Times of the calibration loop, run on all processors at once."""

    busy: float
    """Largest wall time over CPU time: 1 on an idle machine, 2 if other work has half of it."""
    loop: float
    """CPU seconds of one loop, on average."""


def load() -> Load:
    """Run the calibration loop once on each processor."""
    command = [sys.executable, "-c", TIMED]
    loops = [
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        for _ in range(os.cpu_count() or 1)
    ]
    times = [tuple(map(float, loop.communicate()[0].split())) for loop in loops]
    return Load(max(wall / cpu for wall, cpu in times), mean(cpu for _, cpu in times))


def describe() -> dict[str, object]:
    """Processor, number of processors, Python, system, and the commit that was measured."""
    return {
        "processor": _processor(),
        "processors": os.cpu_count(),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "commit": _git("rev-parse", "--short=12", "HEAD"),
        "changed files": len((_git("status", "--porcelain") or "").splitlines()),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor())


def _git(*arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


if __name__ == "__main__":
    found = load()
    told = {"busy": round(found.busy, 2), "seconds of a loop": round(found.loop, 2)}
    print(json.dumps({**describe(), **told}, indent=1))
