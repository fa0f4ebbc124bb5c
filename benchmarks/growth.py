"""How CPU and memory grow with people, teams, authors of a paper, papers, and runs of a study.

Each row of the table is one command at increasing sizes, all else equal, on invented papers. CPU
time (user and system) and peak memory include child processes, and are meaningful on a busy machine
too. The exponent is the slope between the two largest sizes on logarithmic axes: 1 is linear, 0 is
constant. Fixed costs such as imports lower it; *net* is the same slope after subtracting the size
and CPU time of the smallest case.

The short form takes about five minutes on an idle processor; ``--full`` goes to 10^6 people and
papers, 10^5 teams, 3,000 authors and 10^4 runs, and takes an hour, 10 GB of memory and 10 GB of
disk. ``--write`` puts the table into ``docs/contributing/performance.md``.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

from benchmarks.page import DOCS, head, put
from benchmarks.start_up import ROOT, RUN

PAGE = DOCS / "contributing" / "performance.md"
NAME = "table of growth"
HEADS = ("what grows", "sizes", "CPU s", "peak MB", "exponent of CPU", "net", "of memory")
SIZES = (1_000, 10_000, 100_000)
AUTHORS, REFERENCES, WORDS = 3, 4, 40
"""Defaults of a paper; words are those of its abstract."""
VOCABULARY, FIRST_YEAR, LAST_YEAR = 5_000, 1996, 2015
BLOCK = 10_000


def invented(papers: int, authors: int) -> Iterator[dict[str, Any]]:
    """Papers whose topics share words, and whose co-authors have neighbouring numbers."""
    everybody = max(papers, 10 * authors)
    rng = np.random.default_rng(1)
    letters = rng.choice(list("abcdeilmnorstu"), (VOCABULARY, 7))
    words = np.array(["".join(row) for row in letters])
    for start in range(0, papers, BLOCK):
        count = min(BLOCK, papers - start)
        topics = rng.integers(50, size=count)
        drawn = (rng.zipf(1.3, (count, WORDS)) + 97 * topics[:, None]) % VOCABULARY
        places = rng.integers(5 * authors, size=(count, authors))
        places += rng.integers(everybody, size=(count, 1))
        cited = rng.integers(papers, size=(count, REFERENCES))
        for row in range(count):
            abstract = words[drawn[row]].tolist()
            people = [f"p{one % everybody}" for one in dict.fromkeys(places[row].tolist())]
            yield {
                "id": f"w{start + row}",
                "title": " ".join(abstract[:6]),
                "abstract": " ".join(abstract),
                "year": FIRST_YEAR + int(topics[row] + row) % (LAST_YEAR - FIRST_YEAR),
                "authors": [{"id": one, "name": one} for one in people],
                "references": [f"w{one}" for one in cited[row].tolist()],
            }


class Place:
    """The folder of papers, ecosystems and runs; methods return the arguments of a command."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def build(self, papers: int, authors: int = AUTHORS) -> list[str]:
        """Build an ecosystem of this many papers, and as many people or ten times the authors."""
        file = self.path / f"papers-{papers}-{authors}.jsonl"
        if not file.exists():
            with file.open("w", encoding="utf-8") as out:
                out.writelines(json.dumps(one) + "\n" for one in invented(papers, authors))
        command = ["ecosystem", "build", "jsonl", str(file), "--boundary", str(LAST_YEAR - 3)]
        return [*command, "--max-authors", "3000", "--out", str(file.with_suffix(""))]

    def ecosystem(self, people: int) -> str:
        """The folder of an ecosystem, built unless it exists."""
        command = self.build(people)
        if not Path(command[-1]).exists():
            measured(command)
        return command[-1]

    def run(self, base: str, people: int, days: int, founding: str) -> list[str]:
        """Run a society of the given number of people."""
        out = self.path / f"run-{len(list(self.path.iterdir()))}"
        keys = ("population.ecosystem.use=folder", f"until={days}d", founding)
        keys += (f"population.ecosystem.path={self.ecosystem(people)}",)
        return ["run", base, *(word for key in keys for word in ("--set", key)), "--out", str(out)]

    def study(self, runs: int) -> list[str]:
        """Run a study of small societies in two arms."""
        ecosystem = {"use": "folder", "path": self.ecosystem(300)}
        design = {
            "study": f"growth-{runs}",
            "base": "community/assembly",
            "set": {"until": "30d", "population.ecosystem": ecosystem, "metrics": []},
            "arms": {"few": {"founding.teams_per_year": 40}, "many": {}},
            "replicates": runs // 2,
            "measures": ["papers"],
        }
        file = self.path / f"growth-{runs}.yaml"
        file.write_text(json.dumps(design), encoding="utf-8")
        return ["study", "run", str(file), "--jobs", "1", "--out", str(file.with_suffix(""))]


class Growth(NamedTuple):
    """A row of the table: label, sizes, further sizes of ``--full``, and the command for a size."""

    what: str
    sizes: tuple[int, ...]
    more: tuple[int, ...]
    command: Callable[[Place, int], list[str]]


def assembly(place: Place, people: int, teams: int) -> list[str]:
    """A wordless society over a year."""
    return place.run("community/assembly", people, 365, f"founding.teams_per_year={teams}")


def closed(place: Place, people: int, teams: int) -> list[str]:
    """A society with dialogue by rule-based scientists; all teams start on the first day."""
    once = f"founding={{use: once, count: {teams}, max_teams: 1}}"
    return place.run("community/closed", people, 60, once)


ROWS = (
    Growth("papers, built", SIZES, (10**6,), Place.build),
    Growth("authors of 30 papers, built", (2, 300, 1_000), (3_000,), lambda p, n: p.build(30, n)),
    Growth("people, 300 teams", SIZES, (10**6,), lambda p, n: assembly(p, n, 300)),
    Growth("people, 30 teams with words", SIZES, (10**6,), lambda p, n: closed(p, n, 30)),
    Growth("teams a year", (10, 1_000, 10_000), (10**5,), lambda p, n: assembly(p, 10_000, n)),
    Growth("teams with words", (10, 100, 300), (3_000,), lambda p, n: closed(p, 10_000, n)),
    Growth("runs of a study", (10, 100, 300), (1_000, 10_000), Place.study),
)


def measured(arguments: list[str]) -> tuple[float, float]:
    """CPU seconds and peak MB of a command and its children."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", RUN, *arguments]
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(command, env=environment, stdout=output, stderr=output)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            output.seek(0)
            raise SystemExit(f"{' '.join(arguments)}:\n{output.read().decode()}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def slope(sizes: Sequence[float], figures: Sequence[float]) -> float:
    """The exponent of growth between the last two sizes; 0 if the figure does not grow."""
    before, after = figures[-2:]
    return math.log(after / before) / math.log(sizes[-1] / sizes[-2]) if after > before > 0 else 0.0


def table_row(what: str, sizes: list[int], cpu: list[float], peak: list[float]) -> tuple[str, ...]:
    """The cells of a row."""
    net = slope([size - sizes[0] for size in sizes], [seconds - cpu[0] for seconds in cpu])
    exponents = (slope(sizes, cpu), net, slope(sizes, peak))
    lists = ((f"{size:,}" for size in sizes), (f"{seconds:,.1f}" for seconds in cpu))
    lists += ((f"{size:,.0f}" for size in peak),)
    return (what, *map(" / ".join, lists), *(f"{exponent:.2f}" for exponent in exponents))


def main() -> None:
    """Measure every row, and print or write the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--full", action="store_true", help="add the largest sizes")
    parser.add_argument("--only", nargs="+", metavar="WORD", help="only rows that contain a word")
    parser.add_argument("--folder", type=Path, help="keep papers and ecosystems for the next time")
    parser.add_argument("--write", action="store_true", help=f"put the table into {PAGE.name}")
    parser.add_argument("--json", type=Path, default=Path(__file__).with_suffix(".json"))
    args = parser.parse_args()
    figures: dict[str, Any] = json.loads(args.json.read_text("utf-8")) if args.json.exists() else {}
    with tempfile.TemporaryDirectory() as passing:
        place = Place(args.folder or Path(passing))
        place.path.mkdir(exist_ok=True)
        for growth in ROWS:
            if args.only and not any(word in growth.what for word in args.only):
                continue
            sizes, pairs = growth.sizes + (growth.more if args.full else ()), []
            for size in sizes:
                pairs.append(measured(growth.command(place, size)))
                print(
                    f"{growth.what:30} {size:>10,} {pairs[-1][0]:8.1f} s {pairs[-1][1]:8.0f} MB",
                    flush=True,
                )
            figures[growth.what] = [sizes, *zip(*pairs, strict=True)]
            args.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    rows = [table_row(what, *map(list, lists)) for what, lists in figures.items()]
    lines = [HEADS, ("---",) * len(HEADS), *rows]
    table = "".join(f"| {' | '.join(cells)} |\n" for cells in lines)
    print(table)
    if args.write:
        put(PAGE, NAME, f"{head()}\n\n{table}")


if __name__ == "__main__":
    main()
