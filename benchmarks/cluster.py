"""How much sooner a study ends with two workers than with one, where its runs wait for a model.

Prints the wall time of the same study on a local cluster of one worker and of two, against the
fault server at 200 ms a call (rule-based words behind HTTP, no language model), one call at a time
in each run so that waiting is nearly all there is, and the speed-up.
The mark is 1.7. Digests of all runs must be the same. Start-up of scheduler and workers counts.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.faultserver import FaultServer, Plan
from virsci_society.scenarios.study.dask_engine import run_on_cluster
from virsci_society.scenarios.study.design import read_study
from virsci_society.scenarios.study.lock import open_folder
from virsci_society.society.ecosystem.synthetic.synthetic import Synthetic

MARK = 1.7
KEY = "FAULTSERVER_KEY"
SCENARIO = """\
name: two teams
until: 26w
population: {{ecosystem: {{use: folder, path: {ecosystem}}}}}
founding: {{use: once, count: 2, every: 7d}}
protocol: {{use: virsci, team_size: 3, turns: 2}}
time: {{homework: 1d, meeting_notice: 3d, reply_window: 3d, publication_delay: 10d}}
metrics: [teams]
backend: {{use: openai, model: test, key: {key}, api_base: {url}, in_flight: 1}}
"""
STUDY = """\
study: Waiting
base: {base}
arms: {{list: [{{name: one}}]}}
replicates: {runs}
measures: [papers]
"""


def prepare(place: Path, url: str, runs: int) -> Path:
    """Write scenario and study; returns the file of the study."""
    Synthetic(scientists=20, papers=150, fields=2, seed=1).generate(5).save(place / "ecosystem")
    told = SCENARIO.format(ecosystem=place / "ecosystem", key=KEY, url=url)
    (place / "base.yaml").write_text(told, encoding="utf-8")
    study = place / "waiting.yaml"
    study.write_text(STUDY.format(base=place / "base.yaml", runs=runs), encoding="utf-8")
    return study


def measure(study: Path, workers: int, server: FaultServer) -> dict[str, Any]:
    """One row: the whole study by so many workers."""
    design = read_study(study)
    folder = study.parent / f"by-{workers}"
    open_folder(design, folder)
    server.reset()
    start = time.perf_counter()
    ends = run_on_cluster(folder, range(design.runs), local_cluster=workers)
    wall = time.perf_counter() - start
    failed = [end for end in ends if end.state != "done"]
    if failed:
        raise SystemExit(f"not done: {failed}")
    return {
        "workers": workers,
        "runs": len(ends),
        "requests": server.counts()["requests"],
        "seconds": round(wall, 2),
        "digests": [end.digest for end in ends],
    }


def main() -> None:
    """One worker, then two."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=4)
    parser.add_argument("--latency", type=float, default=0.2)
    parser.add_argument("--json", type=Path, default=Path(__file__).with_suffix(".json"))
    args = parser.parse_args()
    os.environ.setdefault(KEY, "key-of-the-benchmark")
    with TemporaryDirectory() as place, FaultServer(Plan(latency=args.latency)) as server:
        study = prepare(Path(place), server.url, args.runs)
        one, two = (measure(study, workers, server) for workers in (1, 2))
    same = one.pop("digests") == two.pop("digests")
    for row in (one, two):
        print("  ".join(f"{name} {value}" for name, value in row.items()), flush=True)
    speed_up = round(one["seconds"] / two["seconds"], 2)
    print(f"speed-up {speed_up} (mark {MARK}); digests are {'equal' if same else 'NOT EQUAL'}")
    if speed_up < MARK:
        print(f"short of its mark: cluster: {speed_up}, mark {MARK}")
    told = {"latency": args.latency, "rows": [one, two], "speed_up": speed_up, "equal": same}
    args.json.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
