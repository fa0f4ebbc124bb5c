"""What the first contact costs: the short commands, the quickstart run, its page and `show`.

Processor time (user and system) of fresh processes, as a multiple of a calibration loop in plain
Python, ``sum(i * i for i in range(20_000_000))``, which is measured before each of them: on a busy
machine both take longer. The marks are multiples of that loop; for ``--help`` it is a multiple of
``import typer``. The tests bound the modules that these commands import, which does not depend on
the machine.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.machine import LOOP  # noqa: E402

RUN = (
    "import sys; from virsci_society.scenarios.cli.app import main; sys.argv[0] = 'society'; main()"
)
EIGHT_CALLS = ("--set", "protocol.team_size=2", "--set", "protocol.turns=1")
"""Settings of ``virsci/paper``: a team of two with one turn has an inference cost of 8 calls."""
TRIES = 2


def seconds(code: str, *arguments: str) -> float:
    """Processor time of a process, user and system together."""
    before = os.times()
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    # An installation has its modules compiled; without this each try would compile ours again.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    command = [sys.executable, "-c", code, *arguments]
    subprocess.run(
        command, check=True, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    after = os.times()
    user = after.children_user - before.children_user
    return user + after.children_system - before.children_system


def ratio(unit: str, code: str, *arguments: Sequence[str]) -> tuple[float, float]:
    """Least time of some tries, one for each list of arguments, and as a multiple of a unit."""
    pairs = [(seconds(unit), seconds(code, *one)) for one in arguments]
    return min(taken for _, taken in pairs), min(taken / base for base, taken in pairs)


def commands(
    runs: Sequence[str], small: Sequence[str]
) -> tuple[tuple[str, str, float, list[list[str]]], ...]:
    """Name, unit, mark, and the arguments of each try of every command.

    Args:
        runs: folders of the runs of the quickstart society, one for each try.
        small: those of the runs of eight calls.
    """
    eight = ["run", "virsci/paper", *EIGHT_CALLS]
    return (
        ("--help", "import typer", 2.0, [["--help"]] * (3 * TRIES)),
        ("check quickstart", LOOP, 0.9, [["check", "quickstart"]] * TRIES),
        ("run quickstart", LOOP, 3.0, [["run", "quickstart", "--out", one] for one in runs]),
        ("show RUN", LOOP, 0.5, [["show", one] for one in runs]),
        ("export page RUN", LOOP, 1.0, [["export", "page", one] for one in runs]),
        ("run of 8 calls", LOOP, 2.0, [[*eight, "--out", one] for one in small]),
    )


def main() -> None:
    """Print one line a command: processor time, ratio, mark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, default=Path(__file__).with_suffix(".json"))
    args = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory(prefix="start-up-") as folder:
        runs = [f"{folder}/{number}" for number in range(TRIES)]
        small = [f"{folder}/small-{number}" for number in range(TRIES)]
        for name, unit, mark, arguments in commands(runs, small):
            taken, times = ratio(unit, RUN, *arguments)
            rows.append({"command": name, "seconds": taken, "ratio": times})
            base = "loops" if unit == LOOP else f"`{unit}`"
            short = "" if times <= mark else ", short of it"
            print(f"society {name}: {taken:.2f} s, {times:.2f} {base} (mark {mark:g}{short})")
    args.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
