"""Where the processor time of a first run goes: imports, ecosystem, society, measures, page.

Each command runs in a process of its own, whose stack is looked at 500 times for each second of
processor time (SIGPROF). A sample counts to the imports if any module is being imported, else to
the first of ``PARTS`` whose function is on the stack. Samples slow a process by a few per cent.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.start_up import commands  # noqa: E402

PROFILED = ("run quickstart", "export page RUN", "run of 8 calls")
PARTS = {
    "ecosystem": "build_ecosystem_of",
    "simulation": "run_to_end",
    "measures": "measure_all",
    "page": "write_page",
    "record of the run": "record_run",
    "other files of the run": "finish_run",
    "reading the scenario": "load_scenario",
}
"""What a sample counts to, and the function by which it is known, innermost parts first."""
SAMPLED = """
import json, signal, sys
PARTS = json.loads(sys.argv.pop(1))
found = []

def look(_, frame):
    names, package, importing = set(), "", False
    while frame is not None:
        file, name = frame.f_code.co_filename, frame.f_code.co_name
        importing = importing or "importlib" in file
        if name == "<module>" and "site-packages" in file and not package:
            package = file.partition("site-packages")[2].strip("/\\\\").split("/")[0]
        names.add(name)
        frame = frame.f_back
    part = next((part for part, name in PARTS.items() if name in names), "the rest")
    whose = package or "our own and the standard library"
    found.append(f"import of {whose}" if importing else part)

signal.signal(signal.SIGPROF, look)
signal.setitimer(signal.ITIMER_PROF, 0.002, 0.002)
from virsci_society.scenarios.cli.app import main
out, sys.argv[0] = sys.stdout, "society"
try:
    main()
except SystemExit:
    pass
signal.setitimer(signal.ITIMER_PROF, 0)
print(json.dumps(found), file=sys.stderr)
"""


def sampled(*arguments: str) -> Counter[str]:
    """The samples of a command, counted by part."""
    done = subprocess.run(
        [sys.executable, "-c", SAMPLED, json.dumps(PARTS), *arguments],
        check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    return Counter(json.loads(done.stderr.splitlines()[-1]))


def main() -> None:
    """Print the shares of three commands, parts of less than 2 % together."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, default=Path(__file__).with_suffix(".json"))
    args = parser.parse_args()
    told = {}
    with tempfile.TemporaryDirectory(prefix="start-up-") as folder:
        runs, small = [f"{folder}/run"], [f"{folder}/small"]
        arguments = {name: tries[0] for name, _, _, tries in commands(runs, small)}
        for name in PROFILED:
            counts = sampled(*arguments[name])
            whole = counts.total()
            told[name] = {part: count / whole for part, count in counts.most_common()}
            print(f"society {name}: {whole} samples")
            few = sum(share for share in told[name].values() if share < 0.02)
            for part, share in told[name].items():
                if share >= 0.02:
                    print(f"  {share:5.1%}  {part}")
            print(f"  {few:5.1%}  parts below 2 %")
    args.json.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
