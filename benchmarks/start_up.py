"""How long short commands take to start: `society --help` and `society check quickstart`.

Processor time of a fresh process, the least of ten tries, in milliseconds and beside that of
`python -c pass`. The marks: a quarter of a second and one second on an ordinary machine. The tests
bound the modules that these commands import, which does not depend on the machine.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RUN = "import sys; from scenarios.cli.app import main; sys.argv[0] = 'society'; main()"
MARKS = {"--help": 0.25, "check quickstart": 1.0}
TRIES = 10


def seconds(code: str, *arguments: str) -> float:
    """Least processor time of a process, user and system together."""
    taken = []
    for _ in range(TRIES):
        before = os.times()
        command = [sys.executable, "-c", code, *arguments]
        subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        after = os.times()
        user = after.children_user - before.children_user
        taken.append(user + after.children_system - before.children_system)
    return min(taken)


def main() -> None:
    """Print one line a command."""
    bare = seconds("pass")
    print(f"python -c pass: {1000 * bare:.0f} ms")
    for command, mark in MARKS.items():
        taken = seconds(RUN, *command.split())
        short = "" if taken < mark else f"; short of its mark, {1000 * mark:.0f} ms"
        print(f"society {command}: {1000 * taken:.0f} ms, {taken / bare:.0f} times as long{short}")


if __name__ == "__main__":
    main()
