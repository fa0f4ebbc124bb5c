"""How near a plan comes to what a run takes, with rates learnt from its first 50 calls.

Five scenarios are run over HTTP against the fault server (tests/faultserver), whose scientists are
rule-based and no language model, three times as wordy as in a rehearsal, accept half as often and
have to be asked again one time in ten. The plan knows nothing of that but what the first 50 calls
show; then the same run is resumed to its end, and no call is made twice. The mark is 25 % in
calls and in tokens.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.faultserver import FaultServer, Plan
from virsci_society.scenarios.cli.checkup import run_probe_calls
from virsci_society.scenarios.config.schema import Scenario, load_scenario
from virsci_society.scenarios.planning.model_rates import rates_for
from virsci_society.scenarios.planning.plan import plan
from virsci_society.scenarios.runs.execute import run_scenario

MARK = 0.25
PROBED = 50
OTHERWISE = Plan(seed=11, wordy=3.0, accept=0.5, reask=0.1, latency=0.02)
"""How the server differs from a rehearsal."""
PEOPLE = {"population.ecosystem.scientists": 60, "population.ecosystem.papers": 600}
SCENARIOS: dict[str, tuple[str, dict[str, Any]]] = {
    "quickstart": ("quickstart", {}),
    "paper": (
        "virsci/paper",
        {"founding.count": 3, "protocol.turns": 3, "protocol.topic.leaving": "off"},
    ),
    "field": ("community/closed", {**PEOPLE, "until": "40w", "founding.teams_per_year": 0.5}),
    "adaptive": (
        "quickstart",
        {
            "until": "40w",
            "founding.teams_per_year": 0.5,
            "protocol.discussion.pacing": "adaptive",
            "protocol.discussion.max_turns": 4,
            "protocol.abstract.self_review": "on",
            "protocol.abstract.threshold": 40,
        },
    ),
    "one by one": (
        "community/closed",
        {
            **PEOPLE,
            "until": "1y",
            "founding.teams_per_year": 0.4,
            "protocol.inviting": "one_by_one",
            "protocol.team_size": 5,
            "protocol.turns": 1,
            "protocol.discussion.knowledge": "off",
            "time.publication_delay": "14d",
        },
    ),
}
"""Small versions of the library's scenarios: by name, and what differs."""


def scenario_of(name: str, url: str, seed: int = 1) -> Scenario:
    """One of the five, spoken by the server."""
    library, keys = SCENARIOS[name]
    model = {"backend.use": "openai", "backend.model": "test", "backend.api_base": url}
    return load_scenario(library, **keys, **model, **{"backend.in_flight": 8, "seed": seed})


def measure(name: str, server: FaultServer, folder: Path, seed: int = 1) -> dict[str, Any]:
    """One row: planned after 50 calls, and the truth."""
    server.reset()
    scenario = scenario_of(name, server.url, seed)
    record = run_probe_calls(scenario, PROBED, folder)
    planned = plan(scenario, rates_for(scenario, record), record).to_data()
    bare = scenario.model_copy(update={"metrics": ()})
    began = time.monotonic()
    run_scenario(bare, folder)
    seconds = time.monotonic() - began
    counts = server.counts()
    if counts["repeated_answers"]:
        raise SystemExit(f"{name}: {counts['repeated_answers']} calls were made twice")
    truth = {
        "calls": counts["answers"],
        "tokens": counts["prompt_tokens"] + counts["completion_tokens"],
    }
    row: dict[str, Any] = {"scenario": name, "seed": seed, "learnt_from": len(record.known)}
    for figure, true in truth.items():
        row[figure] = {**planned[figure], "truth": true}
        row[figure]["error"] = round(planned[figure]["likely"] / true - 1, 4)
    return row | {"seconds": {**planned["seconds"], "truth_after_probe": round(seconds, 2)}}


def show(row: dict[str, Any]) -> None:
    """Two lines of the table."""
    for figure in ("calls", "tokens"):
        told = row[figure]
        cells = [f"{told[end]:>11,}" for end in ("low", "likely", "high", "truth")]
        late = "" if abs(told["error"]) <= MARK else "  short of its mark"
        print(f"{row['scenario']:>11} {figure:>7} {' '.join(cells)} {told['error']:>+8.1%}{late}")
    sys.stdout.flush()


def main() -> None:
    """The five scenarios, one after another."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--scenario", nargs="*", default=list(SCENARIOS), choices=list(SCENARIOS))
    parser.add_argument("--json", type=Path, default=Path(__file__).with_suffix(".json"))
    args = parser.parse_args()
    ends = " ".join(f"{end:>11}" for end in ("low", "likely", "high", "truth"))
    print(f"{'scenario':>11} {'figure':>7} {ends} {'error':>8}")
    rows = []
    with FaultServer(OTHERWISE) as server, tempfile.TemporaryDirectory() as folder:
        for number, name in enumerate(args.scenario):
            rows.append(measure(name, server, Path(folder) / str(number), args.seed))
            show(rows[-1])
    args.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
