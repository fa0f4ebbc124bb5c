"""Runs of busy people, with and without queues, that several files of tests read."""

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
    """Busy people who lose two hours with every turn, with and without queues, unmeasured."""
    place = tmp_path_factory.mktemp("busy")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("virsci_society.metrics.report.page.write_page", lambda *_: None)
        patch.setattr("virsci_society.scenarios.runs.run_folder.measure_all", lambda *_: {})
        for attention in ("on", "unlimited"):
            scenario = load_scenario("quickstart", **KEYS, attention=attention)
            run_scenario(scenario, place / attention)
    return {attention: Run.open(place / attention) for attention in ("on", "unlimited")}
