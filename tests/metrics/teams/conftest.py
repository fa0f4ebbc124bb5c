"""Runs of busy people, with and without queues, that several files of tests read."""

import os

import pytest

from virsci_society import load_scenario, run_scenario
from virsci_society.society.results.run import Run

KEYS = {
    "until": "200d",
    "metrics": ["concurrency"],
    "founding.teams_per_year": 2.5,
    "population.ecosystem.scientists": 24,
    "population.ecosystem.papers": 200,
    "time.switching": "2h",
}


@pytest.fixture(scope="session")
def busy_and_free_runs(tmp_path_factory):
    """A society of busy people who lose two hours with every turn, with and without queues.

    Run once for all workers, without measures and page; who needs these makes them.
    """
    from filelock import FileLock

    place = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        place = place.parent
    with FileLock(place / "busy.lock"), pytest.MonkeyPatch.context() as patch:
        patch.setattr("virsci_society.metrics.report.page.write_page", lambda *_: None)
        patch.setattr("virsci_society.scenarios.runs.run_folder.measure_all", lambda *_: {})
        for attention in ("on", "unlimited"):
            folder = place / "busy" / attention
            if not folder.is_dir():
                scenario = load_scenario("quickstart", **KEYS, attention=attention)
                run_scenario(scenario, folder)
    return {attention: Run.open(place / "busy" / attention) for attention in ("on", "unlimited")}
