"""What one society of 10^7 people and 10^6 teams at a time would take, from measured growth.

Measured, each in a process of its own: simulated months of offline scientists (rule-based words, no
language model), once with the number of people growing and once with the number of teams. From
these: exponents, and what larger societies would take if growth goes on as measured. The last part
is arithmetic and no measurement. CPU of a call to a real client is taken from the last
``benchmarks/live.py`` (``--live``), if there was one. ``--write`` puts what is printed into
``docs/performance.md``.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import math
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.machine import busy
from benchmarks.page import DOCS, head, put
from benchmarks.scale import measured

HERE = Path(__file__).resolve().parent
PAGE, NAME = DOCS / "performance.md", "figures of a large society"
TIMES = 2
"""How often each month is simulated; the least CPU counts, because other work only adds to it."""
PEOPLE, TEAMS = (1_000, 4_000, 16_000), (100, 400)
FEW_TEAMS, SOME_PEOPLE = TEAMS[0], PEOPLE[1]
LARGE = ((10**4, 10**3), (10**5, 10**4), (10**6, 10**5), (10**7, 10**6))
GROWING = ("CPU ms a call", "search ms", "people search ms", "month peak MB", "calls", "chain")
SHOWN = ("people", "teams", "papers", *GROWING[4:], *GROWING[:4])
"""What is printed of a month; ``chain``: the most calls of which each waits for the one before."""
ANSWER_SECONDS = 10.0
"""Seconds that a model is said to take for an answer, in the part that is arithmetic."""


def months(folder: Path) -> list[dict[str, Any]]:
    """A month of each size: people grow at few teams, then teams at some people."""
    rows = []
    grid = [(people, FEW_TEAMS) for people in PEOPLE] + [(SOME_PEOPLE, TEAMS[-1])]
    for people, teams in grid:
        place = folder / str(people)
        measured("generate", people, place, teams)
        tries = [measured("month", people, place, teams) for _ in range(TIMES)]
        rows.append({"people": people, **min(tries, key=lambda row: row["CPU ms a call"])})
        print(f"a month of {people:,} people and {teams:,} teams is measured", flush=True)
    return rows


def growth(rows: list[dict[str, Any]], figure: str, over: str) -> float:
    """Exponent of a figure over people or over teams, between the smallest and the largest."""
    fixed, at = ("teams", FEW_TEAMS) if over == "people" else ("people", SOME_PEOPLE)
    some = sorted((row for row in rows if row[fixed] == at), key=lambda row: row[over])
    first, last = some[0], some[-1]
    return math.log(last[figure] / first[figure]) / math.log(last[over] / first[over])


def each(rows: list[dict[str, Any]], over: str) -> float:
    """Megabytes of memory that one more person, or one more team with its month, takes."""
    fixed, at = ("teams", FEW_TEAMS) if over == "people" else ("people", SOME_PEOPLE)
    some = sorted((row for row in rows if row[fixed] == at), key=lambda row: row[over])
    first, last = some[0], some[-1]
    return float(last["month peak MB"] - first["month peak MB"]) / (last[over] - first[over])


def extrapolated(
    rows: list[dict[str, Any]], client: dict[str, float] | None
) -> list[dict[str, Any]]:
    """What larger societies would take for a simulated month, if growth goes on as measured."""
    base = next(row for row in rows if (row["people"], row["teams"]) == (SOME_PEOPLE, FEW_TEAMS))
    calls_a_team = base["calls"] / base["teams"]
    told = []
    for people, teams in LARGE:
        cpu = base["CPU ms a call"]
        for over, many in (("people", people), ("teams", teams)):
            cpu *= (many / base[over]) ** max(growth(rows, "CPU ms a call", over), 0.0)
        calls = calls_a_team * teams
        fixed = base["month peak MB"] - each(rows, "people") * base["people"]
        fixed -= each(rows, "teams") * base["teams"]
        row = {
            "people": people,
            "teams": teams,
            "GB of people": each(rows, "people") * people / 1000,
            "GB of teams and calls": each(rows, "teams") * teams / 1000,
            "GB": (fixed + each(rows, "people") * people + each(rows, "teams") * teams) / 1000,
            "calls": calls,
            "CPU ms a call": cpu,
            "hours of the clock": calls * cpu / 3.6e6,
            "slots that it can fill": ANSWER_SECONDS * 1000 / cpu,
            "hours of its longest chain": base["chain"] * ANSWER_SECONDS / 3600,
        }
        if client is not None:
            live = cpu + client["client"] + client["journal"]
            row["slots with a client"] = ANSWER_SECONDS * 1000 / live
            row["hours with a client"] = calls * live / 3.6e6
        told.append(row)
    return told


def client_of(path: Path) -> dict[str, float] | None:
    """Milliseconds of CPU a call of the openai client and of the journal, as last measured."""
    if not path.is_file():
        return None
    rows = json.loads(path.read_text(encoding="utf-8"))
    split = next(row["split"] for row in rows if row["row"].startswith("society through openai"))
    return {name: split[name] for name in ("client", "journal")}


def table(rows: list[dict[str, Any]]) -> None:
    """Print a figure a line and a row a column."""
    for name in rows[0]:
        if name != "told":
            print(f"{name:>27} " + " ".join(f"{_short(row[name]):>12}" for row in rows))
    print()


def _short(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return str(value)
    return f"{value:,.0f}" if abs(value) >= 100 or isinstance(value, int) else f"{value:.3g}"


def report(rows: list[dict[str, Any]], large: list[dict[str, Any]]) -> None:
    """Print what was measured, how it grows, and what follows for larger societies."""
    print("Measured: a month of offline scientists")
    table([{name: row[name] for name in SHOWN} for row in rows])
    for over in ("people", "teams"):
        slopes = ", ".join(f"{name} {growth(rows, name, over):.2f}" for name in GROWING)
        print(f"exponents over {over}: {slopes}")
    print(f"memory: {1000 * each(rows, 'people'):.1f} kB a person,", end=" ")
    print(f"{1000 * each(rows, 'teams'):.0f} kB a team with the calls of its month")
    print()
    print(f"Arithmetic: a month of larger societies, {ANSWER_SECONDS:.0f} s an answer")
    table(large)


def main() -> None:
    """Measure, fit, and say what larger societies would take."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--folder", type=Path, help="keeps the ecosystems for the next time")
    parser.add_argument("--live", type=Path, default=HERE / "results" / "live.json")
    parser.add_argument("--write", action="store_true", help=f"put the figures into {PAGE.name}")
    parser.add_argument("--json", type=Path, default=Path(__file__).with_suffix(".json"))
    args = parser.parse_args()
    load = busy()
    with tempfile.TemporaryDirectory() as passing:
        rows = months(args.folder or Path(passing))
    large = extrapolated(rows, client_of(args.live))
    load = max(load, busy())
    with contextlib.redirect_stdout(io.StringIO()) as said:
        report(rows, large)
    print(f"\n{head(load)}\n\n{said.getvalue()}")
    if "hours with a client" not in large[0]:
        print(f"no {args.live}: what a client adds to a call is not counted")
    if args.write:
        text = f"{head(load)}\n\n```text\n{said.getvalue().strip()}\n```"
        put(PAGE, NAME, text)
    told = {"months": rows, "large": large}
    args.json.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
