"""The measures of a small simulated run: what must hold whatever happened in it."""

import pytest

from virsci_society.metrics.novelty.novelty import COLUMNS
from virsci_society.metrics.registry import METRICS, compute_metric
from virsci_society.metrics.summary import summarise_run
from virsci_society.society.results.run import Run


@pytest.fixture(scope="module")
def simulated(tmp_path_factory):
    """The first scenario of the library, shortened; its folder opened again."""
    scenarios = pytest.importorskip("virsci_society")
    scenario = scenarios.load_scenario("quickstart", until="220d")
    return Run.open(scenarios.run_scenario(scenario, tmp_path_factory.mktemp("run") / "out"))


def test_measures_and_summary_agree_with_the_tables(simulated):
    told = summarise_run(simulated)
    assert told["calls"]["total"] == len(simulated.table("calls"))
    assert sum(told["calls"]["by_act"].values()) == told["calls"]["total"]
    assert told["teams"]["founded"] == len(simulated.table("teams"))
    assert told["papers"] == told["teams"]["published"]
    for name in COLUMNS:
        if told[name] is not None:
            assert len(told[name]["per_paper"]) == told["papers"]
            assert told[name]["mean"] > 0


@pytest.mark.sweep(3)
@pytest.mark.parametrize("name", [name for name in METRICS if name != "novelty"])
def test_written_measures_are_those_computed_now(name, simulated):
    written, now = compute_metric(simulated, name), METRICS[name](simulated)
    assert written.astype(str).equals(now.astype(str))
