"""What a society takes as its population grows: 10^3, 10^4, 10^5 and 10^6 people (H6, H7, H8).

Per size an ecosystem of copies of a small invented one is made and read back. Then, each in a
process of its own: people in columns beside Mesa agents and the network beside networkx (seconds,
bytes a person); collaborators drawn while the network grows, beside the dense row of the definition
and networkx (draws a second of CPU); a search (milliseconds of CPU); and a simulated month of 1,000
teams at once, or as many as there are people for, on offline scientists. Last the growth exponents:
slopes of figures over sizes, both as logarithms; 1 is in proportion, 0 not at all.

A million people take half an hour, 16 GB of memory and, in ``--folder``, 2 GB of disk.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import mesa
import numpy as np

from benchmarks.critical_path import CriticalPath
from benchmarks.large_ecosystem import large_ecosystem
from virsci_society.agents.mesa import Scientist
from virsci_society.agents.offline.backend import Offline
from virsci_society.protocols.policies.coauthorship import Coauthorship, Share
from virsci_society.protocols.policies.uniform import Uniform
from virsci_society.protocols.virsci.protocol import VirSci
from virsci_society.society.ecosystem.ecosystem import Ecosystem
from virsci_society.society.formation.founding import Once
from virsci_society.society.kernel.durations import Gamma, Times
from virsci_society.society.model import Society
from virsci_society.society.population.network import CoauthorNetwork
from virsci_society.society.population.population import Population

SIZES = (1_000, 10_000, 100_000, 1_000_000)
SHORT_SIZES = (1_000, 10_000)
POLICIES = {
    "e = 1": Coauthorship(),
    "share 0.2": Coauthorship(explore=Share()),
    "uniform": Uniform(),
}
MONTH = 30.0
TIMES = Times(reply_window=1.0, meeting_notice=1.0, homework=Gamma(mean=0.5), publication_delay=7.0)
GROWTH = (
    *("generate s", "population s", "network s", "society s", "search ms", "people search ms"),
    *("draws/s e = 1", "draws/s share 0.2", "dense rows/s", "month s", "month peak MB"),
)


def held() -> int:
    """Bytes of memory of this process that no file stands behind."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("RssAnon"):
            return 1024 * int(line.split()[1])
    return 0


def peak() -> float:
    """Most megabytes that this process has held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def made(make: Callable[[], Any]) -> tuple[Any, float, int]:
    """What is made, the seconds it took and the bytes it holds."""
    before, start = held(), time.perf_counter()
    thing = make()
    return thing, time.perf_counter() - start, held() - before


def rate(act: Callable[[], Any], count: int) -> float:
    """How often a second of CPU, when ``act`` does it so often."""
    start = time.process_time()
    act()
    return count / (time.process_time() - start)


def generate(size: int, folder: Path, _: int) -> dict[str, Any]:
    """An ecosystem of so many people, into a folder; nothing where it is there already."""
    if (folder / "manifest.json").exists():
        return {}
    start = time.perf_counter()
    large_ecosystem(size).save(folder)
    return {"generate s": time.perf_counter() - start, "generate peak MB": peak()}


def people(size: int, folder: Path, _: int) -> dict[str, Any]:
    """The population beside Mesa agents, the network beside networkx."""
    import networkx

    ecosystem = Ecosystem.load(folder)
    network, network_s, _ = made(lambda: CoauthorNetwork(ecosystem.coauthors, lambda: 0.0))
    arrays = (network._starts, network._partners, network._totals)

    def population() -> Population:
        """With what finding names and profiles needs."""
        some = Population(ecosystem.profiles, mesa.Model(), network, lambda: 0.0)
        for row in (0, len(some) // 2, len(some) - 1):
            some.profile(some.rows[some.names[row]], 1.0)
        return some

    crowd, crowd_s, crowd_bytes = made(population)
    model, names = mesa.Model(), ecosystem.profiles.names
    agents, agents_s, agents_bytes = made(
        lambda: [Scientist(model, name, row, lambda _: None) for row, name in enumerate(names)]
    )
    del agents
    graph, graph_s, graph_bytes = made(
        lambda: networkx.from_scipy_sparse_array(ecosystem.coauthors)
    )
    return {
        "ties a person": ecosystem.coauthors.nnz / size,
        "population s": crowd_s,
        "population bytes a person": crowd_bytes / len(crowd),
        "columns bytes a person": ecosystem.profiles.table.nbytes / size,
        "Mesa s": agents_s,
        "Mesa bytes a person": agents_bytes / size,
        "network s": network_s,
        "network MB": sum(array.nbytes for array in arrays) / 1e6,
        "networkx s": graph_s,
        "networkx MB": graph_bytes / 1e6,
        "networkx draws/s": _networkx_draws(graph),
    }


def draws(size: int, folder: Path, _: int) -> dict[str, Any]:
    """Draws of collaborators on a network to which every tenth has added ties."""
    rng = np.random.default_rng(1)
    day = [0.0]
    network = CoauthorNetwork(Ecosystem.load(folder).coauthors, lambda: day[0])
    papers = rng.integers(size, size=(size // 40, 4)).tolist()

    def grow() -> None:
        for number, authors in enumerate(papers):
            day[0] = number / len(papers)
            network.record_paper(list(dict.fromkeys(authors)))

    told = {"new ties/s": rate(grow, 6 * len(papers))}
    day[0] = 2.0
    some = rng.integers(size, size=200_000).tolist()
    for name, policy in POLICIES.items():

        def singly(policy: Any = policy) -> None:
            draw, nobody = policy.draw, frozenset[int]()
            for leader in some:
                draw(leader, nobody, network, rng)

        told[f"draws/s {name}"] = max(rate(singly, len(some)) for _ in range(3))
    count = max(3, min(2_000, 3_000_000 // size))
    told["dense rows/s"] = rate(lambda: [_dense(network, one, rng) for one in some[:count]], count)
    return told


def month(size: int, folder: Path, teams: int) -> dict[str, Any]:
    """A society from its start through a month, and how long searches take in it."""
    ecosystem, load_s, _ = made(lambda: Ecosystem.load(folder))
    teams = min(teams, size // 4)
    society, society_s, _ = made(
        lambda: Society(
            ecosystem,
            protocol=VirSci(inviting="at_once", turns=2, selection=POLICIES["share 0.2"]),
            founding=Once(count=teams),
            times=TIMES,
            backend=Offline(),
            until=MONTH,
            seed=1,
        )
    )
    told = {"load s": load_s, "society s": society_s, **_searches(society)}
    start, cpu = time.perf_counter(), time.process_time()
    society.run_to_end()
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    calls = len(society.log.rows["calls"])
    return told | {
        "teams": teams,
        "month s": seconds,
        "month CPU s": cpu,
        "days/s": MONTH / seconds,
        "calls": calls,
        "chain": CriticalPath(society.log.rows, dict.fromkeys(_ids(society), 1.0)).length,
        "calls/s": calls / seconds,
        "CPU ms a call": 1000 * cpu / calls,
        "papers": len(society.log.rows["papers"]),
        "agents": len(society.agents),
        "month peak MB": peak(),
        "told": [society.literature.facts, society.knowledge.facts],
    }


def _ids(society: Society) -> list[str]:
    """The ids of all calls."""
    return [row[0] for row in society.log.rows["calls"]]


def _searches(society: Society, count: int = 300) -> dict[str, float]:
    """Milliseconds of a search in the literature and among the people, each alone."""
    rows = np.random.default_rng(2).integers(len(society.population), size=count).tolist()
    texts = [", ".join(society.population.profile(row, 0.0).interests) for row in rows]
    papers, version = len(society.literature), society.knowledge.version()
    searches: dict[str, Callable[[str], Any]] = {
        "search ms": lambda text: society.literature.search(text, 8, papers),
        "people search ms": lambda text: society.knowledge.search(text, 3, version),
    }
    return {
        name: 1000 / rate(lambda search=search: [search(text) for text in texts], count)  # type: ignore[misc]
        for name, search in searches.items()
    }


def _dense(network: CoauthorNetwork, leader: int, rng: np.random.Generator) -> int:
    """A draw as the definition is written: a row with an entry for everybody."""
    row = np.ones(network.size)
    partners, counts = network.coauthors(leader)
    row[partners] += counts
    return int(rng.choice(network.size, p=row / row.sum()))


def _networkx_draws(graph: Any, count: int = 20_000) -> float:
    """The mixture of sparse row and uniform part, with the row of a networkx graph."""
    rng = np.random.default_rng(3)
    n = graph.number_of_nodes()
    leaders = rng.integers(n, size=count).tolist()

    def draw() -> None:
        for leader in leaders:
            partners = graph[leader]
            known = sum(tie["weight"] for tie in partners.values())
            if rng.random() * (known + n) >= known:
                rng.integers(n)
                continue
            place = rng.random() * known
            for tie in partners.values():
                place -= tie["weight"]
                if place < 0:
                    break

    return rate(draw, count)


PARTS = {"generate": generate, "people": people, "draws": draws, "month": month}


def measured(part: str, size: int, folder: Path, teams: int) -> dict[str, Any]:
    """The figures of one part, from a process of its own, so that its memory is its own."""
    words = [sys.executable, __file__, "--part", part, "--sizes", str(size), "--teams", str(teams)]
    done = subprocess.run(
        [*words, "--folder", str(folder)], check=True, stdout=subprocess.PIPE, text=True
    )
    figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return figures


def slopes(rows: list[dict[str, Any]]) -> dict[str, float]:
    """How each figure grows with the number of people: the exponent of a power."""
    found = {}
    for name in GROWTH:
        known = [(row["people"], row[name]) for row in rows if row.get(name)]
        if len(known) > 1:
            sizes, figures = np.log(np.array(known, dtype=float)).T
            found[name] = round(float(np.polyfit(sizes, figures, 1)[0]), 2)
    return found


def report(rows: list[dict[str, Any]]) -> None:
    """The table, a figure a line and a size a column; exponents."""
    for name in dict.fromkeys(name for row in rows for name in row if name != "told"):
        cells = " ".join(f"{_short(row.get(name)):>12}" for row in rows)
        print(f"{name:>27} {cells}")
    print("growth exponents:", ", ".join(f"{name} {slope}" for name, slope in slopes(rows).items()))


def _short(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 100 or isinstance(value, int) else f"{value:.3g}"


def main() -> None:
    """Every part at every size."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--full", action="store_true", help="up to 10^6 people, not 10^4")
    parser.add_argument("--sizes", type=int, nargs="*", default=None)
    parser.add_argument("--teams", type=int, help="at once (250; with --full 1,000)")
    parser.add_argument("--folder", type=Path, help="keeps the ecosystems for the next time")
    parser.add_argument("--part", choices=list(PARTS), help=argparse.SUPPRESS)
    parser.add_argument("--json", type=Path, default=Path(__file__).with_suffix(".json"))
    args = parser.parse_args()
    args.teams = args.teams or (1_000 if args.full else 250)
    if args.part:
        print(json.dumps(PARTS[args.part](args.sizes[0], args.folder, args.teams)))
        return
    rows = []
    with tempfile.TemporaryDirectory() as passing:
        for size in args.sizes or (SIZES if args.full else SHORT_SIZES):
            row: dict[str, Any] = {"people": size}
            for part in PARTS:
                row |= measured(part, size, (args.folder or Path(passing)) / str(size), args.teams)
                print(f"{size:,}: {part} done", file=sys.stderr, flush=True)
            rows.append(row)
    report(rows)
    told = {"rows": rows, "exponents": slopes(rows)}
    args.json.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
